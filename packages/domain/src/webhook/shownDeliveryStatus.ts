interface ShownDelivery {
  readonly status: string
  readonly attempts: number
}

/** Returns the status that screens and terminals show: a pending delivery whose calls failed so far is "retrying". */
export const shownDeliveryStatus = ({ attempts, status }: ShownDelivery): string =>
  status === "pending" && attempts > 0 ? "retrying" : status
