import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import { type CellName, FIRST } from "../cells/CellName.ts"
import { CurrentCell } from "../cells/CurrentCell.ts"
import * as Iso from "../postgres/Iso.ts"
import type { LeaseFact, OutboxRow } from "../commit/LogStorage.ts"

/** The graphile-worker task of each kind of work. */
export const TASKS = {
  delivery: "drain_deliveries",
  webhook: "drain_webhooks",
  domain_check: "check_domains",
  test_clock: "advance_test_clocks",
} as const satisfies Record<OutboxRow["kind"], string>

export const KINDS = Object.keys(TASKS) as ReadonlyArray<OutboxRow["kind"]>

/** Locks rows until the end of the transaction, in the order of their ids, and returns their leases. */
export const hold = (sql: PgClient.PgClient, ids: ReadonlyArray<string>) => sql<LeaseFact>`
  SELECT id, lease_token, attempt,
    ${Iso.iso(sql, "lease_until")} AS lease_until
  FROM outbox WHERE id = ANY(${ids}::text[]) ORDER BY id FOR UPDATE`

export const release = (sql: PgClient.PgClient, ids: ReadonlyArray<string>) => sql`
  UPDATE outbox SET lease_token = NULL, lease_until = NULL, lease_owner = NULL WHERE id = ANY(${ids}::text[])`

export const disarm = (sql: PgClient.PgClient, ids: ReadonlyArray<string>) => sql`
  DELETE FROM outbox WHERE id = ANY(${ids}::text[])`

/**
 * Inserts rows, or moves existing ones to a new time. Leases and pauses that a receiving site asked for stay. At most
 * one wake-up job is added per kind, because Postgres serializes commits that notify.
 */
export const arm = Effect.fnUntraced(function* (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>, now: string) {
  yield* insert(sql, armed, now)
  yield* wakeAll(sql, due(armed, now))
})

/** Inserts rows, or moves existing ones, without waking workers. */
export const insert = (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>, now: string) => sql`
  WITH armed AS (${rows(sql, armed, now)}) SELECT 1 AS armed`

/** The insertion as part of a statement. */
export const rows = (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>, now: string) => {
  // A statement of its own, so that rows on real time cost what they did without clocks.
  const isClocked = armed.some(({ clock }) => typeof clock === "string")
  const [columns, values, updates] = isClocked
    ? [sql`, clock, clock_due`, clockColumns(sql, armed), sql`, clock_due = excluded.clock_due`]
    : [sql``, sql``, sql``]
  return sql`
  INSERT INTO outbox AS o (id, account_id, kind, stream_id, available_at, attempt, payload${columns}, ready)
  SELECT *, available_at <= ${now}::timestamptz FROM unnest(${armed.map((row) => row.id)}::text[],
    ${armed.map((row) => row.account_id)}::text[], ${armed.map((row) => row.kind)}::text[],
    ${armed.map((row) => row.stream_id)}::text[], ${armed.map((row) => row.available_at)}::timestamptz[],
    ${armed.map((row) => row.attempt)}::int[],
    ${Result.getOrThrow(
      PgTypes.array(
        armed.map((row) => row.payload),
        PgTypes.OID.jsonb,
      ),
    )}${values})
    AS new(id, account_id, kind, stream_id, available_at, attempt, payload${columns})
  ON CONFLICT (id) DO UPDATE
    SET available_at = greatest(excluded.available_at, o.held_until), attempt = excluded.attempt,
      payload = excluded.payload, ready = greatest(excluded.available_at, o.held_until) <= ${now}::timestamptz${updates}`
}

const clockColumns = (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>) => sql`
  , ${armed.map(({ clock }) => clock ?? null)}::text[], ${armed.map(({ clock_due }) => clock_due ?? null)}::timestamptz[]`

/** Returns the kinds of which a row is due now. */
export const due = (armed: ReadonlyArray<OutboxRow>, now: string): ReadonlyArray<OutboxRow["kind"]> => [
  ...new Set(armed.filter((row) => row.available_at <= now).map((row) => row.kind)),
]

export const wake = (sql: PgClient.PgClient, kind: OutboxRow["kind"]) => wakeAll(sql, [kind])

/** Wakes workers for the fiber's cell. */
export const wakeAll = (sql: PgClient.PgClient, kinds: ReadonlyArray<OutboxRow["kind"]>) =>
  Effect.flatMap(CurrentCell, (cell) => wakeUps(sql, kinds, cell))

/** Adds one wake-up job per kind. Those of the first cell do not name it. */
export const wakeUps = (sql: PgClient.PgClient, kinds: ReadonlyArray<OutboxRow["kind"]>, cell: CellName) => {
  const payload = cell === FIRST ? sql`` : sql`, json_build_object('cell', ${cell}::text)`
  return sql`
  SELECT job.id FROM unnest(${kinds.map((kind) => TASKS[kind])}::text[]) AS task(name)
  CROSS JOIN LATERAL graphile_worker.add_job(task.name${payload}) AS job`
}
