import * as ReportBounce from "./ReportBounce.ts"
import * as ReportComplaint from "./ReportComplaint.ts"
import * as ReportFact from "./ReportFact.ts"
import * as ReportLegacy from "./ReportLegacy.ts"
import * as ReportParts from "./ReportParts.ts"

/** Why a mail is not a report. */
export type Reason =
  | "unreadable"
  | "too_many_parts"
  | "auto_reply"
  | "read_receipt"
  | "not_a_complaint"
  | "unrecognized"

/** Returns the facts of a bounce, delay, receipt or complaint. */
export const readReport = (bytes: Uint8Array): ReadonlyArray<ReportFact.ReportFact> | Reason => {
  const parts = ReportParts.read(bytes)
  if (typeof parts === "string") return parts
  const { mail } = parts
  const facts = ReportComplaint.read(parts) ?? ReportBounce.read(parts)
  if (facts !== undefined && facts.length > 0) return facts.slice(0, ReportFact.RECIPIENTS_LIMIT)
  if (parts.ofType(/^message\/feedback-report$/).length > 0) return "not_a_complaint"
  if (parts.ofType(/^message\/disposition-notification$/).length > 0) return "read_receipt"
  if (ReportParts.isAutoReply(mail)) return "auto_reply"
  const legacy = ReportLegacy.read(parts)
  return legacy.length > 0 ? legacy.slice(0, ReportFact.RECIPIENTS_LIMIT) : "unrecognized"
}
