import type { AccountId } from "@waybill/domain/values/Id"

/** How long the answer to an idempotency key is stored (contract §3). */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000

/** A request's claim on an idempotency key. The fingerprint is a digest of the request: a different request differs in it. */
export interface Claim {
  readonly account_id: AccountId
  readonly route: string
  readonly key: string
  readonly fingerprint: string
}

export const claimKey = (claim: Claim): string => `${claim.account_id} ${claim.route} ${claim.key}`

export interface StoredAnswer extends Claim {
  readonly answer: Uint8Array
  readonly expires_at: string
}
