import { PgClient, PgTypes } from "@effect/sql-pg"
import { Cause, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import {
  type AccountFact,
  type Claim,
  claimKey,
  type DomainFact,
  Failed,
  type Facts,
  type KeptAnswer,
  type LeaseFact,
  type Ledger,
  type LedgerError,
  type Needs,
  OutcomeUnknown,
  type Page,
  Poisoned,
  refKey,
  type Scope,
  type StreamRef,
  type SubscriptionFact,
  TryAgain,
  type Write,
} from "./Ledger.ts"
import * as Feed from "./Feed.ts"
import { iso } from "./Iso.ts"
import * as Outbox from "./Outbox.ts"
import { type ReadModel, rowsOf } from "./ReadModel.ts"
import type { Stored } from "./Recorded.ts"
import { classify } from "./Trouble.ts"
import * as Watermark from "./Watermark.ts"
import * as WebhookDeliveries from "./WebhookDeliveries.ts"

const jsonb = (values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.jsonb))
const bytea = (values: ReadonlyArray<Uint8Array>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bytea))

export const make = (sql: PgClient.PgClient, readModels: ReadonlyArray<ReadModel>): Ledger => {
  const page: Page = {
    streams: (refs) => mend(loadStreams(sql, refs)),
    facts: (needs) => mend(loadFacts(sql, needs)),
    answers: (claims, now) => mend(loadAnswers(sql, claims, now)),
    keep: (answers, now) => mend(keepAnswers(sql, answers, now)),
    write: (write) => mend(writeAll(sql, readModels, write)),
  }
  return {
    streams: page.streams,
    feed: (query) => mend(Feed.read(sql, query)),
    transaction: (scope, body) => mend(sql.withTransaction(Effect.andThen(enter(sql, scope), body(page)))),
    landed: (event) => mend(hasLanded(sql, event)),
  }
}

/**
 * A lost transaction may still be on its way, its COMMIT not even received. Its promise to the feed is held until it is
 * over, so once the log is settled up to what is allocated by now, what is not there will never be.
 */
const hasLanded = Effect.fnUntraced(function* (sql: PgClient.PgClient, event: Stored) {
  const position = yield* Feed.allocated(sql)
  const upTo = yield* Feed.settled(sql)
  const found = yield* sql`
    SELECT 1 AS found FROM events WHERE account_id = ${event.account_id} AND stream_id = ${event.stream_id}
      AND version = ${event.version} AND event_id = ${event.event_id}`
  if (found.length > 0) return true
  if (upTo < position) return yield* new OutcomeUnknown({ cause: "the lost transaction may still be under way" })
  return false
})

/** Flights of an account share it; one that flies alone waits for them, and they for it. In the order of the key. */
const ACCOUNT_LOCKS = 0x5742_4143

const enter = (sql: PgClient.PgClient, { accounts, alone }: Scope) => {
  const lock = sql.literal(alone ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared")
  return Effect.andThen(
    sql`SELECT count(taken) AS entered FROM (
      SELECT ${lock}(${ACCOUNT_LOCKS}::int, key)::text AS taken FROM (
        SELECT DISTINCT hashtext(account_id) AS key FROM unnest(${accounts}::text[]) AS a(account_id) ORDER BY 1
      ) AS keys) AS locks`,
    Watermark.publish(sql),
  )
}

const loadStreams = Effect.fnUntraced(function* (sql: PgClient.PgClient, refs: ReadonlyArray<StreamRef>) {
  const rows = yield* sql<Stored>`
    SELECT e.position, e.event_id, e.account_id, e.stream_id, e.stream, e.version, e.type, e.data, e.meta,
      ${iso(sql, "e.recorded_at")} AS recorded_at
    FROM unnest(${refs.map((ref) => ref.account_id)}::text[], ${refs.map((ref) => ref.stream_id)}::text[])
      AS wanted(account_id, stream_id)
    JOIN events e USING (account_id, stream_id)
    ORDER BY e.account_id, e.stream_id, e.version`
  const streams = new Map<string, Array<Stored>>()
  for (const row of rows) {
    const key = refKey(row)
    const known = streams.get(key)
    if (known === undefined) streams.set(key, [row])
    else known.push(row)
  }
  return streams
})

type AccountNeeds = Needs & { readonly account_id: StreamRef["account_id"] }

const loadFacts = Effect.fnUntraced(function* (sql: PgClient.PgClient, needs: ReadonlyArray<AccountNeeds>) {
  const pairs = (of: (need: AccountNeeds) => ReadonlyArray<string>) => {
    const accounts: Array<string> = []
    const names: Array<string> = []
    const seen = new Set<string>()
    for (const need of needs) {
      for (const name of of(need)) {
        const key = `${need.account_id} ${name}`
        if (seen.has(key)) continue
        seen.add(key)
        accounts.push(need.account_id)
        names.push(name)
      }
    }
    return { accounts, names }
  }
  const accountIds = [...new Set(needs.map((need) => need.account_id))]
  const domainPairs = pairs((need) => need.domains ?? [])
  const addressPairs = pairs((need) => need.addresses ?? [])
  const monthPairs = pairs((need) => (need.month === undefined ? [] : [need.month]))
  const outboxIds = [...new Set(needs.flatMap((need) => need.outbox ?? []))]

  const subscriptions = yield* sql<SubscriptionFact>`
    SELECT account_id, id, events FROM webhooks
    WHERE account_id = ANY(${accountIds}::text[]) AND enabled AND NOT removed ORDER BY id`
  const domains =
    domainPairs.names.length === 0
      ? []
      : yield* sql<DomainFact & { readonly account_id: string }>`
    SELECT d.account_id, d.id, d.name, d.status, d.record
    FROM unnest(${domainPairs.accounts}::text[], ${domainPairs.names}::text[]) AS wanted(account_id, name)
    JOIN domains d USING (account_id, name) WHERE NOT d.removed`
  const suppressions =
    addressPairs.names.length === 0
      ? []
      : yield* sql<{
          readonly account_id: string
          readonly address: string
          readonly reason: string
        }>`
    SELECT s.account_id, s.address, s.reason
    FROM unnest(${addressPairs.accounts}::text[], ${addressPairs.names}::text[]) AS wanted(account_id, address)
    JOIN suppressions s USING (account_id, address) WHERE s.active`
  const outbox = outboxIds.length === 0 ? [] : yield* Outbox.hold(sql, outboxIds)
  const accounts =
    monthPairs.names.length === 0
      ? []
      : yield* sql<AccountFact & { readonly account_id: string }>`
    SELECT account_id, plan, record FROM accounts WHERE account_id = ANY(${accountIds}::text[])`
  // Last, because it locks: the count is exact because nobody else adds to it until this flight has landed. In the
  // order of the key, so that two flights never wait for each other in a ring.
  const used =
    monthPairs.names.length === 0
      ? []
      : yield* sql<{
          readonly account_id: string
          readonly month: string
          readonly accepted: bigint
        }>`
    INSERT INTO monthly_usage AS u (account_id, month, accepted)
    SELECT account_id, month, 0 FROM unnest(${monthPairs.accounts}::text[], ${monthPairs.names}::text[])
      AS wanted(account_id, month) ORDER BY account_id, month
    ON CONFLICT (account_id, month) DO UPDATE SET accepted = u.accepted
    RETURNING account_id, month, accepted`

  const accountById = new Map(accounts.map((row) => [row.account_id, row]))
  const domainByName = new Map(domains.map((row) => [`${row.account_id} ${row.name}`, row]))
  const reasonByAddress = new Map(suppressions.map((row) => [`${row.account_id} ${row.address}`, row.reason]))
  const usedByMonth = new Map(used.map((row) => [`${row.account_id} ${row.month}`, Number(row.accepted)]))
  const leaseById = new Map<string, LeaseFact>(outbox.map((row) => [row.id, row]))
  const facts: Facts = {
    account: (account) => accountById.get(account),
    domain: (account, name) => domainByName.get(`${account} ${name}`),
    suppression: (account, address) => reasonByAddress.get(`${account} ${address}`),
    used: (account, month) => usedByMonth.get(`${account} ${month}`) ?? 0,
    outbox: (id) => leaseById.get(id),
    subscriptions: (account) => subscriptions.filter((row) => row.account_id === account),
  }
  return facts
})

const loadAnswers = Effect.fnUntraced(function* (sql: PgClient.PgClient, claims: ReadonlyArray<Claim>, now: string) {
  const rows = yield* sql<KeptAnswer>`
    SELECT k.account_id, k.route, k.key, k.fingerprint, k.answer
    FROM unnest(${claims.map((claim) => claim.account_id)}::text[], ${claims.map((claim) => claim.route)}::text[],
      ${claims.map((claim) => claim.key)}::text[]) AS wanted(account_id, route, key)
    JOIN idempotency_keys k USING (account_id, route, key) WHERE k.expires_at > ${now}::timestamptz`
  return new Map(rows.map((row) => [claimKey(row), row]))
})

/** A twin under way in another transaction holds the key: this insert waits for it, and then finds it taken. */
const keepAnswers = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  answers: ReadonlyArray<KeptAnswer>,
  now: string,
) {
  const kept = yield* sql<Claim>`
    INSERT INTO idempotency_keys AS k (account_id, route, key, fingerprint, answer, expires_at)
    SELECT * FROM unnest(${answers.map((answer) => answer.account_id)}::text[],
      ${answers.map((answer) => answer.route)}::text[], ${answers.map((answer) => answer.key)}::text[],
      ${answers.map((answer) => answer.fingerprint)}::text[], ${bytea(answers.map((answer) => answer.answer))},
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

const writeAll = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  readModels: ReadonlyArray<ReadModel>,
  write: Write,
) {
  const { content, events, outbox, touched, usage } = write
  yield* sql`
    INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
    SELECT * FROM unnest(${events.map((event) => event.account_id)}::text[],
      ${events.map((event) => event.stream_id)}::text[], ${events.map((event) => event.version)}::int[],
      ${events.map((event) => event.stream)}::text[], ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.event_id)}::text[], ${jsonb(events.map((event) => event.data))},
      ${jsonb(events.map((event) => event.meta))}, ${events.map((event) => event.recorded_at)}::timestamptz[])`
  for (const model of readModels) {
    const rows = rowsOf(model, touched)
    if (rows.length > 0) yield* model.write(sql, rows)
  }
  if (content.length > 0) {
    yield* sql`
      INSERT INTO content AS c (account_id, sha256, bytes, expires_on)
      SELECT DISTINCT ON (1, 2) * FROM unnest(${content.map((row) => row.account_id)}::text[],
        ${content.map((row) => row.sha256)}::text[], ${bytea(content.map((row) => row.bytes))},
        ${content.map((row) => row.expires_on)}::date[]) AS new(account_id, sha256, bytes, expires_on)
      ORDER BY 1, 2, 4 DESC
      ON CONFLICT (account_id, sha256) DO UPDATE SET expires_on = excluded.expires_on
        WHERE c.expires_on < excluded.expires_on`
  }
  if (usage.length > 0) {
    yield* sql`
      UPDATE monthly_usage u SET accepted = greatest(0, u.accepted + d.delta)
      FROM unnest(${usage.map((entry) => entry.account_id)}::text[], ${usage.map((entry) => entry.month)}::text[],
        ${usage.map((entry) => entry.delta)}::bigint[]) AS d(account_id, month, delta)
      WHERE u.account_id = d.account_id AND u.month = d.month`
  }
  if (write.deliveries.length > 0) yield* WebhookDeliveries.insert(sql, write.deliveries)
  if (outbox.release.length > 0) yield* Outbox.release(sql, outbox.release)
  if (outbox.disarm.length > 0) yield* Outbox.disarm(sql, outbox.disarm)
  if (outbox.arm.length > 0) yield* Outbox.arm(sql, outbox.arm, write.now)
})

/** A connection lost inside a transaction arrives as a defect, because the rollback that follows cannot be sent. */
const mend = <A>(effect: Effect.Effect<A, SqlError.SqlError | LedgerError>): Effect.Effect<A, LedgerError> =>
  Effect.catchCause(effect, (cause) => {
    for (const reason of cause.reasons) {
      const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
      if (isLedgerError(error)) return Effect.fail(error)
      if (error instanceof SqlError.SqlError) return Effect.fail(classify(error))
    }
    return Effect.failCause(cause as Cause.Cause<never>)
  })

const isLedgerError = (error: unknown): error is LedgerError =>
  error instanceof TryAgain || error instanceof Poisoned || error instanceof OutcomeUnknown || error instanceof Failed
