import type { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"
import { Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Fragment } from "effect/sql/Statement"
import * as Databases from "../routing/Databases.ts"
import * as Iso from "../postgres/Iso.ts"
import { FAR_FUTURE, type Leased, type LeaseFact, type LeaseRef, type OutboxRow } from "./OutboxRow.ts"
import * as Outbox from "./Outbox.ts"
import * as WakeUps from "./WakeUps.ts"
import { Sql, type Client } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Maximum number of rows of one claim, and of accounts among which the claim divides them. */
export const MAX_CLAIM = 100
/** Interval of renewals. Two renewals may fail before the lease ends. */
export const RENEW_EVERY = Duration.seconds(20)
/** Maximum number of expired leases of one search. */
export const MAX_EXPIRED = 1_000

type Kind = OutboxRow["kind"]

export interface ClaimQuery {
  readonly kind: Kind
  /** Id of the process that claims. */
  readonly owner: string
  /** Token of this claim. To settle or release a row requires it. */
  readonly token: string
  readonly limit: number
  /** Accounts that have as much work in progress as they may have. */
  readonly without: ReadonlySet<string>
  /** Last account of the previous claim, if that claim left accounts out; otherwise empty. */
  readonly after: string
}

export interface Claimed {
  readonly rows: ReadonlyArray<Leased>
  /** Account after which the next claim starts, so that all accounts get their turn. */
  readonly after: string
  /** Whether more rows may be ready: "now" for the next claim, "later" only for accounts that are at their limit. */
  readonly more: "now" | "later" | "no"
}

/**
 * Leases ready rows of the fiber's database, an equal share for each account that has some. Only the database's clock decides about leases, so
 * clocks of nodes may differ.
 */
export const claim = Effect.fn("Leases.claim")(function* (
  query: ClaimQuery,
): Effect.fn.Return<Claimed, StoreUnavailable, PgClient.PgClient> {
  const sql = yield* Sql
  const moving = yield* accountsMoving
  const maxAccounts = MAX_CLAIM + query.without.size + moving.size
  const first = yield* accountsReady(sql, query.kind, query.after, maxAccounts)
  const wrapped =
    query.after === "" || first.length >= maxAccounts ? [] : yield* accountsReady(sql, query.kind, "", maxAccounts)
  const found = [...new Set([...first, ...wrapped].map(({ account_id }) => account_id))]
  const withWork = moving.size === 0 ? found : found.filter((account) => !moving.has(account))
  const eligible = withWork.filter((account) => !query.without.has(account))
  const moreLater = eligible.length < withWork.length ? "later" : "no"
  const limit = Math.min(MAX_CLAIM, query.limit)
  const accounts = eligible.slice(0, limit)
  if (accounts.length === 0) return { rows: [], after: "", more: moreLater }
  const share = Math.max(1, Math.floor(limit / accounts.length))
  const rows = yield* Outbox.claim(sql, query, readyRows(sql, query.kind, accounts, share))
  const taken = new Map<string, number>()
  for (const row of rows) taken.set(row.account_id, (taken.get(row.account_id) ?? 0) + 1)
  const allSeen = found.length < maxAccounts && accounts.length === eligible.length
  return {
    rows: rows.toSorted((a, b) => (a.available_at < b.available_at ? -1 : 1)),
    after: allSeen ? "" : (accounts.at(-1) ?? ""),
    more: !allSeen || accounts.some((account) => taken.get(account) === share) ? "now" : moreLater,
  }
})

/** Accounts whose work is not to be started in the fiber's database because of a move, and their test accounts. */
const accountsMoving = Effect.gen(function* (): Effect.fn.Return<ReadonlySet<string>, StoreUnavailable> {
  const moving = yield* Databases.notToStart
  return moving.size === 0
    ? moving
    : new Set([...moving].flatMap((account) => [account, Livemode.testAccountOf(account)]))
})

/** Lists the accounts that have ready rows. Costs one index lookup per account, however long its backlog is. */
export const accountsReady = (sql: Sql, kind: Kind, after: string, limit: number) =>
  sql<{ readonly account_id: string }>`
    WITH RECURSIVE hop(account_id, number) AS (
      (SELECT o.account_id, 1 FROM outbox o
        WHERE o.kind = ${kind} AND o.ready AND o.lease_token IS NULL AND o.account_id > ${after}
        ORDER BY o.account_id LIMIT 1)
      UNION ALL
      SELECT next.account_id, hop.number + 1 FROM hop CROSS JOIN LATERAL (
        SELECT o.account_id FROM outbox o
        WHERE o.kind = ${kind} AND o.ready AND o.lease_token IS NULL AND o.account_id > hop.account_id
        ORDER BY o.account_id LIMIT 1) AS next
      WHERE hop.number < ${limit}::int
    )
    SELECT account_id FROM hop`

/** Query of an account's oldest ready rows, for each of the accounts. */
export const readyRows = (sql: Sql, kind: Kind, accounts: ReadonlyArray<string>, share: number) => sql`
  SELECT picked.id FROM unnest(${accounts}::text[]) AS turn(account_id) CROSS JOIN LATERAL (
    SELECT o.id FROM outbox o
    WHERE o.kind = ${kind} AND o.account_id = turn.account_id AND o.ready AND o.lease_token IS NULL
    ORDER BY o.available_at LIMIT ${share}::int FOR UPDATE SKIP LOCKED) AS picked`

/** Locks rows until the end of the transaction, in the order of their ids, and returns their leases. */
export const hold = <E>(sql: Client<E>, ids: ReadonlyArray<string>) => sql<LeaseFact>`
  SELECT id, lease_token, attempt,
    ${Iso.iso(sql, "lease_until")} AS lease_until
  FROM outbox WHERE id = ANY(${ids}::text[]) ORDER BY id FOR UPDATE`

/** Query of those rows whose lease still holds, and of which the condition holds. */
export const held = (sql: Sql, rows: ReadonlyArray<LeaseRef>, condition: Fragment = sql`true`) => sql`
  SELECT o.id FROM unnest(${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.token)}::text[]) AS held(id, token)
  JOIN outbox o ON o.id = held.id AND o.lease_token = held.token WHERE ${condition} ORDER BY o.id FOR UPDATE OF o`

/**
 * Renews the leases that are still held and returns the ids of their rows. A row missing from the result has lost its
 * lease.
 */
export const renew = Effect.fn("Leases.renew")(function* (rows: ReadonlyArray<LeaseRef>) {
  const sql = yield* Sql
  const renewed = yield* Outbox.renew(sql, held(sql, rows))
  return new Set(renewed.map(({ id }) => id))
})

/** Renews leases of rows whose account has moved to another database while their work was under way, and returns their ids. */
export const renewMoved = Effect.fn("Leases.renewMoved")(function* (
  rows: ReadonlyArray<LeaseRef & Pick<OutboxRow, "account_id">>,
) {
  const sql = yield* Sql
  const here = yield* Databases.name
  const { placed } = yield* Databases.place(rows)
  const renewed = yield* Effect.forEach(
    placed.filter(({ name }) => name !== here),
    ({ rows, run }) => run(Outbox.renew(sql, held(sql, rows))),
  )
  return new Set(renewed.flat().map(({ id }) => id))
})

/** Renews a lease with a pause, which the commit that is about to end the lease respects. */
export const pause = Effect.fn("Leases.pause")(function* (row: LeaseRef, until: string) {
  const sql = yield* Sql
  yield* Outbox.renew(sql, held(sql, [row]), until)
})

/** Deletes a row of which the log says that nothing is left to do. */
export const settle = Effect.fn("Leases.settle")(function* (row: LeaseRef) {
  const sql = yield* Sql
  yield* Outbox.settle(sql, held(sql, [row]))
})

/** Releases leases of rows that were not attempted, and wakes a worker for them. */
export const release = Effect.fn("Leases.release")(function* (rows: ReadonlyArray<Leased>) {
  if (rows.length === 0) return
  const sql = yield* Sql
  const kinds = [...new Set(rows.map((row) => row.kind))]
  yield* sql.withTransaction(Effect.andThen(Outbox.release(sql, held(sql, rows)), WakeUps.wake(sql, kinds)))
})

/** Releases a row until a later time, because nothing was attempted. The log does not change. */
export const postpone = Effect.fn("Leases.postpone")(function* (row: LeaseRef, until: string) {
  const sql = yield* Sql
  const later = sql`
    SELECT id, false AS ready, ${until}::timestamptz AS available_at, ${until}::timestamptz AS held_until
    FROM (${held(sql, [row])}) AS held`
  yield* Outbox.release(sql, later, ["ready", "available_at", "held_until"])
})

/** Postpones a row on the time that it lives on: real time, or that of its test clock. */
export const postponeInTime = (row: Leased, until: string) =>
  typeof row.clock === "string" ? postponeOnClock(row, until) : postpone(row, until)

const postponeOnClock = Effect.fn("Leases.postponeOnClock")(function* (row: LeaseRef, until: string) {
  const sql = yield* Sql
  const later = sql`
    SELECT id, false AS ready, ${FAR_FUTURE}::timestamptz AS available_at, ${until}::timestamptz AS clock_due
    FROM (${held(sql, [row])}) AS held`
  yield* Outbox.release(sql, later, ["ready", "available_at", "clock_due"])
})

/** Rows leased by a process. */
export const heldBy = Effect.fn("Leases.heldBy")(function* (owner: string) {
  const sql = yield* Sql
  return yield* sql<Leased>`
    SELECT ${Outbox.columns(sql)} FROM outbox WHERE lease_token IS NOT NULL AND lease_owner = ${owner} ORDER BY id`
})

/** Rows whose lease has expired. */
export const expired = Effect.fn("Leases.expired")(function* () {
  const sql = yield* Sql
  return yield* sql<Leased>`
    SELECT ${Outbox.columns(sql)} FROM outbox WHERE lease_token IS NOT NULL AND lease_until < now()
    ORDER BY lease_until LIMIT ${MAX_EXPIRED}::int`
})

/** One registration of a process. A process that registers again gets another number. */
export interface Registration {
  readonly id: string
  readonly number: number
}

/**
 * Takes over the leases of a dead process in the fiber's database under a new token, so that nobody else starts their work. The
 * registration is locked: if the process has registered again, it keeps its leases and nothing is taken over. The lock is
 * shared, so that a database that hangs holds up no other one. Leases that an earlier successor took over and did not finish are
 * included.
 */
export const takeOverFrom = Effect.fn("Leases.takeOverFrom")(function* ({ id, number }: Registration) {
  const sql = yield* Sql
  const grave = sql`SELECT id FROM processes WHERE id = ${id} AND number = ${number}::int FOR SHARE`
  const rows = takeOver(
    sql,
    sql`SELECT o.id FROM outbox o WHERE o.lease_owner = ${id} AND o.lease_token IS NOT NULL ORDER BY o.id FOR UPDATE OF o`,
  )
  const limit = sql`SET LOCAL statement_timeout = ${sql.literal(`'${TAKE_OVER_TIMEOUT}'`)}`
  return yield* sql.withTransaction(
    Effect.flatMap(Effect.andThen(limit, grave), ({ length }) =>
      length === 0 ? Effect.succeed<ReadonlyArray<Leased>>([]) : rows,
    ),
  )
})

/** Takes over those of the given rows whose lease is still expired. */
export const takeOverExpired = Effect.fn("Leases.takeOverExpired")(function* (rows: ReadonlyArray<LeaseRef>) {
  if (rows.length === 0) return []
  const sql = yield* Sql
  return yield* takeOver(sql, held(sql, rows, sql`o.lease_until < now()`))
})

/** Time limit of one statement of a take-over, because a process that registers again waits for it. */
const TAKE_OVER_TIMEOUT = "10s"
const TAKEN_OVER = "heir_"
const TOKEN_BYTES = 16

export const newToken = (): string => Buffer.from(SecureRandom.randomBytesUnsafe(TOKEN_BYTES)).toString("hex")

/** Whether the lease was taken over from a holder that may still be alive and see the row under its name. */
export const isTakenOver = ({ token }: LeaseRef): boolean => token.startsWith(TAKEN_OVER)

const takeOver = (sql: Sql, ids: Fragment) => Outbox.claim(sql, { token: TAKEN_OVER + newToken() }, ids)
