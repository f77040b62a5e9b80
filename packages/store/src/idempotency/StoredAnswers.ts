import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { type BatchTable, ifAny } from "../log/BatchTable.ts"
import * as Arrays from "../postgres/Arrays.ts"
import { answerKey, type IdempotencyRef, type StoredAnswer } from "./IdempotencyRef.ts"
import type { Client } from "../postgres/Sql.ts"

/**
 * Locks the keys of answers until the end of the transaction, in one order: of several with a key, the others wait for the answer to the
 * first. Names the positions, so that a server that the database has left refuses it (`AccountLocks`).
 */
export const lock = <E>(sql: Client<E>, refs: ReadonlyArray<IdempotencyRef>) => sql`
  SELECT count(taken) AS locks, (SELECT 1 FROM event_position) AS is_here FROM (
    SELECT pg_advisory_xact_lock(key)::text AS taken FROM (
      SELECT DISTINCT hashtextextended(name, 0) AS key FROM unnest(${refs.map(answerKey)}::text[]) AS r(name) ORDER BY 1
    ) AS keys
  ) AS taking`

/** Returns the unexpired answers of these keys, by `answerKey`; an answer may be to a request of another fingerprint. */
export const find = Effect.fnUntraced(function* <E>(sql: Client<E>, refs: ReadonlyArray<IdempotencyRef>, now: string) {
  const rows = yield* sql<StoredAnswer>`
    SELECT k.account_id, k.route, k.key, k.fingerprint, k.answer
    FROM unnest(${refs.map(({ account_id }) => account_id)}::text[], ${refs.map(({ route }) => route)}::text[],
      ${refs.map(({ key }) => key)}::text[]) AS wanted(account_id, route, key)
    JOIN idempotency_keys k USING (account_id, route, key) WHERE k.expires_at > ${now}::timestamptz`
  return new Map(rows.map((row) => [answerKey(row), row]))
})

/** Stores answers under keys that are locked and have no unexpired answer. */
export const insert = (sql: Client<unknown>, answers: ReadonlyArray<StoredAnswer>): Fragment => sql`
  INSERT INTO idempotency_keys AS k (account_id, route, key, fingerprint, answer, expires_at)
  SELECT * FROM unnest(${Arrays.texts(answers.map((answer) => answer.account_id))},
    ${Arrays.texts(answers.map((answer) => answer.route))}, ${Arrays.texts(answers.map((answer) => answer.key))},
    ${Arrays.texts(answers.map((answer) => answer.fingerprint))}, ${Arrays.byteas(answers.map(({ answer }) => answer))},
    ${Arrays.texts(answers.map((answer) => answer.expires_at))}::timestamptz[])
    AS new(account_id, route, key, fingerprint, answer, expires_at)
  ORDER BY new.account_id, new.route, new.key
  ON CONFLICT (account_id, route, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at`

/** Answers under keys that the transaction has looked up and not found. */
export const table: BatchTable<StoredAnswer> = {
  keyOf: answerKey,
  write: (sql, { rows }) => ({ simple: ifAny(rows.of(table), (answers) => insert(sql, answers)) }),
}
