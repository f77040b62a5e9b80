import * as Table from "@waybill/domain/collections/Table"
import type { Domain, EmailLogWithContent, EmailRecipient, Suppression } from "@waybill/client/Waybill"
import { clipped } from "../ToolAnswer.ts"
import * as CauseTexts from "./CauseTexts.ts"
import { domainText } from "./domainText.ts"

/** Facts about an email from which its diagnosis follows. */
export interface Evidence {
  readonly email: EmailLogWithContent
  /** The sending domain, if it exists and the key may read it. */
  readonly domain: Domain | undefined
  /** Current suppressions by address; `undefined` if the address is not suppressed. Addresses that were not looked up are absent. */
  readonly suppressions: ReadonlyMap<string, Suppression | undefined>
  /** ISO 8601 */
  readonly now: string
}

export interface RecipientDiagnosis {
  readonly status: EmailRecipient["status"]
  readonly explanation: string
  readonly next_step: string
  readonly untrusted: {
    readonly address: string
    readonly server?: string | undefined
    readonly response?: string
  }
}

/** Explains in words what happened to each recipient, those without delivery first. */
export const diagnose = (evidence: Evidence): ReadonlyArray<RecipientDiagnosis> =>
  evidence.email.recipients
    .map((recipient): RecipientDiagnosis => {
      const [explanation, next_step] = explain(recipient, evidence)
      const response = recipient.smtp?.response ?? null
      return {
        status: recipient.status,
        explanation: [explanation, pathOf(recipient)].filter((part) => part !== "").join(" "),
        next_step,
        untrusted: {
          address: clipped(recipient.address),
          ...(response === null ? {} : { server: recipient.smtp?.mx ?? undefined, response: clipped(response) }),
        },
      }
    })
    .toSorted((one, other) => Number(isDelivered(one)) - Number(isDelivered(other)))

/** Returns the diagnosis of the whole email in a few sentences. */
export const summarize = ({ domain, email }: Evidence, recipients: ReadonlyArray<RecipientDiagnosis>): string => {
  const missing = recipients.filter((recipient) => !isDelivered(recipient))
  const of = `${recipients.length} recipient${recipients.length === 1 ? "" : "s"}`
  const counts = Object.entries(email.recipient_counts)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ")
  const first =
    missing.length === 0
      ? `Email ${email.id} was delivered to all of its ${of}.`
      : `Email ${email.id} is ${email.status}; ${missing.length} of ${of} did not receive it (${counts}).`
  if (missing.length === 0) return first
  return [first, missing.length === 1 ? missing[0]?.explanation : undefined, domainNote(domain, email)]
    .filter((part) => part !== undefined)
    .join(" ")
}

const domainNote = (domain: Domain | undefined, email: EmailLogWithContent): string | undefined =>
  domain === undefined
    ? `The domain ${email.domain} could not be read: it was removed, or this key may not read it.`
    : domain.status === "verified" && domain.records.every(({ status }) => status === "verified")
      ? undefined
      : domainText(domain)

const isDelivered = ({ status }: { readonly status: EmailRecipient["status"] }) =>
  status === "delivered" || status === "complained"

type Explained = readonly [explanation: string, nextStep: string]

const explain = (recipient: EmailRecipient, evidence: Evidence): Explained => {
  const { email, now } = evidence
  const { advice, meaning } = CauseTexts.of(recipient.smtp?.category)
  switch (recipient.status) {
    case "queued":
      return email.scheduled_at !== null && email.scheduled_at > now
        ? [
            `The email waits for its scheduled time, ${email.scheduled_at}.`,
            "Wait, or reschedule it to send it earlier.",
          ]
        : [
            `The email waits in the queue for its first attempt${dueText(email)}.`,
            "If it waits for minutes, an operator should check that a worker runs (`waybill doctor`).",
          ]
    case "deferred":
      return [
        `Not delivered yet: ${recipient.attempts} attempt${recipient.attempts === 1 ? "" : "s"} so far, and Waybill tries again${dueText(email)}. ${meaning}`,
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
            "The email was kept in the sandbox and not sent, because the transport is capture.",
            "Use the transport relay or direct to send mail to people.",
          ]
        : [
            "The recipient's server accepted the email. What it does afterwards is not visible: it may be in a spam folder.",
            "Ask the person to look in the spam folder, and check that all DNS records of the domain are verified.",
          ]
    case "bounced":
      return [`The server refused the email for good. ${meaning}${suppressedText(recipient, evidence)}`, advice]
    case "failed":
      return [`Waybill gave up. ${meaning}`, advice]
    case "suppressed":
      return suppressed(recipient, evidence)
    case "canceled":
      return ["The email was canceled before it was sent.", "Send it again if that was a mistake."]
    case "complained":
      return [
        `The email was delivered, and the recipient reported it as spam.${suppressedText(recipient, evidence)}`,
        "Do not send to this person again unless they ask for it.",
      ]
    default:
      return [`The recipient is ${recipient.status}.`, "Read the timeline of the email."]
  }
}

const REASONS: { readonly [reason: string]: string } = {
  hard_bounce: "mail to it bounced for good before",
  complaint: "its owner reported earlier mail as spam",
  unsubscribe: "its owner unsubscribed",
  manual: "somebody added it to the list",
}

const suppressed = ({ address, suppression }: EmailRecipient, { email, suppressions }: Evidence): Explained => {
  const current = suppressions.get(address)
  const reason = current?.reason ?? suppression
  const why = reason === null ? "" : `, because ${Table.at(REASONS, reason) ?? reason}`
  const first = `Nothing was sent to this address: it was on the suppression list${why}.`
  if (current === undefined)
    return suppressions.has(address)
      ? [`${first} It is no longer on the list.`, `Resend the email ${email.id}.`]
      : [first, "Look the address up with check_suppression."]
  const cause = current.email_id === null ? "" : ` The email ${current.email_id} caused it.`
  return [
    `${first} It has been on the list since ${current.created_at}.${cause}`,
    reason === "hard_bounce"
      ? "Remove the suppression only if you know that the mailbox exists now, then resend the email."
      : "Remove the suppression only if the person asks for mail again, then resend the email.",
  ]
}

const suppressedText = ({ address }: EmailRecipient, { suppressions }: Evidence): string =>
  suppressions.get(address) === undefined ? "" : " The address is now suppressed: later mail to it is not sent."

const dueText = ({ next_attempt_at }: EmailLogWithContent): string =>
  next_attempt_at === null ? "" : `; the next attempt is at ${next_attempt_at}`

/** Returns the codes of the server's reply. Its text is not in the explanation, because others wrote it. */
const pathOf = ({ attempts, smtp, status }: EmailRecipient): string => {
  if (smtp === null || status === "delivered" || (smtp.code === null && smtp.enhanced_code === null)) return ""
  const codes = [smtp.code, smtp.enhanced_code].filter((code) => code !== null).join(" ")
  return `The server replied ${codes} (attempt ${attempts}).`
}
