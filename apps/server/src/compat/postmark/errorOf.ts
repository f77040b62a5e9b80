import * as Table from "@waybill/domain/values/Table"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { type Answer, causeOf } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Accepted from "./Accepted.ts"

/** Returns an error as Postmark answers it, under the number that its documentation gives the cause. */
export const errorOf = (refusal: Refusal, path = EMAILS): Answer => {
  const { ErrorCode, status } = knownOf(refusal, path)
  return { status, body: { ErrorCode, Message: messageOf(refusal) } }
}

interface Known {
  readonly status: number
  readonly ErrorCode: number
}

const knownOf = (refusal: Refusal, path: string): Known => {
  const { details = [], reason, status } = refusal
  if (details.some(({ path }) => /^(?:\[\d+\]\.)?MessageStream$/u.test(path))) return { status: 422, ErrorCode: 1235 }
  const cause = causeOf(refusal)
  if (cause instanceof EmailRefusal.DomainNotVerified && !EmailRefusal.isOfUnknownDomain(cause))
    return { status: 422, ErrorCode: 401 }
  const known = Table.at(BY_REASON, reason) ?? BY_STATUS[status]
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

const BY_STATUS: Readonly<Record<Refusal["status"], Known>> = {
  400: { status: 422, ErrorCode: INVALID_EMAIL },
  401: { status: 401, ErrorCode: 10 },
  403: { status: 401, ErrorCode: 10 },
  404: { status: 404, ErrorCode: 404 },
  422: { status: 422, ErrorCode: INVALID_EMAIL },
  429: { status: 429, ErrorCode: 429 },
  500: { status: 500, ErrorCode: 100 },
  503: { status: 503, ErrorCode: 100 },
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
  unsupported_media_type: { status: 422, ErrorCode: 409 },
}

/** The header in which Postmark's clients send a key. */
const KEY_HEADER = { name: "X-Postmark-Server-Token", value: "<key>" }

/** The message of an inactive recipient has Postmark's words, because its clients read the addresses from them. */
const messageOf = (refusal: Refusal): string => {
  const { details = [], message, reason } = refusal
  const cause = causeOf(refusal)
  if (cause instanceof EmailRefusal.AllRecipientsSuppressed) {
    const addresses = cause.recipients.map(({ address }) => address)
    return `You tried to send to recipients that have been marked as inactive. Found inactive addresses: ${addresses.join(", ")}. ${Accepted.INACTIVE}`
  }
  if (cause instanceof RequestRefusal.Unauthorized || cause instanceof RequestRefusal.ForeignKey)
    return cause.messageFor(KEY_HEADER)
  const [first] = details
  if (first === undefined) return message
  if (reason !== "validation_failed")
    return RequestRefusal.isInvalid(cause) || first.path === "" ? message : `\`${first.path}\`: ${message}`
  return Native.violationsOf(refusal)
}
