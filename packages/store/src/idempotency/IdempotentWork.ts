import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import { answerKey, type Committed, type IdempotencyRef, IDEMPOTENCY_TTL_MS, replay } from "./IdempotencyRef.ts"
import * as StoredAnswers from "./StoredAnswers.ts"
import { Sql } from "../postgres/Sql.ts"

/**
 * Returns the outcome of an earlier request with the key, if there was one. Two requests may both find none: only storing
 * the answer decides which is first.
 */
export const earlier = Effect.fn("IdempotentWork.earlier")(function* (ref: IdempotencyRef, now: Timestamp.Timestamp) {
  const stored = (yield* StoredAnswers.find(yield* Sql, [ref], now)).get(answerKey(ref))
  return stored === undefined ? undefined : yield* replay(ref, stored)
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
    const before: Committed<A> | undefined = yield* earlier(ref, now)
    if (before !== undefined) return before
    const answer = yield* work
    const expires_at = Timestamp.plus(now, IDEMPOTENCY_TTL_MS)
    yield* sql`${StoredAnswers.insert(sql, [{ ...ref, answer: encode(answer), expires_at }])}`
    return { _tag: "Committed", answer } satisfies Committed<A>
  })
  return yield* sql.withTransaction(transaction)
})
