import * as Reply from "../reply/Reply.ts"
import type { Stage } from "../reply/ReplyClass.ts"
import * as ProviderRules from "./ProviderRules.ts"

/** Meaning of an error: a reply of an SMTP server if there is one, else a rule for providers. */
export type ProviderError =
  | { readonly _tag: "Reply"; readonly reply: Reply.Reply }
  | {
      readonly _tag: "Rule"
      readonly rule: ProviderRules.Rule
      readonly text: string
      readonly retry_after_ms: number | null
    }

/** Longest pause that a provider may ask for. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1_000

/** Reads an error as nodemailer, its transports, and the clients of providers write it. */
export const read = (cause: unknown): ProviderError => {
  const error = fieldsOf(cause)
  const code = numberOf(error["responseCode"])
  if (code !== undefined && code >= 400 && code < 600) {
    return { _tag: "Reply", reply: replyOf(code, textOf(error["response"]) ?? messageOf(error), stageOf(error)) }
  }
  const status = statusOf(error)
  const text = messageOf(error)
  const names = [error["name"], error["code"], error["Code"]].flatMap((name) => textOf(name) ?? [])
  const matches = (rule: ProviderRules.Rule): boolean =>
    (rule.name === undefined || names.some((name) => rule.name?.test(name))) &&
    (rule.status === undefined || String(status ?? "").startsWith(rule.status)) &&
    (rule.text === undefined || rule.text.test(text))
  return {
    _tag: "Rule",
    rule: ProviderRules.RULES.find(matches) ?? ProviderRules.FALLBACK,
    text,
    retry_after_ms: retryAfterOf(error),
  }
}

/** Returns the reply of an SMTP server, whose text begins with its code or not. */
export const replyOf = (code: number, text: string, stage: Stage): Reply.Reply =>
  Reply.parse(text.startsWith(String(code)) ? text : `${code} ${text}`, stage) ?? {
    code,
    enhancedCode: undefined,
    text,
    stage,
  }

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

/** Returns the beginning of a text, as much as the rules for replies read. A provider may answer with a whole page. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, Reply.REPLY_TEXT_LIMIT) : undefined

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === "string" ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) ? number : undefined
}

const messageOf = (error: Fields): string => textOf(error["message"]) ?? textOf(error["name"]) ?? "the transport failed"

/** Clients of providers write the HTTP status in one of these places. */
const statusOf = (error: Fields): number | undefined => {
  const response = fieldsOf(error["response"])
  const candidates = [
    fieldsOf(error["$metadata"])["httpStatusCode"],
    error["statusCode"],
    error["status"],
    response["status"],
    response["statusCode"],
    error["code"],
  ]
  return candidates.map(numberOf).find((status) => status !== undefined && status >= 400 && status < 600)
}

const retryAfterOf = (error: Fields): number | null => {
  const headers = fieldsOf(fieldsOf(error["response"])["headers"] ?? fieldsOf(error["$response"])["headers"])
  const seconds = numberOf(error["retryAfter"] ?? error["retryAfterSeconds"] ?? headers["retry-after"])
  return seconds === undefined || seconds < 0 ? null : Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS)
}

/** Command of an SMTP session at which nodemailer's error arose. */
const STAGES: ReadonlyArray<readonly [prefix: string, stage: Stage]> = [
  ["AUTH", "auth"],
  ["CONN", "greeting"],
  ["EHLO", "ehlo"],
  ["HELO", "ehlo"],
  ["STARTTLS", "starttls"],
  ["MAIL", "mail"],
  ["RCPT", "rcpt"],
]

const stageOf = (error: Fields): Stage => {
  const command = textOf(error["command"]) ?? ""
  return STAGES.find(([prefix]) => command.startsWith(prefix))?.[1] ?? "end_of_data"
}
