import * as ReportBounce from "./ReportBounce.ts"
import * as ReportComplaint from "./ReportComplaint.ts"
import * as ReportFact from "./ReportFact.ts"
import * as Fields from "./ReportFields.ts"
import * as ReportParts from "./ReportParts.ts"

/** A copy of the name in `FeedbackToken.ts`, which would load Effect into the parsing thread. */
const TOKEN_HEADER = "x-waybill-id"

/** A complaint about a mail that it encloses. */
export interface Feedback {
  readonly facts: ReadonlyArray<ReportFact.ReportFact>
  /** Our own header of the enclosed mail, and its return path. Neither is verified yet. */
  readonly token: string | undefined
  readonly returnPath: string | undefined
  /** Whether it has the form of a feedback loop, and is not merely a mail with another one enclosed. */
  readonly isLoop: boolean
}

type Problem = "auto_reply" | "not_a_complaint" | "too_many_parts" | "unreadable" | "unrecognized"

/** Reads a complaint: ARF (RFC 5965), or the complained mail as a whole, as older feedback loops send it. */
export const readFeedback = (bytes: Uint8Array): Feedback | Problem => {
  const parts = ReportParts.read(bytes)
  if (typeof parts === "string") return parts
  const original = ReportBounce.returned(parts)
  const [report = ""] = parts.ofType(ReportComplaint.FEEDBACK_REPORT)
  const returnPath = Fields.address(
    Fields.first(original, "return-path") ?? Fields.first(Fields.block(report), "original-mail-from"),
  )
  const token = Fields.first(original, TOKEN_HEADER)
  const loop = ReportComplaint.read(parts)
  if (loop !== undefined)
    return loop.length === 0
      ? "not_a_complaint"
      : { facts: loop.slice(0, ReportFact.RECIPIENTS_LIMIT), token, returnPath, isLoop: true }
  if (ReportParts.isAutoReply(parts.mail)) return "auto_reply"
  const isBounce = parts.ofType(ReportBounce.DELIVERY_STATUS).length > 0
  if (isBounce || original.size === 0) return "unrecognized"
  return { facts: [ReportComplaint.aboutEnclosed(original)], token, returnPath, isLoop: false }
}
