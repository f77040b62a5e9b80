import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import { type Claim, claimKey, type KeptAnswer } from "../commit/LogStorage.ts"

export const load = Effect.fnUntraced(function* (sql: PgClient.PgClient, claims: ReadonlyArray<Claim>, now: string) {
  const rows = yield* sql<KeptAnswer>`
    SELECT k.account_id, k.route, k.key, k.fingerprint, k.answer
    FROM unnest(${claims.map((claim) => claim.account_id)}::text[], ${claims.map((claim) => claim.route)}::text[],
      ${claims.map((claim) => claim.key)}::text[]) AS wanted(account_id, route, key)
    JOIN idempotency_keys k USING (account_id, route, key) WHERE k.expires_at > ${now}::timestamptz`
  return new Map(rows.map((row) => [claimKey(row), row]))
})

/** A twin under way in another transaction holds the key: this insert waits for it, and then finds it taken. */
export const keep = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  answers: ReadonlyArray<KeptAnswer>,
  now: string,
) {
  const bytes = Result.getOrThrow(
    PgTypes.array(
      answers.map((answer) => answer.answer),
      PgTypes.OID.bytea,
    ),
  )
  const kept = yield* sql<Claim>`
    INSERT INTO idempotency_keys AS k (account_id, route, key, fingerprint, answer, expires_at)
    SELECT * FROM unnest(${answers.map((answer) => answer.account_id)}::text[],
      ${answers.map((answer) => answer.route)}::text[], ${answers.map((answer) => answer.key)}::text[],
      ${answers.map((answer) => answer.fingerprint)}::text[], ${bytes},
      ${answers.map((answer) => answer.expires_at)}::timestamptz[])
      AS new(account_id, route, key, fingerprint, answer, expires_at)
    ORDER BY new.account_id, new.route, new.key
    ON CONFLICT (account_id, route, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
      WHERE k.expires_at <= ${now}::timestamptz
    RETURNING account_id, route, key, fingerprint`
  const ours = new Set(kept.map(claimKey))
  return new Set(answers.map(claimKey).filter((key) => !ours.has(key)))
})
