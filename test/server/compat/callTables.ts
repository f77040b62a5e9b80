import { postmarkCalls } from "./postmarkCalls.ts"
import { CALLS } from "./resendCalls.ts"
import { sendgridCalls } from "./sendgridCalls.ts"

export const BEGIN_CALLS = "<!-- begin of the calls: npm run generate -->"
export const END_CALLS = "<!-- end of the calls -->"

interface Call {
  readonly call: string
  readonly gives: string
  readonly but?: string
}

/** Returns the tables of docs/compatibility.md: each call of the published packages, with what the tests saw it give. */
export const writtenCalls = (): string =>
  [table("resend", CALLS), table("postmark", postmarkCalls), table("@sendgrid/mail", sendgridCalls)].join("\n\n")

/** Calls with the same result share a row. */
const table = (name: string, calls: ReadonlyArray<Call>): string => {
  const rows = Map.groupBy(calls, ({ but, gives }) => (but === undefined ? gives : `${gives}: ${but}`))
  const lines = [...rows].map(([gives, alike]) => `| ${alike.map(({ call }) => `\`${call}\``).join(", ")} | ${gives} |`)
  return [`| call of \`${name}\` | gives |`, "|---|---|", ...lines].join("\n")
}
