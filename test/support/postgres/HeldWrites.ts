import { Effect, Redacted, Schedule } from "effect"
import pg from "pg"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Database from "./Database.ts"

/** Key of the advisory lock that writes wait for. */
const HELD = 4711

/** Blocks every write of this kind to a table until it is released, so that a race has one order. */
export const hold = Effect.fnUntraced(function* (table: string, event: "INSERT" | "UPDATE") {
  const sql = yield* Sql
  const { url } = yield* Database.Fresh
  yield* sql.unsafe(`CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(${HELD}); RETURN NEW; END'`)
  yield* sql.unsafe(`CREATE TRIGGER held BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION held()`)
  const holder = new pg.Client({ connectionString: Redacted.value(url) })
  yield* Effect.promise(() => holder.connect())
  yield* Effect.promise(() => holder.query(`SELECT pg_advisory_lock(${HELD})`))
  const waiting = sql`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return {
    /** Waits until this many writes are blocked. */
    until: (writes: number) =>
      Effect.repeat(waiting, { until: (rows) => rows.length >= writes, schedule: Schedule.spaced("20 millis") }),
    release: Effect.promise(() => holder.end()),
    drop: sql.unsafe("DROP FUNCTION held() CASCADE"),
  }
})
