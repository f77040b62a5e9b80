import type { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"

/**
 * A position of a new epoch is at least so many seconds of this since `POSITIONS_SINCE`. No install writes so much all the
 * time, so the number runs ahead of every log, and of whatever a server that is gone had given out when it went.
 */
const POSITIONS_A_SECOND = 100_000
const POSITIONS_SINCE = "2020-01-01T00:00:00Z"
/** And at least so far beyond what is known, should the server's clock be wrong: more than a replica lags behind. */
export const LEAST_GAP = 1_000_000
/** SQLSTATEs of a service that keeps to itself which server it runs on: refused, not offered, not there. */
const NOT_TOLD = ["42501", "0A000", "42883"]
const isNotTold = (error: SqlError.SqlError): boolean => NOT_TOLD.includes(stateOf(error))

/**
 * What a promotion, a restore from an archive and a dump in another database change. A connection that was told once
 * needs not ask again: a server that writes stays the same one until it ends.
 */
const HERE = `
  (SELECT system_identifier FROM pg_control_system())::text || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`
const KNOWN = "(SELECT server FROM log_epochs ORDER BY epoch DESC LIMIT 1)"

const PROBE = `SELECT ${KNOWN} AS known, CASE WHEN NOT pg_is_in_recovery() THEN ${HERE} END AS here`

const BEGIN = `
  WITH last AS (
    SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS position FROM event_position
  ), begun AS (
    INSERT INTO log_epochs (epoch, server, last_position, after_position)
    SELECT coalesce(max(epoch), 0) + 1, ${HERE}, last.position, CASE count(epoch) WHEN 0 THEN last.position
      ELSE greatest(last.position + ${LEAST_GAP},
        floor(extract(epoch FROM now() - timestamptz '${POSITIONS_SINCE}'))::bigint * ${POSITIONS_A_SECOND}) END
    FROM last LEFT JOIN log_epochs ON true
    GROUP BY last.position HAVING ${KNOWN} IS DISTINCT FROM ${HERE}
    RETURNING epoch, after_position
  )
  SELECT epoch, setval('event_position', after_position)::text AS position FROM begun WHERE epoch > 1`

/**
 * Before the first commit on a connection: the log goes on where nobody was before. Without this the positions that a
 * lost server had given out last would be given out again, and whoever had read up to there would never see what
 * comes to stand below.
 */
export const enter = Effect.fnUntraced(function* (
  connection: PgConnection.PgConnection,
): Effect.fn.Return<void, SqlError.SqlError> {
  const probed = yield* connection.query(PROBE).pipe(
    Effect.map(({ rows }) => rows[0]),
    Effect.catchIf(isNotTold, () => Effect.succeed(undefined)),
  )
  if (probed === undefined || probed["known"] === probed["here"]) return
  if (probed["here"] === null) return yield* Effect.fail(isReplica)
  yield* connection.query("BEGIN")
  // Who opens a connection at the same moment waits, and finds it done.
  yield* connection.query("LOCK TABLE log_epochs IN SHARE ROW EXCLUSIVE MODE")
  const [begun] = (yield* connection.query(BEGIN)).rows
  yield* connection.query("COMMIT")
  if (begun !== undefined)
    yield* Effect.logWarning(`the log has come to another server: it goes on after position ${begun["position"]}`)
})

/** Like a server that is not there: it may be promoted in a moment, and is asked again. */
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

export const gaps = (sql: PgClient.PgClient): Effect.Effect<ReadonlyArray<Gap>, SqlError.SqlError> => sql<Gap>`
  SELECT last_position, after_position FROM log_epochs WHERE after_position > last_position`

const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** How many positions lie between two places, without those that were left out between two epochs. */
export const distance = (gaps: ReadonlyArray<Gap>, after: bigint, upTo: bigint): bigint =>
  gaps.reduce(
    (left, { after_position, last_position }) => left - max(0n, min(upTo, after_position) - max(after, last_position)),
    max(0n, upTo - after),
  )

/** Tells the log of one server from that of another that has gone its own way; nothing before the first commit. */
export const latest = (sql: PgClient.PgClient): Fragment => sql`(SELECT max(after_position) FROM log_epochs)::text`

/**
 * Whether a place was never reached on this server. Not so long as its epoch has not begun: then it may be one of those
 * that are lost, and all that comes will stand beyond it.
 */
export const isAhead = (sql: PgClient.PgClient, position: bigint) =>
  sql<{ readonly is_ahead: boolean }>`
    SELECT ${position}::bigint > last_value AND ${sql.literal(KNOWN)} = ${sql.literal(HERE)} AS is_ahead
    FROM event_position`.pipe(
    Effect.map(([row]) => row?.is_ahead === true),
    Effect.catchIf(isNotTold, () => Effect.succeed(false)),
  )
