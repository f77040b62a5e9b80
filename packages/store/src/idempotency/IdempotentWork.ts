import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import { answerKey, type IdempotencyRef, IDEMPOTENCY_TTL_MS } from "./IdempotencyRef.ts"
import * as StoredAnswers from "./StoredAnswers.ts"
import { Sql } from "../postgres/Sql.ts"

export type Done<A> =
  | { readonly _tag: "New"; readonly answer: A }
  | { readonly _tag: "Stored"; readonly fingerprint: string; readonly answer: Uint8Array }

/** Returns the answer stored for a key. Two requests may both find none: only storing the answer decides which is first. */
export const storedAnswer = Effect.fn("IdempotentWork.storedAnswer")(function* (
  ref: IdempotencyRef,
  now: Timestamp.Timestamp,
) {
  const sql = yield* Sql
  const answers = yield* StoredAnswers.find(sql, [ref], now)
  return answers.get(answerKey(ref))
})

/**
 * Does work that appends no events once for each idempotency key: its rows and its answer are one transaction. A concurrent
 * duplicate waits at the lock and then gets the stored answer.
 */
export const run = Effect.fn("IdempotentWork.run")(function* <A, E, R>(
  ref: IdempotencyRef,
  now: Timestamp.Timestamp,
  work: Effect.Effect<A, E, R>,
  encode: (answer: A) => Uint8Array,
) {
  const sql = yield* Sql
  const transaction = Effect.gen(function* () {
    yield* StoredAnswers.lock(sql, [ref])
    const stored = yield* storedAnswer(ref, now)
    if (stored !== undefined) return { _tag: "Stored", fingerprint: stored.fingerprint, answer: stored.answer } as const
    const answer = yield* work
    const expires_at = Timestamp.plus(now, IDEMPOTENCY_TTL_MS)
    yield* sql`${StoredAnswers.insert(sql, [{ ...ref, answer: encode(answer), expires_at }])}`
    return { _tag: "New", answer } as const
  })
  return yield* sql.withTransaction(transaction)
})
