interface ShownDelivery {
  readonly status: string
  readonly attempts: number
  readonly created_at: string
  readonly next_attempt_at: string | null
}

/**
 * Returns the status that screens and terminals show. A pending delivery whose calls failed so far is "retrying", and one
 * whose first call was put off, because the endpoint was at its limit of calls, is "held". One that was given up without a
 * call is "not sent".
 */
export const shownDeliveryStatus = ({ attempts, created_at, next_attempt_at, status }: ShownDelivery): string => {
  if (attempts > 0) return status === "pending" ? "retrying" : status
  if (status === "failed") return "not sent"
  return status === "pending" && (next_attempt_at ?? "") > created_at ? "held" : status
}
