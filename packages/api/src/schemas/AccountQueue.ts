/** Path of the unfinished mail of the user's account. It is not part of the public contract. */
export const PATH = "/v1/dashboard/queue"

/** Unfinished emails, each in one of three states. */
export interface AccountQueue {
  readonly pending: number
  readonly deferred: number
  readonly scheduled: number
  /** When the pending email that waits longest was accepted, or became due if it was scheduled. */
  readonly oldest_at: string | null
  /** If false, there may be more of each. */
  readonly is_exact: boolean
}
