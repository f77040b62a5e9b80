import * as CauseTexts from "./CauseTexts.ts"
import type { DeliveryEvidence, Explained, ExplainedRecipient } from "./DeliveryEvidence.ts"
import * as SuppressionTexts from "./SuppressionTexts.ts"

/** Statuses in which the suppression list explains what happened, or will happen to the next mail. */
export const LOOKED_UP: ReadonlySet<string> = new Set(["suppressed", "bounced", "complained"])

/** Explains in words what happened to a recipient, and what to do. Quotes nothing that a server wrote. */
export const explain = (recipient: ExplainedRecipient, evidence: DeliveryEvidence) => {
  const [explanation, next_step] = textsOf(recipient, evidence)
  const isSimulated = recipient.smtp?.mx === "capture" && recipient.status !== "delivered"
  return { explanation: isSimulated ? `Simulated. ${explanation}` : explanation, next_step }
}

const textsOf = (recipient: ExplainedRecipient, evidence: DeliveryEvidence): Explained => {
  const { email, now, showTime } = evidence
  const { advice, finalAdvice = advice, meaning: withoutCodes } = CauseTexts.of(recipient.smtp?.category)
  const meaning = withCodes(withoutCodes, recipient)
  switch (recipient.status) {
    case "queued":
      return email.scheduled_at !== null && email.scheduled_at > now
        ? [
            `The email waits for its scheduled time, ${showTime(email.scheduled_at)}.`,
            "Wait, or reschedule it to send it earlier.",
          ]
        : [
            `The email waits in the queue for its first attempt${dueText(evidence)}.`,
            "If it waits for minutes, an operator should check that a worker runs (`waybill doctor`).",
          ]
    case "deferred":
      return [
        `Not delivered yet: ${recipient.attempts} attempt${recipient.attempts === 1 ? "" : "s"} so far, and Waybill tries again${dueText(evidence)}. ${meaning}`,
        advice,
      ]
    case "sent":
      return [
        "The relay has accepted the email and has not confirmed the delivery yet.",
        "Wait for the confirmation, or look in the log of the relay.",
      ]
    case "delivered":
      return recipient.smtp?.mx === "capture"
        ? [
            "The email was kept in the sandbox and not sent to anybody.",
            email.livemode
              ? "To reach people, set TRANSPORT to relay or direct."
              : "To reach people, send with a live API key.",
          ]
        : [
            "The recipient's server accepted the email. What it does afterwards is not visible: it may be in a spam folder.",
            "Ask the person to look in the spam folder, and check that all DNS records of the domain are verified.",
          ]
    case "bounced":
      return [
        `${meaning} Waybill does not try again.${SuppressionTexts.after(recipient, evidence)}`,
        evidence.suppressions.get(recipient.address) === undefined
          ? finalAdvice
          : `${finalAdvice} If the address is right, remove its suppression and send again.`,
      ]
    case "failed":
      return [`Waybill gave up. ${meaning}`, finalAdvice]
    case "suppressed":
      return SuppressionTexts.suppressed(recipient, evidence)
    case "canceled":
      return ["The email was canceled before it was sent.", "Send it again if that was a mistake."]
    case "complained":
      return [
        `The email was delivered, and the recipient reported it as spam.${SuppressionTexts.after(recipient, evidence)}`,
        "Do not send to this person again unless they ask for it.",
      ]
    default:
      return [`The recipient is ${recipient.status}.`, "Read the timeline of the email."]
  }
}

const dueText = ({ email: { next_attempt_at }, showTime }: DeliveryEvidence): string =>
  next_attempt_at === null ? "" : `; the next attempt is at ${showTime(next_attempt_at)}`

/** Adds the codes of the server's reply to the first sentence. The reply's text is left out, because others wrote it. */
const withCodes = (text: string, { smtp }: ExplainedRecipient): string => {
  const codes = [smtp?.code, smtp?.enhanced_code].filter((code) => code !== null && code !== undefined).join(" ")
  return codes === "" ? text : text.replace(/\.(?= |$)/u, ` (${codes}).`)
}
