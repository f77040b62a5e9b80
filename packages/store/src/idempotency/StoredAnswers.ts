import { Effect } from "effect"
import * as Arrays from "../postgres/Arrays.ts"
import { type Claim, claimKey, type StoredAnswer } from "./Claim.ts"
import type { Client } from "../postgres/Sql.ts"

/** Returns the unexpired answers to these claims, by claim key; the fingerprint of an answer may differ from its claim's. */
export const find = Effect.fnUntraced(function* <E>(sql: Client<E>, claims: ReadonlyArray<Claim>, now: string) {
  const rows = yield* sql<StoredAnswer>`
    SELECT k.account_id, k.route, k.key, k.fingerprint, k.answer
    FROM unnest(${claims.map((claim) => claim.account_id)}::text[], ${claims.map((claim) => claim.route)}::text[],
      ${claims.map((claim) => claim.key)}::text[]) AS wanted(account_id, route, key)
    JOIN idempotency_keys k USING (account_id, route, key) WHERE k.expires_at > ${now}::timestamptz`
  return new Map(rows.map((row) => [claimKey(row), row]))
})

/**
 * Stores answers and returns the keys of the claims that are taken. When another transaction under way holds a key, the
 * insert waits for its end.
 */
export const insert = Effect.fnUntraced(function* <E>(
  sql: Client<E>,
  answers: ReadonlyArray<StoredAnswer>,
  now: string,
) {
  const inserted = yield* sql<Claim>`
    WITH inserted AS (${insertion(sql, answers, now)}) SELECT account_id, route, key, fingerprint FROM inserted`
  const stored = new Set(inserted.map(claimKey))
  return new Set(answers.map(claimKey).filter((key) => !stored.has(key)))
})

/** Part of a statement that stores answers and returns those whose keys are not taken. */
const insertion = <E>(sql: Client<E>, answers: ReadonlyArray<StoredAnswer>, now: string) => sql`
  INSERT INTO idempotency_keys AS k (account_id, route, key, fingerprint, answer, expires_at)
  SELECT * FROM unnest(${Arrays.texts(answers.map((answer) => answer.account_id))},
    ${Arrays.texts(answers.map((answer) => answer.route))}, ${Arrays.texts(answers.map((answer) => answer.key))},
    ${Arrays.texts(answers.map((answer) => answer.fingerprint))}, ${Arrays.byteas(answers.map(({ answer }) => answer))},
    ${Arrays.texts(answers.map((answer) => answer.expires_at))}::timestamptz[])
    AS new(account_id, route, key, fingerprint, answer, expires_at)
  ORDER BY new.account_id, new.route, new.key
  ON CONFLICT (account_id, route, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
    WHERE k.expires_at <= ${now}::timestamptz
  RETURNING account_id, route, key, fingerprint`
