import type { PgConnection } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { Client, Sql } from "./Sql.ts"
import * as SqlErrors from "./SqlErrors.ts"
import type { StoreUnavailable } from "./StoreUnavailable.ts"

/**
 * The first position of a new epoch is at least this number for each second since `POSITIONS_SINCE`. No installation writes
 * that much all the time, so it is past every log and past every position that a lost server had allocated.
 */
const POSITIONS_PER_SECOND = 100_000
const POSITIONS_SINCE = "2020-01-01T00:00:00Z"
/** Minimum distance from the last known position, should the server's clock be wrong; a replica lags behind by less. */
export const MIN_GAP = 1_000_000
/** SQLSTATEs of hosted services that hide the server: insufficient privilege, unsupported feature, undefined function. */
const HIDDEN_SERVER = ["42501", "0A000", "42883"]
const isServerHidden = (error: SqlError.SqlError): boolean => HIDDEN_SERVER.includes(stateOf(error))

/**
 * Identifies the server by what a promotion, a restore from an archive or a dump into another database changes. One query
 * for each connection is enough: a server that accepts writes stays the same until it ends.
 */
const CURRENT_SERVER = `
  (SELECT system_identifier FROM pg_control_system())::text || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`
const RECORDED_SERVER = "(SELECT server FROM log_epochs ORDER BY epoch DESC LIMIT 1)"

const PROBE = `SELECT ${RECORDED_SERVER} AS recorded, CASE WHEN NOT pg_is_in_recovery() THEN ${CURRENT_SERVER} END AS current`

const BEGIN = `
  WITH last AS (
    SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS position FROM event_position
  ), begun AS (
    INSERT INTO log_epochs (epoch, server, last_position, after_position)
    SELECT coalesce(max(epoch), 0) + 1, ${CURRENT_SERVER}, last.position, CASE count(epoch) WHEN 0 THEN last.position
      -- With the rest of the server's positions (PositionNumbers).
      ELSE next.position + (s.seqstart - next.position % s.seqincrement) % s.seqincrement END
    FROM last LEFT JOIN log_epochs ON true JOIN pg_sequence s ON s.seqrelid = 'event_position'::regclass
      CROSS JOIN LATERAL (SELECT greatest(last.position + ${MIN_GAP} * s.seqincrement,
        floor(extract(epoch FROM now() - timestamptz '${POSITIONS_SINCE}'))::bigint * ${POSITIONS_PER_SECOND}) AS position) AS next
    GROUP BY last.position, next.position, s.seqstart, s.seqincrement HAVING ${RECORDED_SERVER} IS DISTINCT FROM ${CURRENT_SERVER}
    RETURNING epoch, after_position
  )
  SELECT epoch, setval('event_position', after_position)::text AS position FROM begun WHERE epoch > 1`

/**
 * Begins a new epoch if the log has come to another server; runs before the first commit of each connection. The log then
 * continues at positions that were never allocated. Otherwise the last positions of a lost server would be allocated again,
 * and a reader that had read up to them would never see the new events there.
 */
export const enter = Effect.fnUntraced(function* (
  connection: PgConnection.PgConnection,
): Effect.fn.Return<void, SqlError.SqlError> {
  const probed = yield* connection.query(PROBE).pipe(
    Effect.map(({ rows }) => rows[0]),
    Effect.catchIf(isServerHidden, () => Effect.succeed(undefined)),
  )
  if (probed === undefined || probed["recorded"] === probed["current"]) return
  if (probed["current"] === null) return yield* Effect.fail(isReplica)
  yield* connection.query("BEGIN")
  // Another connection that opens at the same moment waits here, and then finds the epoch begun.
  yield* connection.query("LOCK TABLE log_epochs IN SHARE ROW EXCLUSIVE MODE")
  const [begun] = (yield* connection.query(BEGIN)).rows
  yield* connection.query("COMMIT")
  if (begun !== undefined)
    yield* Effect.logWarning(`the event log is on another server: new positions begin after ${begun["position"]}`)
})

const insertFirst = (server: Fragment, position: bigint, sql: Client<SqlError.SqlError>) => sql`
  INSERT INTO log_epochs AS e (epoch, server, last_position, after_position)
  VALUES (1, ${server}, ${position}::bigint, ${position}::bigint)
  ON CONFLICT (epoch) DO UPDATE SET last_position = excluded.last_position, after_position = excluded.after_position
  WHERE e.last_position < excluded.last_position`

/** Records that the log up to a position was imported, and begins the first epoch after it. */
export const beginImported = ({ driver: sql }: Sql, position: bigint): Effect.Effect<void, StoreUnavailable> =>
  insertFirst(sql.literal(CURRENT_SERVER), position, sql).pipe(
    Effect.catchIf(isServerHidden, () => insertFirst(sql`''`, position, sql)),
    SqlErrors.orUnavailable,
    Effect.asVoid,
  )

/** Returns the last position that was imported, or 0. */
export const importedUpTo = Effect.fnUntraced(function* (sql: Sql) {
  const [row] = yield* sql<{ readonly last_position: string }>`
    SELECT last_position::text FROM log_epochs WHERE epoch = 1`
  return BigInt(row?.last_position ?? 0)
})

/** A connection error, so that the caller retries: the replica may be promoted in a moment. */
const isReplica = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({
    cause: undefined,
    message: "this server is a replica, which takes no writes",
    operation: "connect",
  }),
})

const stateOf = ({ reason }: SqlError.SqlError): string => {
  const cause: unknown = reason.cause
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}

interface Gap {
  readonly last_position: bigint
  readonly after_position: bigint
}

/** Distances between positions that were given. */
interface Gaps {
  readonly gaps: ReadonlyArray<Gap>
  /** Distance of two positions that are given one after the other. */
  readonly step: bigint
}

export const gaps = Effect.fnUntraced(function* <E>(sql: Client<E>): Effect.fn.Return<Gaps, E> {
  const gaps = yield* sql<Gap>`
    SELECT last_position, after_position FROM log_epochs WHERE after_position > last_position`
  const [sequence] = yield* sql<{ readonly step: bigint }>`
    SELECT seqincrement AS step FROM pg_sequence WHERE seqrelid = 'event_position'::regclass`
  return { gaps, step: sequence?.step ?? 1n }
})

const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** Returns the number of positions between two positions, without the gaps between epochs. */
export const distance = ({ gaps, step }: Gaps, after: bigint, upTo: bigint): bigint =>
  (step -
    1n +
    gaps.reduce(
      (left, { after_position, last_position }) =>
        left - max(0n, min(upTo, after_position) - max(after, last_position)),
      max(0n, upTo - after),
    )) /
  step

/** The epoch of the log on this server. */
export interface Present {
  /** The position after which it began, which no other epoch with events of its own has; empty where the server is hidden. */
  readonly epoch: string
  /** Whether the log had events before the first commit, as after an import. */
  readonly isImported: boolean
}

/** Returns the present epoch; undefined while it has not begun on this server. */
export const present = ({ driver: sql }: Sql): Effect.Effect<Present | undefined, StoreUnavailable> =>
  sql<Present & { readonly is_current: boolean }>`
    SELECT max(after_position)::text AS epoch, coalesce(max(last_position) FILTER (WHERE epoch = 1) > 0, false) AS "isImported",
      ${sql.literal(RECORDED_SERVER)} = ${sql.literal(CURRENT_SERVER)} AS is_current
    FROM log_epochs`.pipe(
    Effect.map(([row]) => (row?.is_current === true ? { epoch: row.epoch, isImported: row.isImported } : undefined)),
    Effect.catchIf(isServerHidden, () => Effect.succeed({ epoch: "", isImported: false })),
    SqlErrors.orUnavailable,
  )

/** Identifies the epoch, which differs between servers whose logs have diverged; null before the first commit. */
export const latest = (sql: Client<unknown>): Fragment => sql`(SELECT max(after_position) FROM log_epochs)::text`

/**
 * Returns whether a position is past every position of this server. False until the server's epoch has begun: before that,
 * the position may be one that was lost with the former server, and all new positions will be past it.
 */
export const isAhead = ({ driver: sql }: Sql, position: bigint) =>
  sql<{ readonly is_ahead: boolean }>`
    SELECT ${position}::bigint > last_value AND ${sql.literal(RECORDED_SERVER)} = ${sql.literal(CURRENT_SERVER)} AS is_ahead
    FROM event_position`.pipe(
    Effect.map(([row]) => row?.is_ahead === true),
    Effect.catchIf(isServerHidden, () => Effect.succeed(false)),
    SqlErrors.orUnavailable,
  )
