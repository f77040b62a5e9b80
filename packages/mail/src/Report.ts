import { Effect, Schema } from "effect"
import PostalMime, { type Attachment, type Email } from "postal-mime"
import { textFromHtml } from "./HtmlText.ts"
import * as ReportBounce from "./ReportBounce.ts"
import * as ReportComplaint from "./ReportComplaint.ts"
import { type Fact, type Parts, RECIPIENTS_LIMIT } from "./ReportFact.ts"
import * as ReportLegacy from "./ReportLegacy.ts"

/** What is read of a report. The facts stand before the returned message, so a longer one is cut, not refused. */
export const REPORT_SIZE_LIMIT = 2 * 1024 * 1024
/** The same for its lines, each of which costs the parser some 15 µs, however short it is. */
export const REPORT_LINES_LIMIT = 10_000
/** Lines that could open a part. Each part costs memory, whatever its size. */
export const REPORT_PARTS_LIMIT = 2000
export const REPORT_DEPTH_LIMIT = 20
export const REPORT_HEADERS_LIMIT = 256 * 1024

export class NotAReport extends Schema.TaggedError<NotAReport>()("NotAReport", {
  reason: Schema.Literals([
    "unreadable",
    "too_many_parts",
    "auto_reply",
    "read_receipt",
    "not_a_complaint",
    "unrecognized",
  ]),
}) {
  override get message() {
    return `The message is no report: ${this.reason}`
  }
}

/** The facts of a bounce, delay, receipt or complaint. */
export const parse = Effect.fnUntraced(function* (
  bytes: Uint8Array,
): Effect.fn.Return<ReadonlyArray<Fact>, NotAReport> {
  const read = shortened(bytes)
  if (possibleParts(read) > REPORT_PARTS_LIMIT) return yield* new NotAReport({ reason: "too_many_parts" })
  const email = yield* Effect.tryPromise({
    try: () =>
      PostalMime.parse(read, {
        // The returned message is evidence: its own parts must never be read as parts of the report.
        forceRfc822Attachments: true,
        maxNestingDepth: REPORT_DEPTH_LIMIT,
        maxHeadersSize: REPORT_HEADERS_LIMIT,
      }),
    catch: () => new NotAReport({ reason: "unreadable" }),
  })
  const parts: Parts = {
    email,
    text: email.text ?? (email.html === undefined ? "" : textFromHtml(email.html)),
    ofType: (pattern) => email.attachments.filter((part) => pattern.test(part.mimeType)).map(decoded),
  }
  const facts = ReportComplaint.read(parts) ?? ReportBounce.read(parts)
  if (facts !== undefined && facts.length > 0) return facts.slice(0, RECIPIENTS_LIMIT)
  if (parts.ofType(/^message\/feedback-report$/).length > 0) return yield* new NotAReport({ reason: "not_a_complaint" })
  if (parts.ofType(/^message\/disposition-notification$/).length > 0)
    return yield* new NotAReport({ reason: "read_receipt" })
  if (isAutoReply(email)) return yield* new NotAReport({ reason: "auto_reply" })
  const legacy = ReportLegacy.read(parts)
  return legacy.length > 0 ? legacy.slice(0, RECIPIENTS_LIMIT) : yield* new NotAReport({ reason: "unrecognized" })
})

const decoded = ({ content }: Attachment): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content)

const shortened = (bytes: Uint8Array): Buffer => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, REPORT_SIZE_LIMIT))
  let end = -1
  for (let lines = 0; lines < REPORT_LINES_LIMIT; lines++) {
    end = buffer.indexOf(LF, end + 1)
    if (end === -1) return buffer
  }
  return buffer.subarray(0, end + 1)
}

const LF = 10

const possibleParts = (buffer: Buffer): number => {
  let count = 0
  for (let at = buffer.indexOf("\n--"); at !== -1 && count <= REPORT_PARTS_LIMIT; at = buffer.indexOf("\n--", at + 3))
    count++
  return count
}

/**
 * RFC 3834 §5: a person who is on holiday has received the mail. Mail systems mark their bounces the same way, so what
 * comes from one, or names who failed, is not taken for a person.
 */
const isAutoReply = (email: Email): boolean => {
  const has = (name: string, pattern: RegExp) =>
    email.headers.some(({ key, value }) => key === name && pattern.test(value.trim()))
  if (has("x-failed-recipients", /@/) || /^(?:mailer-daemon|postmaster)@/i.test(email.from?.address ?? "")) return false
  return (
    has("auto-submitted", /^auto-replied/i) ||
    has("x-autoreply", /./) ||
    has("x-autorespond", /./) ||
    has("x-vacation", /./) ||
    has("precedence", /auto_?reply/i) ||
    AUTO_REPLY_SUBJECT.test(email.subject ?? "")
  )
}

const AUTO_REPLY_SUBJECT = /^(?:out of (?:the )?office|auto(?:matic)?[- ]?reply|abwesenheit|absence)\b/i
