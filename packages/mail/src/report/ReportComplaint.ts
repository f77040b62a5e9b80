import type { ReportFact, Parts } from "./ReportFact.ts"
import * as ReportBounce from "./ReportBounce.ts"
import * as Fields from "./ReportFields.ts"

export const FEEDBACK_REPORT = /^message\/feedback-report$/
/** Feedback types that a recipient causes; the others concern forged or wrongly filtered mail. */
const COMPLAINTS: ReadonlySet<string> = new Set([
  "abuse",
  "fraud",
  "virus",
  "other",
  "opt-out",
  "opt-out-list",
  "miscategorized",
])
/** Whether a feedback type is a recipient's complaint. */
export const isComplaint = (type: string | undefined): boolean => COMPLAINTS.has(type?.toLowerCase() ?? "")

/** Microsoft encloses the message under this subject, without a report, whatever type the whole says that it has. */
const JUNK_SUBJECT = /^complaint about message from \S+/i
const REPORT_TYPE = /^multipart\/report\b.*;\s*report-type="?feedback-report\b/is

/** Returns undefined for a message that is not feedback, and an empty list for feedback without a complaint. */
export const read = (parts: Parts): ReadonlyArray<ReportFact> | undefined => {
  const [report] = parts.ofType(FEEDBACK_REPORT)
  const original = ReportBounce.returned(parts)
  if (report === undefined) {
    const isLoop = JUNK_SUBJECT.test(parts.mail.subject ?? "") || isDeclared(parts.mail)
    return isLoop && original.size > 0 ? [aboutEnclosed(original)] : undefined
  }
  const fields = Fields.block(report.replace(/(?:\r?\n[ \t]*)+(?=\r?\n)/g, ""))
  const type = Fields.first(fields, "feedback-type")?.toLowerCase()
  if (type === undefined || !isComplaint(type)) return []
  const named = (fields.get("original-rcpt-to") ?? [])
    .map((value) => Fields.address(value))
    .filter((address) => address !== undefined)
  const recipients = named.length > 0 ? named : [hotmailRecipient(original)]
  return recipients.map((recipient) => fact(recipient, type, original, fields))
}

const isDeclared = ({ headers }: Parts["mail"]): boolean =>
  headers.some(({ key, value }) => key === "content-type" && REPORT_TYPE.test(value.trim()))

/** A complaint without a report, about a mail that came back as a whole. */
export const aboutEnclosed = (original: Fields.Fields): ReportFact =>
  fact(hotmailRecipient(original), "abuse", original, new Map())

/**
 * Returns the field that Microsoft adds, else a single To. Of several recipients nobody knows who complained, and a
 * redacted one names nobody.
 */
const hotmailRecipient = (original: Fields.Fields): string | undefined => {
  const noted = Fields.address(Fields.first(original, "x-hmxmroriginalrecipient"))
  const to = Fields.first(original, "to")
  return noted ?? (to === undefined || isList(to.replace(/"[^"]*"/g, "")) ? undefined : Fields.address(to))
}

const isList = (to: string): boolean => {
  const comma = to.indexOf(",")
  return comma !== -1 && to.includes("@", comma)
}

const fact = (
  recipient: string | undefined,
  type: string,
  original: Fields.Fields,
  fields: Fields.Fields,
): ReportFact => ({
  kind: "complaint",
  recipient,
  originalRecipient: undefined,
  action: type,
  status: undefined,
  diagnostic: Fields.diagnostic(Fields.first(fields, "user-agent")),
  reportingMta: Fields.host(Fields.first(fields, "reporting-mta")),
  remoteMta: undefined,
  originalMessageId: Fields.messageId(original),
  envelopeId: Fields.xtext(Fields.first(fields, "original-envelope-id")),
  verdict: undefined,
})
