import * as Sendable from "@waybill/api/schemas/send/Sendable"
import * as Checks from "@waybill/api/schemas/Checks"
import * as MessageHeaders from "@waybill/api/schemas/MessageHeaders"
import * as Idempotency from "@waybill/api/schemas/Idempotency"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import * as SteeringHeader from "@waybill/domain/account/SteeringHeader"
import * as Address from "@waybill/domain/values/Address"
import type { Command } from "@waybill/domain/email/Acceptance"
import type * as Content from "@waybill/domain/email/Content"
import * as Header from "@waybill/domain/email/Header"
import type { Detail } from "@waybill/domain/values/Refusal"
import type { Field, SubmittedFile, SubmittedMailbox, SubmittedMessage } from "@waybill/mail/report/SubmittedMessage"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Effect, Result, Schema } from "effect"
import { isUtf8 } from "node:buffer"
import { createHash } from "node:crypto"
import * as Draft from "../../accept/Draft.ts"
import * as ControlHeaders from "./ControlHeaders.ts"
import * as SteeringInstructions from "./SteeringInstructions.ts"
import * as TemplateHeaders from "../../templates/TemplateHeaders.ts"

/** Sender and recipients of MAIL FROM and RCPT TO. */
export interface Envelope {
  readonly from: string
  readonly recipients: ReadonlyArray<Address.Address>
}

type Form = Pick<Content.Attachment, "alternative" | "entity">

interface ConvertedEmail {
  readonly email: Draft.Outgoing
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined
}

/**
 * Converts a submitted message to the form of `POST /email/send`, under the same rules. The envelope decides who
 * receives it; To and Cc only decide which of those recipients are shown.
 */
export const read = (
  submitted: SubmittedMessage,
  envelope: Envelope,
): Effect.Effect<ConvertedEmail, RequestRefusal.InvalidRequest> =>
  Effect.gen(function* () {
    const control = ControlHeaders.read(submitted.headers)
    const shown = shownTo(submitted, envelope.recipients)
    // The API requires a recipient in `to`; a borrowed one is given back below.
    const lender = shown.to.length > 0 ? "to" : shown.bcc.length > 0 ? "bcc" : "cc"
    const templated = TemplateHeaders.read(submitted.headers)
    const pairs =
      submitted.headers.length > Header.MAX_HEADERS ? [] : submitted.headers.filter(SteeringInstructions.isPair)
    const fields = submitted.headers.filter(
      (field) => Header.isAllowed(field.name) && !ControlHeaders.isControl(field) && !pairs.includes(field),
    )
    const steering =
      fields.length > Header.MAX_HEADERS ? [] : fields.filter(({ name }) => SteeringHeader.isSteering(name))
    const dropped = steering.filter((field) => !isHeader(field))
    const custom = customHeaders(fields, dropped)
    const instructions = SteeringInstructions.read([...steering, ...pairs], control.tags)
    const problems = [
      ...(submitted.from.length > 1 ? [{ path: "from", message: "must be a single address" }] : []),
      ...(submitted.subjects > 1 ? [{ path: "subject", message: "must appear only once" }] : []),
      ...control.repeated.map(repeated),
      ...templated.problems,
      ...custom.problems,
    ]
    const written = {
      from: mailboxText(submitted.from[0] ?? { address: envelope.from, name: "" }),
      ...(lender === "to" ? shown : { ...shown, to: shown[lender].slice(0, 1), [lender]: shown[lender].slice(1) }),
      reply_to: submitted.replyTo.map(mailboxText),
      ...wordsOf(submitted, templated),
      headers: custom.headers,
      tags: [...control.tags, ...instructions.tags],
      ...(Object.keys(instructions.metadata).length === 0 ? {} : { metadata: instructions.metadata }),
      scheduled_at: control.scheduledAt ?? instructions.scheduledAt ?? null,
      ...trackingOf(control, instructions),
      ...control.replies,
      attachments: submitted.files.map(attachment),
    }
    const decoded = Schema.decodeUnknownResult(Sendable.Sendable, { errors: "all" })(written)
    const violations = Violations.join([
      Violations.of([], problems),
      Result.isFailure(decoded) ? Violations.fromIssue(decoded.failure.issue) : Violations.NONE,
      Violations.of([], keyProblems(control.key)),
    ])
    if (Result.isFailure(decoded) || !Violations.isNone(violations)) return yield* RequestRefusal.invalid(violations)
    const message = decoded.success
    // Some attachments are no files: other forms of the text, or the message itself.
    const forms = submitted.files.map(({ isAlternative, isEntity }): Form =>
      isAlternative ? { alternative: true } : isEntity ? { entity: true } : {},
    )
    const unread = [...dropped, ...pairs].filter(({ name }) => !instructions.read.has(name.toLowerCase()))
    const steered = { read: instructions.read, dropped: unread.map(({ name }) => Header.shownName(name)) }
    return {
      email: Draft.outgoing(
        lender === "to" ? message : { ...message, to: [], [lender]: [...message.to, ...message[lender]] },
        (draft) => finished(draft, steered, forms),
      ),
      idempotency: control.key === undefined ? undefined : { key: control.key, fingerprint: fingerprint(written) },
    }
  })

const finished = (draft: Draft.Draft, steering: Command["steering"], forms: ReadonlyArray<Form>): Draft.Draft => {
  const { content } = draft.command
  const attachments = content.attachments.map((file, nth) => ({ ...file, ...forms[nth] }))
  return { ...draft, command: { ...draft.command, steering, content: { ...content, attachments } } }
}

/** A mail program sends an empty text where a template has the words, and its subject is that of the template. */
const wordsOf = ({ html, subject, text }: SubmittedMessage, { template }: TemplateHeaders.TemplateHeaders) => {
  if (template === undefined) return { subject, html, text }
  const given = (words: string | null) => (words === null || words.trim() === "" ? null : words)
  return { subject: subject === "" ? null : subject, html: given(html), text: given(text), template }
}

const repeated = (name: string): Detail => ({ path: `headers.${name}`, message: "must appear only once" })

const isKey = Schema.is(Idempotency.headers["idempotency-key"].schema)

const keyProblems = (key: string | undefined): ReadonlyArray<Detail> =>
  key === undefined || isKey(key)
    ? []
    : [{ path: "X-Idempotency-Key", message: `must be 1 to ${Idempotency.MAX_KEY_CHARS} printable characters` }]

/** Whether a field can be a header of a message. One that steers a provider and cannot is dropped, not refused. */
const isHeader = ({ name, value }: Field): boolean => isHeaders({ [name]: value })
const isHeaders = Schema.is(MessageHeaders.MessageHeaders)

/** The message's own instructions come before those for other services. */
const trackingOf = (
  { tracking: { tracking } }: ControlHeaders.ControlHeaders,
  { clicks, opens }: SteeringInstructions.Instructions,
): ControlHeaders.ControlHeaders["tracking"] =>
  tracking === undefined && clicks === undefined && opens === undefined
    ? {}
    : { tracking: { opens: tracking?.opens ?? opens ?? null, clicks: tracking?.clicks ?? clicks ?? null } }

/** Counts the headers before it looks at each: a message may have tens of thousands. */
const customHeaders = (fields: ReadonlyArray<Field>, dropped: ReadonlyArray<Field>) => {
  if (fields.length > Header.MAX_HEADERS) {
    const message = Checks.counted(0, Header.MAX_HEADERS, "headers", fields.length)
    return { headers: {}, problems: [{ path: "headers", message }] }
  }
  const custom = fields.filter((field) => !dropped.includes(field))
  const fieldsByName = Map.groupBy(custom, ({ name }) => name.toLowerCase())
  const headers: Array<readonly [name: string, value: string]> = []
  const problems: Array<Detail> = []
  for (const [lower, fields] of fieldsByName) {
    const name = fields[0]?.name ?? lower
    const spellings = fields.length === 1 ? [name] : spellingsOf(name, fields.length)
    if (spellings.length < fields.length || (fields.length > 1 && MessageHeaders.SINGLE.has(lower)))
      problems.push(repeated(name))
    for (const [nth, { value }] of fields.entries())
      headers.push([
        spellings[nth] ?? name,
        lower === Header.SENDER ? oneMailbox(value) : lower === REFERENCES ? references(value) : value,
      ])
  }
  return { headers: Object.fromEntries(headers), problems }
}

/**
 * Returns spellings of a header's name in capitals and small letters, which mean the same (RFC 5322 §1.2.2), because a
 * message holds each spelling once. They are in the order of their bytes, in which the log keeps headers, and begin with
 * the given one if enough come after it. A name with few letters has few.
 */
const spellingsOf = (name: string, count: number): ReadonlyArray<string> => {
  const letters = name.replaceAll(/[^a-z]/giu, "")
  // A small letter is a 1, since its byte comes after that of the capital.
  const given = BigInt(`0b0${letters.replaceAll(/[A-Z]/gu, "0").replaceAll(/[a-z]/gu, "1")}`)
  const all = 1n << BigInt(letters.length)
  const wanted = BigInt(count)
  if (wanted > all) return []
  const first = given + wanted <= all ? given : all - wanted
  return Array.from({ length: count }, (_, nth) => {
    const bits = (first + BigInt(nth)).toString(2).padStart(letters.length, "0")
    let at = 0
    return name.replaceAll(/[a-z]/giu, (letter) => (bits[at++] === "1" ? letter.toLowerCase() : letter.toUpperCase()))
  })
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
      const parsed = Address.parseHeld(address)
      const recipient = Result.isSuccess(parsed) ? left.get(Address.keyOf(parsed.success)) : undefined
      if (recipient === undefined) return []
      left.delete(Address.keyOf(recipient))
      return [mailboxText({ address: recipient, name })]
    })
  const to = visibleTo(submitted.to)
  const cc = visibleTo(submitted.cc)
  return { to, cc, bcc: [...left.values()].map(Address.quote) }
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
  name === "" ? Address.quote(address) : `"${name.replaceAll(/["\\]/gu, "\\$&")}" <${Address.quote(address)}>`

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
