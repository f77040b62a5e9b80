import * as Text from "@waybill/domain/values/Text"
import { Result, Schema } from "effect"

/** Roles of a process: serve the API, deliver mail and call webhooks, accept mail over SMTP. */
export const ALL = ["api", "worker", "smtp"] as const
export type Role = (typeof ALL)[number]
export type Roles = ReadonlyArray<Role>

const isRole = (text: string): text is Role => ALL.some((role) => role === text)

/** An empty list is refused, because a process without a role would do nothing. */
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
