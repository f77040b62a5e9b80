import { textFromHtml } from "../compose/textFromHtml.ts"
import * as MimeReader from "../mime/MimeReader.ts"
import type { Parts } from "./ReportFact.ts"

/**
 * Bytes of a report that are read. The facts stand before the returned message, so a longer report is cut, not refused.
 */
export const REPORT_SIZE_LIMIT = 2 * 1024 * 1024
/** Lines of a report that are read; each costs memory, however short. */
export const REPORT_LINES_LIMIT = 10_000
/** Maximum lines that could open a part; each part costs memory, whatever its size. */
export const REPORT_PARTS_LIMIT = 2000

/** Parses the parts of a report, up to its limits. */
export const read = (bytes: Uint8Array): Parts | "too_many_parts" | "unreadable" => {
  const part = shortened(bytes)
  if (possibleParts(part) > REPORT_PARTS_LIMIT) return "too_many_parts"
  const mail = MimeReader.readIfSimple(part)
  if (mail === undefined) return "unreadable"
  return {
    mail,
    text: mail.text ?? (mail.html === undefined ? "" : textFromHtml(mail.html)),
    ofType: (pattern) => mail.files.filter((file) => pattern.test(file.mimeType)).map(decoded),
  }
}

const decoded = ({ content }: MimeReader.File): string => new TextDecoder().decode(content)

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
 * RFC 3834 §5: a person on holiday has received the mail. Mail systems mark their bounces the same way, so a message
 * from one, or one that names a failed recipient, is not taken for a person's.
 */
export const isAutoReply = (mail: MimeReader.Mail): boolean => {
  const has = (name: string, pattern: RegExp) =>
    mail.headers.some(({ key, value }) => key === name && pattern.test(value.trim()))
  if (has("x-failed-recipients", /@/) || /^(?:mailer-daemon|postmaster)@/i.test(mail.from ?? "")) return false
  return (
    has("auto-submitted", /^auto-replied/i) ||
    has("x-autoreply", /./) ||
    has("x-autorespond", /./) ||
    has("x-vacation", /./) ||
    has("precedence", /auto_?reply/i) ||
    AUTO_REPLY_SUBJECT.test(mail.subject ?? "")
  )
}

const AUTO_REPLY_SUBJECT = /^(?:out of (?:the )?office|auto(?:matic)?[- ]?reply|abwesenheit|absence)\b/i
