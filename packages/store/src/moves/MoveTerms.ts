import { Duration, Effect, Schedule } from "effect"
import type { CellName } from "../routing/CellName.ts"
import type { Sql } from "../postgres/Sql.ts"

/** How long a move waits for work on the account's mail to end before it goes on without it. */
export const WAIT_FOR_WORK = Duration.seconds(90)
/** The account is fenced once a pass over its rows copies fewer than this: the last pass then takes little time. */
export const FEW_ROWS = 1_000
/** Maximum number of passes, for an account that is written faster than it is copied. */
export const MAX_PASSES = 5
/** Tries of the switch, each of which waits for the account's lock. */
export const SWITCH_TRIES = 5
const LOOK_AGAIN = Duration.millis(250)
/** Time limit of one statement of a move; the time limit of requests is too short for the first pass over a table. */
const STATEMENT_TIMEOUT = Duration.minutes(30)
/**
 * Time that requests of an account wait at most for its last rows, so that none waits for 30 seconds, when it is refused. A
 * move that needs longer lets them go on.
 */
export const LONGEST_WAIT = Duration.seconds(15)

export interface Moved {
  readonly from: CellName
  readonly to: CellName
  readonly rows: number
  /** How long the account's requests had to wait. */
  readonly waited_ms: number
  /** Rows that were compared with their copies while they waited. */
  readonly rows_while_waiting: number
}
export type Waiting = Pick<Moved, "waited_ms" | "rows_while_waiting">

export interface MoveOptions {
  /** Shows how far the move has come. */
  readonly report?: (line: string) => Effect.Effect<void>
  /** Time after which every process has noticed a step. */
  readonly noticedAfter?: Duration.Duration
  readonly longestWait?: Duration.Duration
}

/** Waits until no worker holds a lease on the account's pending work, of which none is claimed any more. */
export const untilIdle = (sql: Sql, accounts: ReadonlyArray<string>) =>
  sql`SELECT FROM outbox WHERE account_id = ANY(${accounts}::text[]) AND lease_token IS NOT NULL LIMIT 1`.pipe(
    Effect.repeat({ until: ({ length }) => length === 0, schedule: Schedule.spaced(LOOK_AGAIN) }),
    Effect.timeoutOption(WAIT_FOR_WORK),
  )

/** Settings by which all servers write a value as the same text, of which rows are compared by their hashes. */
export const TEXT = {
  timezone: "UTC",
  datestyle: "ISO",
  intervalstyle: "postgres",
  extra_float_digits: "3",
  bytea_output: "hex",
}

/** Runs work in a transaction with another time limit of its statements. */
export const within = <A, E, R>(sql: Sql, limit: Duration.Duration, work: Effect.Effect<A, E, R>) => {
  const settings = { ...TEXT, statement_timeout: String(Duration.toMillis(limit)) }
  return sql.withTransaction(
    Effect.andThen(
      sql`
        SELECT set_config(name, value, true) FROM unnest(${Object.keys(settings)}::text[], ${Object.values(settings)}::text[])
          AS s(name, value)`,
      work,
    ),
  )
}

export const patiently = <A, E, R>(sql: Sql, work: Effect.Effect<A, E, R>) => within(sql, STATEMENT_TIMEOUT, work)

/** Work of the last step that was not done in time: the followers' on the last events, or the move's on the last rows. */
export type Undone = "events" | "rows"

export const tooLate = (
  move: { readonly account_id: string; readonly from: CellName; readonly longestWait: Duration.Duration },
  undone: Undone,
): string =>
  `the last ${undone} of ${move.account_id} were not ${undone === "events" ? "counted" : "copied"} within ` +
  `${Duration.toSeconds(move.longestWait)} s, so that its requests go on and it stays in ${move.from}: run the command again when ` +
  (undone === "events" ? `${move.from} has less mail` : "the account and both cells have less to do")
