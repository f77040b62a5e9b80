interface ShownDelivery {
  readonly status: string
  readonly attempts: number
}

/**
 * Returns the status that screens and terminals show: a pending delivery whose calls failed so far is "retrying", and one
 * that was given up without a call is "not sent".
 */
export const shownDeliveryStatus = ({ attempts, status }: ShownDelivery): string => {
  if (attempts > 0) return status === "pending" ? "retrying" : status
  return status === "failed" ? "not sent" : status
}
