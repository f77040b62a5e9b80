/** Fields of an email that its explanation reads. */
export interface ExplainedEmail {
  readonly id: string
  /** False for test mail. */
  readonly livemode: boolean
  readonly scheduled_at: string | null
  readonly next_attempt_at: string | null
}

/** Fields of a recipient that the explanation reads. */
export interface ExplainedRecipient {
  readonly address: string
  readonly status: string
  readonly attempts: number
  readonly suppression: string | null
  readonly smtp: {
    readonly code: number | null
    readonly enhanced_code: string | null
    readonly mx: string | null
    readonly category: string | null
  } | null
}

/** A current suppression of an address. */
export interface CurrentSuppression {
  readonly reason: string
  readonly email_id: string | null
  readonly created_at: string
}

/** Facts from which the explanation of a delivery follows. */
export interface DeliveryEvidence {
  readonly email: ExplainedEmail
  /** Current suppressions by address; `undefined` if the address is not suppressed. Addresses that were not looked up are absent. */
  readonly suppressions: ReadonlyMap<string, CurrentSuppression | undefined>
  /** ISO 8601 */
  readonly now: string
  /** Writes a time of ISO 8601 for the reader. */
  readonly showTime: (iso: string) => string
}

/** The next step is empty if there is nothing to do. */
export type Explained = readonly [explanation: string, nextStep: string]
