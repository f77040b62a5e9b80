/** Shorter than the 5 s that test runners give a test, so that the message of this package is what a failed test shows. */
export const DEFAULT_TIMEOUT_MS = 4_000

export interface Waiting {
  /** Milliseconds; 4,000 by default. */
  readonly timeout?: number
}
