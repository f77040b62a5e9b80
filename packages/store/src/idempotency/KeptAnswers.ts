import { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import { IDEMPOTENCY_TTL_MS } from "../commit/BatchWrites.ts"
import { type Claim, claimKey } from "../commit/LogStorage.ts"
import * as InsertAnswers from "./InsertAnswers.ts"

export type Done<A> =
  | { readonly _tag: "Fresh"; readonly answer: A }
  | { readonly _tag: "Kept"; readonly fingerprint: string; readonly kept: Uint8Array }

/** The answer that was given under a key before. Whether it is given only once is settled where the key is claimed. */
export const kept = Effect.fn("Once.kept")(function* (claim: Claim, now: Timestamp.Timestamp) {
  const sql = yield* PgClient.PgClient
  const found = yield* Effect.orDie(InsertAnswers.load(sql, [claim], now))
  return found.get(claimKey(claim))
})

/**
 * Work that appends no events, once an idempotency key: its rows and its answer are one transaction. Twins wait for
 * each other at the lock, and the second finds the first one's answer.
 */
export const run = Effect.fn("Once.run")(function* <A, E, R>(
  claim: Claim,
  now: Timestamp.Timestamp,
  work: Effect.Effect<A, E, R>,
  encode: (answer: A) => Uint8Array,
) {
  const sql = yield* PgClient.PgClient
  const { account_id, fingerprint, key, route } = claim
  const transaction = Effect.gen(function* () {
    yield* Effect.orDie(
      sql`SELECT pg_advisory_xact_lock(hashtextextended(${`once ${claimKey(claim)}`}, 0)) IS NULL AS locked`,
    )
    const rows = yield* Effect.orDie(sql<{ readonly fingerprint: string; readonly answer: Uint8Array }>`
      SELECT fingerprint, answer FROM idempotency_keys
      WHERE account_id = ${account_id} AND route = ${route} AND key = ${key} AND expires_at > ${now}::timestamptz`)
    const [known] = rows
    if (known !== undefined) return { _tag: "Kept", fingerprint: known.fingerprint, kept: known.answer } as const
    const answer = yield* work
    const expires_at = Timestamp.plus(now, IDEMPOTENCY_TTL_MS)
    yield* Effect.orDie(sql`
      INSERT INTO idempotency_keys (account_id, route, key, fingerprint, answer, expires_at)
      VALUES (${account_id}, ${route}, ${key}, ${fingerprint}, ${encode(answer)}, ${expires_at}::timestamptz)
      ON CONFLICT (account_id, route, key) DO UPDATE
        SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at`)
    return { _tag: "Fresh", answer } as const
  })
  return yield* sql
    .withTransaction(transaction)
    .pipe(
      Effect.catch((error): Effect.Effect<never, E> =>
        typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"
          ? Effect.die(error)
          : Effect.fail(error as E),
      ),
    )
})
