import type { PgClient } from "@effect/sql-pg"
import type { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Horizon } from "./RetentionCutoff.ts"
import type { Stored } from "../commit/RecordedEvents.ts"

/** Numbers over many streams: events are counted in the order of the log, each once. */
export interface Counts {
  /** Of its table, and of the follower that counts into it. */
  readonly name: string
  readonly key: ReadonlyArray<string>
  /** Who counts into the live table: a follower that has come so far in the log, or the commits themselves. */
  readonly by: "follower" | "commits"
  /** Tags of the events that it counts. */
  readonly types: ReadonlyArray<string>
  /** Into the live table, or into one that a rebuild fills. */
  readonly count: (
    sql: PgClient.PgClient,
    events: ReadonlyArray<Stored>,
    table?: string,
  ) => Effect.Effect<void, SqlError.SqlError>
  /**
   * Takes over from the live table what was counted of times that the log does not hold in full any more, and leaves out
   * what is not kept any more.
   */
  readonly inherit: (
    sql: PgClient.PgClient,
    table: string,
    horizons: ReadonlyArray<Horizon>,
  ) => Effect.Effect<void, SqlError.SqlError>
  /** How many rows of the live table are of such times: nothing can tell any more whether they are right. */
  readonly beyond: (
    sql: PgClient.PgClient,
    horizons: ReadonlyArray<Horizon>,
  ) => Effect.Effect<number, SqlError.SqlError>
}
