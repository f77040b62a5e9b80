import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Idempotency from "@waybill/api/schemas/Idempotency"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import * as Address from "@waybill/domain/values/Address"
import * as Header from "@waybill/domain/email/Header"
import type { Detail } from "@waybill/domain/values/Refusal"
import type { Field, SubmittedFile, SubmittedMailbox, SubmittedMessage } from "@waybill/mail/incoming/SubmittedMessage"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Effect, Result, Schema } from "effect"
import { isUtf8 } from "node:buffer"
import { createHash } from "node:crypto"

/** Sender and recipients of MAIL FROM and RCPT TO. */
export interface Envelope {
  readonly from: string
  readonly recipients: ReadonlyArray<Address.Address>
}

export interface ConvertedEmail {
  readonly message: EmailMessage
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined
}

/** Headers that are instructions to this service; recipients do not get them. */
const KEY = "x-idempotency-key"
/** Resend's and Postmark's names of the same instructions, so that programs written for them need no change. */
const RESEND_KEY = "resend-idempotency-key"
const POSTMARK_TAG = "x-pm-tag"
const TAG = "x-tag"
const SCHEDULED_AT = "x-scheduled-at"
const TRACK_OPENS = "x-track-opens"
const TRACK_CLICKS = "x-track-clicks"
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  KEY,
  RESEND_KEY,
  TAG,
  POSTMARK_TAG,
  SCHEDULED_AT,
  TRACK_OPENS,
  TRACK_CLICKS,
])

/**
 * Converts a submitted message to the form of `POST /email/send`, under the same rules. The envelope decides who
 * receives it; To and Cc only decide which of those recipients are shown.
 */
export const read = (
  submitted: SubmittedMessage,
  envelope: Envelope,
): Effect.Effect<ConvertedEmail, RequestRefusal.InvalidRequest> =>
  Effect.gen(function* () {
    const instructions = instructionsIn(submitted.headers)
    const shown = shownTo(submitted, envelope.recipients)
    // The API requires a recipient in `to`; a borrowed one is given back below.
    const lender = shown.to.length > 0 ? "to" : shown.bcc.length > 0 ? "bcc" : "cc"
    const custom = customHeaders(submitted.headers)
    const scheduled = instructions.get(SCHEDULED_AT) ?? []
    const keys = [...(instructions.get(KEY) ?? []), ...(instructions.get(RESEND_KEY) ?? [])]
    const problems = [
      ...(submitted.from.length > 1 ? [{ path: "from", message: "must be a single address" }] : []),
      ...(submitted.subjects > 1 ? [{ path: "subject", message: "must appear only once" }] : []),
      ...(scheduled.length > 1 ? [repeated("X-Scheduled-At")] : []),
      ...(keys.length > 1 ? [repeated("X-Idempotency-Key")] : []),
      ...((instructions.get(TRACK_OPENS)?.length ?? 0) > 1 ? [repeated("X-Track-Opens")] : []),
      ...((instructions.get(TRACK_CLICKS)?.length ?? 0) > 1 ? [repeated("X-Track-Clicks")] : []),
      ...custom.repeated.map(repeated),
    ]
    const written = {
      from: mailboxText(submitted.from[0] ?? { address: envelope.from, name: "" }),
      ...(lender === "to" ? shown : { ...shown, to: shown[lender].slice(0, 1), [lender]: shown[lender].slice(1) }),
      reply_to: submitted.replyTo.map(mailboxText),
      subject: submitted.subject,
      headers: custom.headers,
      html: submitted.html,
      text: submitted.text,
      tags: tagsIn(instructions),
      scheduled_at: scheduled[0] ?? null,
      ...trackingIn(instructions),
      attachments: submitted.files.map(attachment),
    }
    const decoded = Schema.decodeUnknownResult(EmailMessage, { errors: "all" })(written)
    const details = [
      ...problems,
      ...(Result.isFailure(decoded) ? Violations.fromIssue(decoded.failure.issue).details : []),
      ...keyProblems(keys),
    ]
    if (Result.isFailure(decoded) || details.length > 0)
      return yield* new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
    const message = decoded.success
    return {
      message: lender === "to" ? message : { ...message, to: [], [lender]: [...message.to, ...message[lender]] },
      idempotency: keys[0] === undefined ? undefined : { key: keys[0], fingerprint: fingerprint(written) },
    }
  })

const repeated = (name: string): Detail => ({ path: `headers.${name}`, message: "must appear only once" })

const isKey = Schema.is(Idempotency.headers["idempotency-key"].schema)

const keyProblems = (keys: ReadonlyArray<string>): ReadonlyArray<Detail> =>
  keys.every((key) => isKey(key))
    ? []
    : [{ path: "X-Idempotency-Key", message: `must be 1 to ${Idempotency.MAX_KEY_CHARS} printable characters` }]

const instructionsIn = (headers: ReadonlyArray<Field>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const instructions = new Map(Array.from(INSTRUCTIONS, (name) => [name, [] as Array<string>]))
  for (const { name, value } of headers) instructions.get(name.toLowerCase())?.push(value.trim())
  return instructions
}

/** Commas separate tags, except in Postmark's header, which has one. */
const tagsIn = (instructions: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> =>
  [...(instructions.get(TAG) ?? []).flatMap((value) => value.split(",")), ...(instructions.get(POSTMARK_TAG) ?? [])]
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "")

/** Omitted without such headers, so that the fingerprint of an idempotency key stays that of earlier releases. */
const trackingIn = (instructions: ReadonlyMap<string, ReadonlyArray<string>>) => {
  const [opens, clicks] = [TRACK_OPENS, TRACK_CLICKS].map((name) => instructions.get(name)?.[0]?.toLowerCase())
  // Any other value is refused by the schema.
  const flag = (word: string | undefined) => (word === "true" || word === "false" ? word === "true" : (word ?? null))
  return opens === undefined && clicks === undefined ? {} : { tracking: { opens: flag(opens), clicks: flag(clicks) } }
}

const customHeaders = (fields: ReadonlyArray<Field>) => {
  const headers: Record<string, string> = {}
  const seen = new Set<string>()
  const repeated: Array<string> = []
  for (const { name, value } of fields) {
    const lower = name.toLowerCase()
    if (!Header.isAllowed(lower) || INSTRUCTIONS.has(lower)) continue
    if (seen.has(lower)) repeated.push(name)
    seen.add(lower)
    headers[name] = lower === Header.SENDER ? oneMailbox(value) : lower === REFERENCES ? references(value) : value
  }
  return { headers, repeated }
}

const REFERENCES = "references"

/**
 * Shortens the ids of a long thread to what a header may hold. The first, which names the thread, and the last ones are
 * kept, as RFC 5537 §3.4.4 has it for news.
 */
const references = (value: string): string => {
  if (value.length <= Header.MAX_HEADER_VALUE_CHARS) return value
  const [first = "", ...later] = value.match(/<[^<>\s]+>/gu) ?? []
  let from = later.length
  let left = Header.MAX_HEADER_VALUE_CHARS - first.length
  for (; from > 0 && (later[from - 1] ?? "").length < left; from--) left -= (later[from - 1] ?? "").length + 1
  // Without a thread that fits, the value is refused with its limit.
  return left < 0 || from === later.length ? value : [first, ...later.slice(from)].join(" ")
}

const shownTo = (submitted: SubmittedMessage, recipients: ReadonlyArray<Address.Address>) => {
  const left = new Map(recipients.map((address) => [Address.keyOf(address), address]))
  const visibleTo = (mailboxes: ReadonlyArray<SubmittedMailbox>): ReadonlyArray<string> =>
    mailboxes.flatMap(({ address, name }) => {
      const parsed = Address.parseAddress(address)
      const recipient = Result.isSuccess(parsed) ? left.get(Address.keyOf(parsed.success)) : undefined
      if (recipient === undefined) return []
      left.delete(Address.keyOf(recipient))
      return [mailboxText({ address: recipient, name })]
    })
  const to = visibleTo(submitted.to)
  const cc = visibleTo(submitted.cc)
  return { to, cc, bcc: [...left.values()] }
}

/** A decoded name may contain characters that have to be quoted. */
const oneMailbox = (value: string): string => {
  const open = value.lastIndexOf("<")
  const close = value.lastIndexOf(">")
  const name = value.slice(0, Math.max(open, 0)).trim()
  if (open < 0 || close < open || name.startsWith('"')) return value
  return mailboxText({ address: value.slice(open + 1, close), name }) + value.slice(close + 1).trim()
}

/** Writes a mailbox so that the API's parser reads it back; any name is quoted. */
const mailboxText = ({ address, name }: SubmittedMailbox): string =>
  name === "" ? address : `"${name.replaceAll(/["\\]/gu, "\\$&")}" <${address}>`

const attachment = ({ bytes, contentId, contentType, filename }: SubmittedFile) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = contentType.startsWith("text/") && isUtf8(buffer)
  return {
    // Removes invisible direction marks, which mail programs insert and the API refuses.
    filename: HiddenCharacters.removeHidden(filename) || "attachment",
    content: buffer.toString("base64"),
    content_type: text ? `${contentType}; charset=utf-8` : contentType,
    content_id: contentId,
  }
}

/** Covers the decoded message, not its bytes, because a retry has another Date, Message-ID and boundaries. */
const fingerprint = (written: unknown): string => createHash("sha256").update(JSON.stringify(written)).digest("hex")
