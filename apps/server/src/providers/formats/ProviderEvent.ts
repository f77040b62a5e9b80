import { createHash } from "node:crypto"

/** Providers whose calls can be read. */
export const PROVIDERS = ["ses", "postmark", "mailgun", "sendgrid", "sparkpost", "resend"] as const
export type Provider = (typeof PROVIDERS)[number]

export type Kind = "delivered" | "deferred" | "bounced" | "complained" | "opened" | "clicked"

/** An event of any provider about one recipient. Fields that a provider omits are undefined. */
export interface ProviderEvent {
  readonly kind: Kind
  /** Equal in every call that reports this event. */
  readonly id: string
  /** When it happened, as the provider says, in milliseconds. */
  readonly at?: number | undefined
  /** Our Message-ID, where the provider reports it. */
  readonly messageId?: string | undefined
  /** Our return path, whole or its local part, where the provider reports it: it names the account. */
  readonly returnPath?: string | undefined
  /** The provider's own id of the message. */
  readonly ref?: string | undefined
  readonly recipient?: string | undefined
  /** For a bounce: whether the provider says that the address does not work. */
  readonly isHard?: boolean | undefined
  readonly code?: number | undefined
  readonly status?: string | undefined
  readonly text?: string | undefined
  readonly mx?: string | undefined
  readonly feedback?: string | undefined
  readonly url?: string | undefined
  readonly userAgent?: string | undefined
  readonly ip?: string | undefined
}

/** Reads one object of a call: its events, `ignored` for one of a kind that says nothing, or undefined if it is none. */
export type Read = (value: unknown) => ReadonlyArray<ProviderEvent> | "ignored" | undefined

const MAX_TEXT_CHARS = 2_048

export type Fields = Readonly<Record<string, unknown>>

/** The fields of an object; none of anything else. */
export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A text, shortened and without NUL, which Postgres cannot store. */
export const text = (value: unknown): string | undefined => {
  if (typeof value !== "string" || value === "") return undefined
  const short = value.length > MAX_TEXT_CHARS ? value.slice(0, MAX_TEXT_CHARS) : value
  return short.includes("\0") ? short.replaceAll("\0", "\ufffd") : short
}

export const number = (value: unknown): number | undefined => {
  const found = typeof value === "string" && value !== "" ? Number(value) : value
  return typeof found === "number" && Number.isFinite(found) ? found : undefined
}

/** Time in milliseconds of a text in ISO 8601. */
export const time = (value: unknown): number | undefined => {
  const millis = Date.parse(text(value) ?? "")
  return Number.isNaN(millis) ? undefined : millis
}

const SECOND_MS = 1_000

/** Time in milliseconds of seconds since 1970. */
export const seconds = (value: unknown): number | undefined => {
  const found = number(value)
  return found === undefined ? undefined : Math.round(found * SECOND_MS)
}

/** The value of a header in a list of names and values. */
export const header = (headers: unknown, name: string): string | undefined =>
  text(
    list(headers)
      .map(fields)
      .find((each) => text(each["name"])?.toLowerCase() === name)?.["value"],
  )

/** A status such as 5.1.1. */
export const status = (value: unknown): string | undefined =>
  /\b[245]\.\d{1,3}\.\d{1,3}\b/u.exec(text(value) ?? "")?.[0]

/** A code of SMTP at the beginning of a server's answer. */
export const code = (value: unknown): number | undefined => {
  const found = typeof value === "number" ? value : Number(/^\D{0,20}([245]\d\d)\b/u.exec(text(value) ?? "")?.[1] ?? 0)
  return found >= 200 && found < 600 ? found : undefined
}

/** A server's answer, without the kind of code that a report has in front of it, as in `smtp; 550 5.1.1 …`. */
export const answer = (value: unknown): string | undefined => text(text(value)?.replace(/^[\w-]{1,20};\s*/u, ""))

/** Longest id that is kept as it is; an entry of an index takes at most 2,704 bytes. */
const MAX_ID_CHARS = 400

/** The id of an event in a length that an index can hold, and without a space in front. */
export const idOf = (id: string): string =>
  id.length > MAX_ID_CHARS ? createHash("sha256").update(id).digest("base64url") : id.trimStart()

/** An address, without the name that may stand before it. */
export const addressOf = (value: unknown): string | undefined =>
  /<([^<>]+)>\s*$/u.exec(text(value) ?? "")?.[1] ?? text(value)

/** Subtypes of Amazon, which Resend has too: the address is on a list of the provider and was not tried. */
const SUPPRESSED: ReadonlySet<unknown> = new Set(
  "Suppressed OnAccountSuppressionList OnTenantSuppressionList EmailValidationSuppressed UnsubscribedRecipient".split(
    " ",
  ),
)
export const isSuppressed = (subtype: unknown): boolean => SUPPRESSED.has(subtype)

/** The provider's id of a message in its plain form: without angle brackets and host, in lower case. */
export const refOf = (value: unknown): string | undefined =>
  text(value)
    ?.replace(/^<|>$/gu, "")
    .replace(/@[^@]*$/u, "")
    .toLowerCase()
