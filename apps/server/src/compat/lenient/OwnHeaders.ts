import * as Fields from "./Fields.ts"

/**
 * Headers that Waybill writes itself, and that programs set all the same, and Postmark's wish that the first of them stays.
 * They are dropped, as mail by SMTP has them dropped.
 */
const NAMES: ReadonlySet<string> = new Set([
  "message-id",
  "mime-version",
  "content-transfer-encoding",
  "date",
  "return-path",
  "x-pm-keepid",
])

export const isOwn = (name: string): boolean => NAMES.has(name.toLowerCase())

/** Returns headers without those, and without a `Reply-To` that repeats the addresses of the field for it. */
export const drop = (headers: Fields.Texts, replyTo: ReadonlyArray<string> = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(Fields.strings(headers)).filter(
      ([name, value]) =>
        !isOwn(name) && !(name.toLowerCase() === "reply-to" && addressesIn(value) === addressesIn(replyTo.join(" "))),
    ),
  )

/** The addresses of a header in one spelling. Their names may be encoded in one place and not in the other. */
const addressesIn = (text: string): string =>
  text
    .toLowerCase()
    .split(/[\s<>,;"]+/u)
    .filter((word) => word.includes("@"))
    .join(" ")
