import * as Table from "@waybill/domain/values/Table"
import type * as ApiError from "@waybill/api/errors/ApiError"
import type { Answer } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Accepted from "./Accepted.ts"

type Failure = ApiError.Body["error"]

/** Maximum number of violations that a message lists, because Postmark's errors have no other place for them. */
const MAX_SHOWN = 20

/** Returns an error as Postmark answers it, under the number that its documentation gives the cause. */
export const errorOf = (_: number, error: Failure, path = EMAILS): Answer => {
  const { ErrorCode, status } = knownOf(error, path)
  return { status, body: { ErrorCode, Message: messageOf(error) } }
}

interface Known {
  readonly status: number
  readonly ErrorCode: number
}

const knownOf = (error: Failure, path: string): Known => {
  const { code, details, message, reason } = error
  if (details.some(({ path }) => /^(?:\[\d+\]\.)?MessageStream$/u.test(path))) return { status: 422, ErrorCode: 1235 }
  if (reason === "domain_not_verified" && !message.includes("is not a domain of this account"))
    return { status: 422, ErrorCode: 401 }
  const known = Table.at(BY_REASON, reason) ?? BY_CODE[code]
  if (known.ErrorCode !== INVALID_EMAIL || path.startsWith(EMAILS)) return known
  return { ...known, ErrorCode: INVALID.find(([begin]) => path.startsWith(begin))?.[1] ?? INVALID_FIELD }
}

const EMAILS = "/email"
/** The code that clients show as the refusal of an email. */
const INVALID_EMAIL = 300
const INVALID_FIELD = 403
const INVALID = [
  ["/bounces", 408],
  ["/messages", 700],
] as const

const BY_CODE: { readonly [C in Failure["code"]]: Known } = {
  invalid_request: { status: 422, ErrorCode: INVALID_EMAIL },
  unauthorized: { status: 401, ErrorCode: 10 },
  forbidden: { status: 401, ErrorCode: 10 },
  not_found: { status: 404, ErrorCode: 404 },
  unprocessable: { status: 422, ErrorCode: INVALID_EMAIL },
  rate_limited: { status: 429, ErrorCode: 429 },
  internal_error: { status: 500, ErrorCode: 100 },
}

const BY_REASON: Readonly<Record<string, Known>> = {
  all_recipients_suppressed: { status: 422, ErrorCode: 406 },
  bounce_not_found: { status: 422, ErrorCode: 407 },
  domain_not_allowed: { status: 422, ErrorCode: 400 },
  domain_not_verified: { status: 422, ErrorCode: 400 },
  email_not_found: { status: 422, ErrorCode: 701 },
  inbound_not_blocked: { status: 422, ErrorCode: 702 },
  inbound_not_found: { status: 422, ErrorCode: 701 },
  malformed_id: { status: 422, ErrorCode: 701 },
  malformed_json: { status: 422, ErrorCode: 402 },
  monthly_quota: { status: 422, ErrorCode: 405 },
  overloaded: { status: 503, ErrorCode: 100 },
  payload_too_large: { status: 413, ErrorCode: INVALID_EMAIL },
  template_alias_taken: { status: 422, ErrorCode: 1122 },
  template_archived: { status: 422, ErrorCode: 1101 },
  template_invalid: { status: 422, ErrorCode: 1122 },
  template_not_found: { status: 422, ErrorCode: 1101 },
  template_not_published: { status: 422, ErrorCode: 1101 },
  template_not_rendered: { status: 422, ErrorCode: 1122 },
  too_many_templates: { status: 422, ErrorCode: 1105 },
  stream_not_found: { status: 422, ErrorCode: 1226 },
  too_many_messages: { status: 422, ErrorCode: 410 },
  unavailable: { status: 503, ErrorCode: 100 },
  unsupported_media_type: { status: 422, ErrorCode: 409 },
}

/** The message of an inactive recipient has Postmark's words, because its clients read the addresses from them. */
const messageOf = (error: Failure): string => {
  const { details, message, reason } = error
  if (reason === "all_recipients_suppressed") {
    const addresses = details.map((detail) => detail.message.split(" ", 1)[0])
    return `You tried to send to recipients that have been marked as inactive. Found inactive addresses: ${addresses.join(", ")}. ${Accepted.INACTIVE}`
  }
  if (reason === "api_key_missing" || reason === "api_key_invalid")
    return message
      .replace("Authorization: Bearer <key>", "X-Postmark-Server-Token: <key>")
      .replace("The Authorization header", "The X-Postmark-Server-Token header")
  if (reason !== "validation_failed" || details.length === 0) return named(message, details[0]?.path ?? "")
  const shown = details
    .slice(0, MAX_SHOWN)
    .map((detail) => (detail.path === "" ? ofBody(detail.message) : `\`${detail.path}\` ${detail.message}`))
  const more = Native.violationsBeyond(MAX_SHOWN, error)
  return `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`
}

/** A wrong address is a sentence of its own. */
const ofBody = (message: string): string => (message.startsWith("Invalid ") ? message : `The body ${message}`)

/** Names the field that an error is about, if its words do not. */
const named = (message: string, field: string): string =>
  field === "" || message.includes(`\`${field}\``) ? message : `\`${field}\`: ${message}`
