/** The part of an email that its status for people depends on. */
interface ShownEmail {
  readonly status: string
  readonly scheduled_at: string | null
  readonly recipient_counts: { readonly [status: string]: number | undefined }
}

/** Outcomes that a delivered email does not hide, the worst first. */
export const HIDDEN_OUTCOMES = ["bounced", "failed", "suppressed"] as const

/**
 * Returns the status that screens and terminals show. A queued email of the future is "scheduled", and one that reached only
 * some of its recipients is "partly bounced", where the API says "delivered" and counts its recipients.
 */
export const shownStatus = ({ recipient_counts, scheduled_at, status }: ShownEmail, now: number): string => {
  if (status === "queued") return scheduled_at !== null && Date.parse(scheduled_at) > now ? "scheduled" : status
  if (status !== "delivered" && status !== "sent") return status
  const hidden = HIDDEN_OUTCOMES.find((outcome) => (recipient_counts[outcome] ?? 0) > 0)
  return hidden === undefined ? status : `partly ${hidden}`
}
