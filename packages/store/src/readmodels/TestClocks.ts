import type { PgClient } from "@effect/sql-pg"
import * as TestClock from "@waybill/domain/clock/TestClock"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId, TestClockId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import { type Fact, type OfAccount, pairs } from "../log/Fact.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as ReadModel from "./ReadModel.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** A test clock, deleted ones included, and the time that it shows. */
export interface ClockFact extends OfAccount {
  readonly id: string
  readonly now: Timestamp.Timestamp
  readonly removed: boolean
}

export interface TestClockRecord {
  readonly object: "test_clock"
  readonly id: TestClockId
  readonly name: string | null
  readonly now: Timestamp.Timestamp
  readonly status: "ready" | "advancing"
  readonly advancing_to: Timestamp.Timestamp | null
  readonly stopped: TestClock.Stopped | null
  readonly created_at: Timestamp.Timestamp
  readonly created_by: string | null
}

export const record = ({ advance, created, now, stopped }: TestClock.Clock): TestClockRecord => ({
  object: "test_clock",
  id: created.clock_id,
  name: created.name,
  now,
  status: advance === null ? "ready" : "advancing",
  advancing_to: advance?.to ?? null,
  stopped,
  created_at: created.at,
  created_by: created.created_by,
})

export const readModel = ReadModel.make({
  name: "test_clocks",
  stream: TestClock.stream,
  key: ["account_id", "id"],
  changes: ["version", "removed", "record"],
  rows: ({ account_id, stream_id, version }, state: TestClock.State) =>
    state._tag === "NotCreated"
      ? []
      : [{ account_id, id: stream_id, version, removed: state.deleted_at !== null, record: record(state) }],
})

/** Test clocks, and those that emails live on, which are kept from moving until the batch is committed. */
export const fact: Fact<ClockFact, (account: AccountId, id: string) => ClockFact | undefined> = {
  read: (sql, needs) => {
    const clocks = pairs(needs, (need) => need.clocks)
    const emails = pairs(needs, (need) => need.clocksOf)
    const accounts = [...clocks.accounts, ...emails.accounts]
    if (accounts.length === 0) return []
    const rows = sql`
  SELECT c.account_id, c.id, c.record ->> 'now' AS now, c.removed FROM test_clocks c
  WHERE c.account_id = ANY(${accounts.map((id) => Livemode.testAccountOf(id))}::text[])
    AND c.id = ANY(ARRAY(
      SELECT unnest(${clocks.names}::text[])
      UNION SELECT ${PackedSql.field(sql, "e", "EmailQueued", "test_clock")}
      FROM unnest(${emails.accounts}::text[], ${emails.names}::text[]) AS wanted(account_id, stream_id)
      JOIN events e ON e.account_id = wanted.account_id AND e.stream_id = wanted.stream_id AND e.version = 1))
  ORDER BY c.id FOR SHARE OF c`
    return [{ rows }]
  },
  of: (rows) => {
    const clocks = new Map(rows.map((row) => [`${row.account_id} ${row.id}`, row]))
    return (account, id) => clocks.get(`${Livemode.testAccountOf(account)} ${id}`)
  },
}

/** Returns all clocks of an account, newest first. Their number is limited. */
export const list = Effect.fn("TestClocks.list")(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: TestClockRecord }>`
    SELECT record FROM test_clocks WHERE account_id = ${account_id} AND NOT removed ORDER BY id DESC`
  return rows.map(({ record }) => record)
})

/** Finds the clocks of rows by id, deleted ones included. Reads nothing for rows on real time. */
export const timesOf = Effect.fnUntraced(function* (
  rows: ReadonlyArray<{ readonly account_id: string; readonly clock?: string | null }>,
): Effect.fn.Return<ReadonlyMap<string, ClockFact>, StoreUnavailable, PgClient.PgClient> {
  // A webhook's calls belong to the live account, and clocks to the test account.
  const refs = rows.flatMap(({ account_id, clock }) =>
    typeof clock === "string" ? [{ account_id: Livemode.testAccountOf(account_id), clock }] : [],
  )
  if (refs.length === 0) return NO_CLOCKS
  const sql = yield* Sql
  const found = yield* sql<ClockFact>`
    SELECT c.account_id, c.id, c.record ->> 'now' AS now, c.removed FROM test_clocks c
    WHERE (c.account_id, c.id) IN (SELECT * FROM unnest(${refs.map(({ account_id }) => account_id)}::text[],
      ${refs.map(({ clock }) => clock)}::text[]))`
  return new Map(found.map((clock) => [clock.id, clock]))
})

const NO_CLOCKS: ReadonlyMap<string, ClockFact> = new Map()
