import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import type { LeaseFact, OutboxRow } from "./OutboxRow.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as Arrays from "../postgres/Arrays.ts"
import * as Iso from "../postgres/Iso.ts"
import * as WakeUps from "./WakeUps.ts"

/** Duration of a lease. A row whose lease is not renewed in time is taken by another process. */
export const LEASE = Duration.seconds(60)

/** Locks rows until the end of the transaction, in the order of their ids, and returns their leases. */
export const hold = (sql: PgClient.PgClient, ids: ReadonlyArray<string>) => sql<LeaseFact>`
  SELECT id, lease_token, attempt,
    ${Iso.iso(sql, "lease_until")} AS lease_until
  FROM outbox WHERE id = ANY(${ids}::text[]) ORDER BY id FOR UPDATE`

export const release = (sql: PgClient.PgClient, ids: ReadonlyArray<string>) => sql`
  UPDATE outbox SET lease_token = NULL, lease_until = NULL, lease_owner = NULL WHERE id = ANY(${ids}::text[])`

/**
 * Deletes rows. Locks them in the order in which `hold` does: by the plan of the
 * connection of the batches, which a node of Citus does not follow, so that the rows of another cell are locked first.
 */
export const disarm = (sql: PgClient.PgClient, ids: ReadonlyArray<string>, cell: CellName) => {
  const rows = sql`${ids}::text[]`
  const locked = sql`ARRAY(SELECT id FROM outbox WHERE id = ANY(${rows}) ORDER BY id FOR UPDATE)`
  return sql`DELETE FROM outbox WHERE id = ANY(${cell === FIRST ? rows : locked}) RETURNING id, lease_token`
}

/**
 * Inserts rows, or moves existing ones to a new time. Leases and pauses that a receiving site asked for stay. Wakes
 * workers for rows that are due.
 */
export const arm = Effect.fnUntraced(function* (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>, now: string) {
  yield* insert(sql, armed, now)
  const kinds = WakeUps.due(armed, now)
  if (kinds.length > 0) yield* WakeUps.wake(sql, kinds)
})

/** Inserts rows, or moves existing ones, without waking workers. */
export const insert = (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>, now: string) => sql`
  WITH armed AS (${rows(sql, armed, now)}) SELECT 1 AS armed`

/** The insertion as part of a statement. */
export const rows = (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>, now: string) => {
  const clocks = clockPart(sql, armed)
  return sql`
  INSERT INTO outbox AS o (id, account_id, kind, stream_id, available_at, attempt, payload${clocks.columns}, ready)
  SELECT id, account_id, kind, stream_id, available_at, attempt, payload${clocks.columns},
    available_at <= ${now}::timestamptz
  FROM unnest(${Arrays.texts(armed.map((row) => row.id))}, ${Arrays.texts(armed.map((row) => row.account_id))},
    ${Arrays.texts(armed.map((row) => row.kind))}, ${Arrays.texts(armed.map((row) => row.stream_id))},
    ${Arrays.texts(armed.map((row) => row.available_at))}::timestamptz[], ${Arrays.ints(armed.map((row) => row.attempt))},
    ${Arrays.jsonbs(armed.map((row) => row.payload))}${clocks.values})
    AS new(id, account_id, kind, stream_id, available_at, attempt, payload${clocks.columns})
  ON CONFLICT (id) DO UPDATE
    SET available_at = greatest(excluded.available_at, o.held_until), attempt = excluded.attempt,
      payload = excluded.payload, ready = greatest(excluded.available_at, o.held_until) <= ${now}::timestamptz${clocks.updates}`
}

/** The columns of test clocks. Without such rows the statement has none, so that rows on real time cost what they did. */
const clockPart = (sql: PgClient.PgClient, armed: ReadonlyArray<OutboxRow>) =>
  armed.some(({ clock }) => typeof clock === "string")
    ? {
        columns: sql`, clock, clock_due`,
        values: sql`
  , ${armed.map(({ clock }) => clock ?? null)}::text[], ${armed.map(({ clock_due }) => clock_due ?? null)}::timestamptz[]`,
        updates: sql`, clock_due = excluded.clock_due`,
      }
    : { columns: sql``, values: sql``, updates: sql`` }
