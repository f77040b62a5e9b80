import * as Table from "../values/Table.ts"
import * as SimulatedSuppression from "./SimulatedSuppression.ts"
import type { DeliveryEvidence, Explained, ExplainedRecipient } from "./DeliveryEvidence.ts"

const REASONS: { readonly [reason: string]: string } = {
  hard_bounce: "mail to it bounced for good before",
  complaint: "its owner reported earlier mail as spam",
  unsubscribe: "its owner unsubscribed",
  manual: "somebody added it to the list",
}

/** Explains a recipient that nothing was sent to, because the address was suppressed. */
export const suppressed = (
  { address, suppression }: ExplainedRecipient,
  { email, showTime, suppressions }: DeliveryEvidence,
): Explained => {
  const current = suppressions.get(address)
  const simulated = current === undefined ? SimulatedSuppression.textOf(address, email.livemode) : undefined
  if (simulated !== undefined) return [simulated, ""]
  const reason = current?.reason ?? suppression
  const why = reason === null ? "" : `, because ${Table.at(REASONS, reason) ?? reason}`
  const first = `Nothing was sent to this address: it was on the suppression list${why}.`
  if (current === undefined)
    return suppressions.has(address)
      ? [`${first} It is no longer on the list.`, `Resend the email ${email.id}.`]
      : [first, "See whether the address is still on the suppression list."]
  const cause = current.email_id === null ? "" : ` The email ${current.email_id} caused it.`
  return [
    `${first} It has been on the list since ${showTime(current.created_at)}.${cause}`,
    reason === "hard_bounce"
      ? "Remove the suppression only if you know that the mailbox exists now, then resend the email."
      : "Remove the suppression only if the person asks for mail again, then resend the email.",
  ]
}

/** Says that later mail to the address is not sent; empty if it is. */
export const after = ({ address }: ExplainedRecipient, { email, suppressions }: DeliveryEvidence): string => {
  const current = suppressions.get(address)
  if (current === undefined) return ""
  const cause =
    current.email_id === email.id ? "This put the address on the suppression list" : "The address is now suppressed"
  return ` ${cause}: later mail to it is not sent.`
}
