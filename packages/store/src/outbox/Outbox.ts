import { Duration } from "effect"
import * as Statement from "effect/sql/Statement"
import * as Arrays from "../postgres/Arrays.ts"
import * as Iso from "../postgres/Iso.ts"
import type { Leased, OutboxRow } from "./OutboxRow.ts"
import { type Sql, type Client } from "../postgres/Sql.ts"

// The five verbs of the outbox: arm, claim, renew, settle and release. Only the move of an account to another database and a restore
// write rows as well. A verb names existing rows by a query of their ids, which locks them in the order of the ids, as
// commits do, so that no two transactions deadlock. Each is a statement, or a part of one.

/** Duration of a lease. A row whose lease is not renewed in time is taken by another process. */
export const LEASE = Duration.seconds(60)

const leaseEnd = <E>(sql: Client<E>) => sql`now() + make_interval(secs => ${Duration.toSeconds(LEASE)}::float8)`

/**
 * Rows with their times, which are not there yet if they are new; or a query of the `id`, `available_at` and `ready` of rows that
 * wait already.
 */
export type Arming =
  | { readonly rows: ReadonlyArray<OutboxRow>; readonly now: string; readonly isNew?: boolean }
  | { readonly waiting: Statement.Fragment }

/** Inserts rows, or gives existing ones a new time. Leases stay, and so do pauses that a receiving site asked for. */
export const arm = <E>(sql: Client<E>, arming: Arming) => {
  if ("waiting" in arming)
    return sql<Pick<OutboxRow, "kind">>`
  WITH moved AS MATERIALIZED (${arming.waiting})
  UPDATE outbox o SET available_at = moved.available_at, ready = moved.ready FROM moved
  WHERE o.id = moved.id AND o.id = ANY(ARRAY(SELECT id FROM moved)) RETURNING o.kind`
  const { isNew = false, now, rows } = arming
  const again = sql`
  ON CONFLICT (id) DO UPDATE
    SET available_at = greatest(excluded.available_at, o.held_until), attempt = excluded.attempt,
      payload = excluded.payload, clock_due = coalesce(excluded.clock_due, o.clock_due),
      ready = greatest(excluded.available_at, o.held_until) <= ${now}::timestamptz`
  return sql<Pick<OutboxRow, "kind">>`
  INSERT INTO outbox AS o (id, account_id, kind, stream_id, available_at, attempt, payload, clock, clock_due, ready)
  SELECT id, account_id, kind, stream_id, available_at, attempt, payload, clock, clock_due,
    available_at <= ${now}::timestamptz
  FROM unnest(${Arrays.texts(rows.map((row) => row.id))}, ${Arrays.texts(rows.map((row) => row.account_id))},
    ${Arrays.texts(rows.map((row) => row.kind))}, ${Arrays.texts(rows.map((row) => row.stream_id))},
    ${Arrays.texts(rows.map((row) => row.available_at))}::timestamptz[], ${Arrays.ints(rows.map((row) => row.attempt))},
    ${Arrays.jsonbs(rows.map((row) => row.payload))},
    ${Arrays.texts(rows.map(({ clock }) => clock ?? null))},
    ${Arrays.texts(rows.map((row) => row.clock_due ?? null))}::timestamptz[])
    AS new(id, account_id, kind, stream_id, available_at, attempt, payload, clock, clock_due)${isNew ? sql`` : again}`
}

/**
 * Leases rows under a token, which settling and releasing require, and ends their pauses. Without an owner the rows are taken
 * over: they stay under the name of the process that held them, so that the next successor finds them if this one dies.
 */
export const claim = (
  sql: Sql,
  { owner, token }: { readonly owner?: string; readonly token: string },
  ids: Statement.Fragment,
) => sql<Leased>`
  WITH claimed AS (
    UPDATE outbox SET lease_token = ${token}, lease_until = ${leaseEnd(sql)}
      ${owner === undefined ? sql.literal("") : sql`, lease_owner = ${owner}, held_until = NULL`}
    WHERE id = ANY(ARRAY(${ids}))
    RETURNING id, account_id, kind, stream_id, attempt, payload, clock, lease_token, available_at)
  SELECT ${columns(sql)} FROM claimed`

/** The columns of a leased row. */
export const columns = (sql: Sql) =>
  sql`id, account_id, kind, stream_id, attempt, payload, clock, lease_token AS token, ${Iso.iso(sql, "available_at")} AS available_at`

/** Renews leases. With a pause, the commit that ends the lease arms the row for no earlier time. */
export const renew = <E>(sql: Client<E>, ids: Statement.Fragment, pausedUntil?: string) => sql<Pick<OutboxRow, "id">>`
  UPDATE outbox SET lease_until = ${leaseEnd(sql)}
    ${pausedUntil === undefined ? sql.literal("") : sql`, held_until = ${pausedUntil}::timestamptz`}
  WHERE id = ANY(ARRAY(${ids})) RETURNING id`

/** Deletes rows of which nothing is left to do. A list of ids, here and of a release, needs a plan by the key, which locks the rows in its order. */
export const settle = <E>(sql: Client<E>, ids: Statement.Fragment | ReadonlyArray<string>) => sql`
  DELETE FROM outbox WHERE id = ANY(${Statement.isFragment(ids) ? sql`ARRAY(${ids})` : sql`${ids}::text[]`})`

/** Columns that a release may change. */
export type Released = "ready" | "available_at" | "held_until" | "clock_due" | "attempt" | "payload"

/** Ends leases of rows that stay: of a list of ids, or with the named columns from a query. */
export const release = <E>(
  sql: Client<E>,
  rows: Statement.Fragment | ReadonlyArray<string>,
  changed: ReadonlyArray<Released> = [],
) => {
  const ended = sql`lease_token = NULL, lease_until = NULL, lease_owner = NULL`
  if (!Statement.isFragment(rows)) return sql`UPDATE outbox SET ${ended} WHERE id = ANY(${rows}::text[])`
  return sql`
  WITH released AS MATERIALIZED (${rows})
  UPDATE outbox o SET ${ended}
    ${sql.literal(changed.map((column) => `, ${column} = released.${column}`).join(""))}
  FROM released WHERE o.id = released.id AND o.id = ANY(ARRAY(SELECT id FROM released))`
}
