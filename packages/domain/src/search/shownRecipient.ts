import { shownStatus } from "./shownStatus.ts"

const PARTLY = "partly "

/** Returns the first recipient with the status that lists show for an email, or with the outcome of a partly bounced one. */
export const shownRecipient = <A extends { readonly status: string }>(
  email: Parameters<typeof shownStatus>[0] & { readonly recipients: ReadonlyArray<A> },
): A | undefined => {
  // An email that waits for its time has queued recipients.
  const shown = shownStatus(email, Infinity)
  const status = shown.startsWith(PARTLY) ? shown.slice(PARTLY.length) : shown
  return email.recipients.find((recipient) => recipient.status === status)
}
