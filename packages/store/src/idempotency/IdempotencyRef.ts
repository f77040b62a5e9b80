import type { AccountId } from "@waybill/domain/values/Id"
import { Data, Exit } from "effect"

/** How long the answer to an idempotency key is stored. */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000

/** The idempotency key of a request. The fingerprint is a digest of the request: a different request differs in it. */
export interface IdempotencyRef {
  readonly account_id: AccountId
  readonly route: string
  readonly key: string
  readonly fingerprint: string
}

/** The idempotency key was used before, for a different request. */
export class IdempotencyKeyReused extends Data.TaggedError("IdempotencyKeyReused")<{ readonly key: string }> {}

export type Committed<A> =
  | { readonly _tag: "Committed"; readonly answer: A }
  /** The idempotency key was used before for the same request: the answer of that time. */
  | { readonly _tag: "Replayed"; readonly storedAnswer: Uint8Array }

/** The key by which the answer to a request is found. */
export const answerKey = ({ account_id, key, route }: IdempotencyRef): string => `${account_id} ${route} ${key}`

export interface StoredAnswer extends IdempotencyRef {
  readonly answer: Uint8Array
  readonly expires_at: string
}

/** The outcome of a request that finds an answer under its key. */
export const replay = (
  { fingerprint, key }: IdempotencyRef,
  stored: StoredAnswer,
): Exit.Exit<Committed<never>, IdempotencyKeyReused> =>
  stored.fingerprint === fingerprint
    ? Exit.succeed({ _tag: "Replayed", storedAnswer: stored.answer })
    : Exit.fail(new IdempotencyKeyReused({ key }))
