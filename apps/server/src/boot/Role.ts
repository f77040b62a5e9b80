import * as Text from "@waybill/domain/values/Text"
import { Result, Schema } from "effect"

/** What a process does: answer requests, do what they set off, take mail in. */
export const ALL = ["api", "worker", "smtp"] as const
export type Role = (typeof ALL)[number]
export type Roles = ReadonlyArray<Role>

const isRole = (text: string): text is Role => ALL.some((role) => role === text)

/** Nobody starts a process that is to do nothing, so an empty list is refused like a wrong one. */
const parse: Text.Parse<Roles> = (text) => {
  const parts = text.split(",").map((part) => part.trim())
  return parts.every(isRole)
    ? Result.succeed(ALL.filter((role) => parts.includes(role)))
    : Result.fail(`is not a list of ${ALL.join(", ")}, separated by commas`)
}

export const FromText: Schema.Codec<Roles, string> = Text.parsed(
  Schema.Array(Schema.Literals(ALL)),
  { description: "Roles, separated by commas", examples: [ALL.join(",")] },
  parse,
  (roles) => roles.join(","),
)
