import { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Statement } from "effect/sql"
import { Cells } from "../routing/Cells.ts"
import { CurrentCell } from "../routing/CurrentCell.ts"
import * as Iso from "../postgres/Iso.ts"
import { FAR_FUTURE, type OutboxRow } from "./OutboxRow.ts"
import * as Outbox from "./Outbox.ts"
import * as WakeUps from "./WakeUps.ts"

/** Maximum number of rows of one claim, and of accounts among which the claim divides them. */
export const MAX_CLAIM = 100
/** Interval of renewals. Two renewals may fail before the lease ends. */
export const RENEW_EVERY = Duration.seconds(20)
/** Maximum number of expired leases of one search. */
export const MAX_EXPIRED = 1_000

const LEASE_SECONDS = Duration.toSeconds(Outbox.LEASE)

type Kind = OutboxRow["kind"]

export interface Leased extends OutboxRow {
  readonly token: string
}

export interface ClaimQuery {
  readonly kind: Kind
  /** Id of the process that claims. */
  readonly owner: string
  /** Token of this claim. Settling a row requires it. */
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
 * Leases ready rows of the fiber's cell, an equal share for each account that has some. Only the database's clock decides about leases, so
 * clocks of nodes may differ.
 */
export const claim = Effect.fn("Leases.claim")(function* (
  query: ClaimQuery,
): Effect.fn.Return<Claimed, never, PgClient.PgClient> {
  const sql = yield* PgClient.PgClient
  const moving = yield* accountsMoving
  const maxAccounts = MAX_CLAIM + query.without.size + moving.size
  const first = yield* Effect.orDie(accountsReady(sql, query.kind, query.after, maxAccounts))
  const wrapped =
    query.after === "" || first.length >= maxAccounts
      ? []
      : yield* Effect.orDie(accountsReady(sql, query.kind, "", maxAccounts))
  const found = [...new Set([...first, ...wrapped].map(({ account_id }) => account_id))]
  const withWork = moving.size === 0 ? found : found.filter((account) => !moving.has(account))
  const eligible = withWork.filter((account) => !query.without.has(account))
  const moreLater = eligible.length < withWork.length ? "later" : "no"
  const limit = Math.min(MAX_CLAIM, query.limit)
  const accounts = eligible.slice(0, limit)
  if (accounts.length === 0) return { rows: [], after: "", more: moreLater }
  const share = Math.max(1, Math.floor(limit / accounts.length))
  const rows = yield* Effect.orDie(leaseRows(sql, query, accounts, share))
  const taken = new Map<string, number>()
  for (const row of rows) taken.set(row.account_id, (taken.get(row.account_id) ?? 0) + 1)
  const allSeen = found.length < maxAccounts && accounts.length === eligible.length
  return {
    rows: rows
      .toSorted((a, b) => (a.available_at < b.available_at ? -1 : 1))
      .map((row) => ({ ...row, token: query.token })),
    after: allSeen ? "" : (accounts.at(-1) ?? ""),
    more: !allSeen || accounts.some((account) => taken.get(account) === share) ? "now" : moreLater,
  }
})

/** Accounts whose work is not to be started in the fiber's cell because of a move, and their test accounts. */
const accountsMoving = Effect.gen(function* (): Effect.fn.Return<ReadonlySet<string>> {
  const cells = yield* Cells
  const moving = yield* cells.notToStart(yield* CurrentCell)
  return moving.size === 0
    ? moving
    : new Set([...moving].flatMap((account) => [account, Livemode.testAccountOf(account as AccountId)]))
})

/** Lists the accounts that have ready rows. Costs one index lookup per account, however long its backlog is. */
export const accountsReady = (sql: PgClient.PgClient, kind: Kind, after: string, limit: number) =>
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

/** Selects the rows first and leases them by primary key. */
export const leaseRows = (
  sql: PgClient.PgClient,
  { kind, owner, token }: Pick<ClaimQuery, "kind" | "owner" | "token">,
  accounts: ReadonlyArray<string>,
  share: number,
) => sql<OutboxRow>`
  WITH leased AS (
    UPDATE outbox
    SET lease_token = ${token}, lease_owner = ${owner}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}::float8),
      held_until = NULL
    WHERE id = ANY(ARRAY(
      SELECT picked.id FROM unnest(${accounts}::text[]) AS turn(account_id) CROSS JOIN LATERAL (
        SELECT o.id FROM outbox o
        WHERE o.kind = ${kind} AND o.account_id = turn.account_id AND o.ready AND o.lease_token IS NULL
        ORDER BY o.available_at LIMIT ${share}::int FOR UPDATE SKIP LOCKED) AS picked))
    RETURNING id, account_id, kind, stream_id, attempt, payload, clock, available_at)
  SELECT id, account_id, kind, stream_id, attempt, payload, clock, ${Iso.iso(sql, "available_at")} AS available_at
  FROM leased`

export interface LeaseRef {
  readonly id: string
  readonly token: string
}

/**
 * Renews the leases that are still held and returns the ids of their rows. A row missing from the result has lost its
 * lease.
 */
export const renew = Effect.fn("Leases.renew")(function* (rows: ReadonlyArray<LeaseRef>) {
  const sql = yield* PgClient.PgClient
  const renewed = yield* sql<{ readonly id: string }>`
    UPDATE outbox SET lease_until = now() + make_interval(secs => ${LEASE_SECONDS}::float8)
    WHERE id = ANY(ARRAY(${lockHeld(sql, rows)})) RETURNING id`
  return new Set(renewed.map(({ id }) => id))
})

/** Releases leases of rows that were not attempted. Other processes find the rows at their next claim. */
export const release = Effect.fn("Leases.release")(function* (rows: ReadonlyArray<LeaseRef>) {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`
    UPDATE outbox SET lease_token = NULL, lease_until = NULL, lease_owner = NULL
    WHERE id = ANY(ARRAY(${lockHeld(sql, rows)}))`)
})

/** Releases leases like `release` and wakes a worker. */
export const releaseAndWake = Effect.fn("Leases.releaseAndWake")(function* (
  rows: ReadonlyArray<LeaseRef & { readonly kind: Kind }>,
) {
  if (rows.length === 0) return
  const sql = yield* PgClient.PgClient
  const kinds = [...new Set(rows.map((row) => row.kind))]
  yield* Effect.orDie(sql.withTransaction(Effect.andThen(release(rows), WakeUps.wake(sql, kinds))))
})

/** Moves a row to a later time and releases its lease, because nothing was attempted. The log does not change. */
export const postpone = Effect.fn("Leases.postpone")(function* (row: LeaseRef, until: string) {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`
    UPDATE outbox
    SET lease_token = NULL, lease_until = NULL, lease_owner = NULL, ready = false,
      held_until = ${until}::timestamptz, available_at = ${until}::timestamptz
    WHERE id = ${row.id} AND lease_token = ${row.token}`)
})

/** Postpones a row on the time that it lives on: real time, or that of its test clock. */
export const postponeInTime = (row: Leased, until: string) =>
  typeof row.clock === "string" ? postponeOnClock(row, until) : postpone(row, until)

const postponeOnClock = Effect.fn("Leases.postponeOnClock")(function* (row: LeaseRef, until: string) {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`
    UPDATE outbox
    SET lease_token = NULL, lease_until = NULL, lease_owner = NULL, ready = false,
      available_at = ${FAR_FUTURE}::timestamptz, clock_due = ${until}::timestamptz
    WHERE id = ${row.id} AND lease_token = ${row.token}`)
})

/**
 * Sets the same pause for a row that a commit is about to settle: the lease stays, and the commit respects the pause.
 */
export const setPause = Effect.fn("Leases.setPause")(function* (row: LeaseRef, until: string) {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`
    UPDATE outbox SET held_until = ${until}::timestamptz WHERE id = ${row.id} AND lease_token = ${row.token}`)
})

/** Deletes a row of which the log says that nothing is left to do. */
export const remove = Effect.fn("Leases.remove")(function* (row: LeaseRef) {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`DELETE FROM outbox WHERE id = ${row.id} AND lease_token = ${row.token}`)
})

/** Rows leased by a process. */
export const heldBy = Effect.fn("Leases.heldBy")(function* (owner: string) {
  const sql = yield* PgClient.PgClient
  return yield* Effect.orDie(sql<Leased>`
    SELECT ${columns(sql)} FROM outbox WHERE lease_token IS NOT NULL AND lease_owner = ${owner} ORDER BY id`)
})

/** Rows whose lease has expired. */
export const expired = Effect.fn("Leases.expired")(function* () {
  const sql = yield* PgClient.PgClient
  return yield* Effect.orDie(sql<Leased>`
    SELECT ${columns(sql)} FROM outbox WHERE lease_token IS NOT NULL AND lease_until < now()
    ORDER BY lease_until LIMIT ${MAX_EXPIRED}::int`)
})

/** One registration of a process. A process that registers again gets another number. */
export interface Registration {
  readonly id: string
  readonly number: number
}

/**
 * Takes over the leases of a dead process in the fiber's cell under a new token, so that nobody else starts their work. The
 * registration is locked: if the process has registered again, it keeps its leases and nothing is taken over. The lock is
 * shared, so that a cell that hangs holds up no other one. Leases that an earlier successor took over and did not finish are
 * included.
 */
export const takeOverFrom = Effect.fn("Leases.takeOverFrom")(function* ({ id, number }: Registration) {
  const sql = yield* PgClient.PgClient
  const grave = sql`SELECT id FROM processes WHERE id = ${id} AND number = ${number}::int FOR SHARE`
  const rows = takeOver(
    sql,
    sql`SELECT o.id FROM outbox o WHERE o.lease_owner = ${id} AND o.lease_token IS NOT NULL ORDER BY o.id FOR UPDATE OF o`,
  )
  const limit = sql`SET LOCAL statement_timeout = ${sql.literal(`'${TAKE_OVER_TIMEOUT}'`)}`
  return yield* Effect.orDie(
    sql.withTransaction(
      Effect.flatMap(Effect.andThen(limit, grave), ({ length }) =>
        length === 0 ? Effect.succeed<ReadonlyArray<Leased>>([]) : rows,
      ),
    ),
  )
})

/** Takes over those of the given rows whose lease is still expired. */
export const takeOverExpired = Effect.fn("Leases.takeOverExpired")(function* (rows: ReadonlyArray<LeaseRef>) {
  if (rows.length === 0) return []
  const sql = yield* PgClient.PgClient
  return yield* Effect.orDie(
    takeOver(
      sql,
      sql`SELECT o.id FROM unnest(${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.token)}::text[]) AS held(id, token)
        JOIN outbox o ON o.id = held.id AND o.lease_token = held.token WHERE o.lease_until < now()
        ORDER BY o.id FOR UPDATE OF o`,
    ),
  )
})

/** Time limit of one statement of a take-over, because a process that registers again waits for it. */
const TAKE_OVER_TIMEOUT = "10s"
const TAKEN_OVER = "heir_"
const TOKEN_BYTES = 16

export const newToken = (): string => Buffer.from(SecureRandom.randomBytesUnsafe(TOKEN_BYTES)).toString("hex")

/** Whether the lease was taken over from a holder that may still be alive and see the row under its name. */
export const isTakenOver = ({ token }: LeaseRef): boolean => token.startsWith(TAKEN_OVER)

/**
 * Takes over leases. `lease_owner` stays the dead process, so that the next successor finds the rows if this one dies.
 */
const takeOver = (sql: PgClient.PgClient, ids: Statement.Fragment) => sql<Leased>`
  WITH taken AS (
    UPDATE outbox
    SET lease_token = ${TAKEN_OVER + newToken()}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}::float8)
    WHERE id = ANY(ARRAY(${ids}))
    RETURNING id, account_id, kind, stream_id, attempt, payload, clock, lease_token, available_at)
  SELECT ${columns(sql)} FROM taken`

const columns = (sql: PgClient.PgClient) =>
  sql`id, account_id, kind, stream_id, attempt, payload, clock, lease_token AS token, ${Iso.iso(sql, "available_at")} AS available_at`

/** Locks rows in the order in which commits lock them, so that they cannot deadlock. */
const lockHeld = (sql: PgClient.PgClient, rows: ReadonlyArray<LeaseRef>) => sql`
  SELECT o.id FROM unnest(${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.token)}::text[]) AS held(id, token)
  JOIN outbox o ON o.id = held.id AND o.lease_token = held.token ORDER BY o.id FOR UPDATE OF o`
