import type { AccountId } from "@waybill/domain/values/Id"

/** How long the answer to an idempotency key is stored (contract §3). */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000

/** The idempotency key of a request. The fingerprint is a digest of the request: a different request differs in it. */
export interface IdempotencyRef {
  readonly account_id: AccountId
  readonly route: string
  readonly key: string
  readonly fingerprint: string
}

/** The key by which the answer to a request is found. */
export const answerKey = ({ account_id, key, route }: IdempotencyRef): string => `${account_id} ${route} ${key}`

export interface StoredAnswer extends IdempotencyRef {
  readonly answer: Uint8Array
  readonly expires_at: string
}
