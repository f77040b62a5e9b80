/** One call, as it is stored. */
export interface Row {
  readonly account_id: string
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query: string
  /** `null` if the client left before the answer. */
  readonly status: number | null
  readonly reason: string | null
  readonly api_key_id: string | null
  readonly user_id: string | null
  readonly address: string
  readonly duration_ms: number
  readonly body_bytes: number
  readonly body: string
  /** The masked answer of a call that changes something or was refused. */
  readonly answer: string
  readonly livemode: boolean
  /** Keys of the first recipients of a refused call (`RequestRecipients`); `null` if none is known. */
  readonly recipients: ReadonlyArray<bigint> | null
}
