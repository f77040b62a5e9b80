import * as Template from "@waybill/domain/template/Template"
import { Schema } from "effect"
import { optional } from "../optional.ts"

/** An id or alias. */
export const Name = Schema.String.check(
  Schema.isPattern(/^[\w.-]{1,64}$/u, {
    message: "must be the id or alias of a template, not its name: letters, digits, _, . and -",
  }),
)
/** Characters of the name of a time zone. */
const MAX_ZONE_CHARS = 64

const NO_LOCALE = "must be a language, such as de or pt-BR"
export const Locale = Schema.String.check(
  Schema.isPattern(Template.LOCALE, { message: NO_LOCALE }).abort(),
  Schema.makeFilter((tag: string) => Template.isLocale(tag) || NO_LOCALE),
)

const isTimeZone = (name: string): boolean => {
  try {
    return name.length <= MAX_ZONE_CHARS && Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== ""
  } catch {
    return false
  }
}

export const TimeZone = Schema.String.check(
  Schema.makeFilter((name: string) => isTimeZone(name) || "must be a time zone, such as Europe/Berlin"),
)

/** Whether parsed JSON has no number beyond those of JavaScript, such as 1e999. */
const isFinite = (json: unknown): boolean => {
  if (typeof json === "number") return Number.isFinite(json)
  if (typeof json !== "object" || json === null) return true
  if (Array.isArray(json)) return json.every(isFinite)
  for (const name in json) if (!isFinite((json as Readonly<Record<string, unknown>>)[name])) return false
  return true
}

/** Bodies are JSON of a few levels before they are decoded. `Schema.Json` looks for rings too, which takes as long as a rendering. */
const Variable = Schema.declare((json): json is Schema.Json => isFinite(json), {
  message: "must be JSON with numbers below 1.8e308",
  toCodecJson: () => undefined,
})

export const Variables = Schema.Record(Schema.String, Variable).annotate({
  identifier: "TemplateVariables",
  examples: [{ name: "Ana", total: 12.5 }],
})

/** Which template a message is made of, and what is put into it. */
export const TemplateChoice = Schema.Struct({
  id: optional(Name, "Id of the template"),
  alias: optional(Name, "Alias of the template"),
  version: optional(Schema.Int.check(Schema.isGreaterThan(0)), "A published version; the current one by default"),
  locale: optional(Locale, "Language of the message: `pt-BR` falls back to `pt`, then to the template's own"),
  time_zone: optional(TimeZone, "Time zone of dates and times; UTC by default"),
  variables: optional(Variables, "Checked by the template's schema"),
})
  .annotate({ message: 'must be an object, such as {"alias": "receipt", "variables": {"name": "Ana"}}' })
  .check(
    Schema.makeFilter(
      ({ alias, id }) =>
        (alias === null) !== (id === null) || {
          path: alias === null ? ["id"] : ["alias"],
          issue: "or `alias` is required, and only one of them",
        },
    ),
  )
  .annotate({ identifier: "TemplateChoice" })
export type TemplateChoice = typeof TemplateChoice.Type
