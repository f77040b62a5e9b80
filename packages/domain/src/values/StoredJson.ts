import { Schema } from "effect"

// oxlint-disable-next-line no-control-regex
const REFUSED = /[\u0000\p{Surrogate}]/u

const isStorable = (value: Schema.Json): boolean => {
  if (typeof value === "string") return !REFUSED.test(value)
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([name, each]) => !REFUSED.test(name) && isStorable(each))
}

/** A JSON object in an event. Postgres' jsonb accepts neither NUL nor a lone surrogate, in names as in values. */
export const StoredJson = Schema.JsonObject.check(
  Schema.makeFilter((value: Schema.JsonObject) => isStorable(value) || "must not contain NUL or an unpaired surrogate"),
)
