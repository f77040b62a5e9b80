import type { Effect } from "effect"
import type { RetentionCutoff } from "./RetentionCutoff.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** A table of counts over many streams. Each event is counted once, in the order of the log. */
export interface Counts {
  /** Name of the table, and of the follower that counts into it. */
  readonly name: string
  readonly key: ReadonlyArray<string>
  /** The writer of the live table: a follower of the log, or the commits themselves. */
  readonly by: "follower" | "commits"
  /** Tags of the counted events. */
  readonly types: ReadonlyArray<string>
  /** Counts events into the live table, or into the table that a rebuild fills. */
  readonly count: (sql: Sql, events: ReadonlyArray<Stored>, table?: string) => Effect.Effect<void, StoreUnavailable>
  /**
   * Copies the counts of periods for which the log is no longer complete from the live table to a rebuilt one, except those
   * past their retention.
   */
  readonly inherit: (
    sql: Sql,
    table: string,
    cutoffs: ReadonlyArray<RetentionCutoff>,
  ) => Effect.Effect<void, StoreUnavailable>
  /** Number of rows of the live table of such periods, which can no longer be verified against the log. */
  readonly unverifiable: (sql: Sql, cutoffs: ReadonlyArray<RetentionCutoff>) => Effect.Effect<number, StoreUnavailable>
}
