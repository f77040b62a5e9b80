import { PgClient } from "@effect/sql-pg"
import { Context, Data, Duration, Effect, Layer, Redacted, type Scope } from "effect"
import type pg from "pg"
import { Reactivity } from "effect/reactivity"
import { KEEPALIVE_AFTER } from "../../postgres/Sockets.ts"
import * as Databases from "../../routing/Databases.ts"
import * as Projections from "./Projections.ts"
import * as Connection from "./Connection.ts"
import * as Sqls from "../../postgres/Sql.ts"
import type { Sql } from "../../postgres/Sql.ts"

/** A request of the operator that cannot be fulfilled, with the reason in words. */
export class ReplayRefused extends Data.TaggedError("ReplayRefused")<{ readonly message: string }> {}

/**
 * Maximum number of pooled connections of a rebuild, in addition to its sessions: one holds the lock, one allocates
 * slices, one writes them, and each lane has one.
 */
export const CONNECTIONS = 4

/** Longest wait of a rebuild for a lock, so that a database whose tables stay locked does not keep it for ever. */
export const LOCK_LIMIT = Context.Reference<Duration.Duration>("@waybill/store/rebuild/versions/Replay/LOCK_LIMIT", {
  defaultValue: () => Duration.millis(Connection.LOCK_TIMEOUT_MS),
})

/**
 * Connections for rebuilds, without statement timeouts, because building an index on a large table takes long. A
 * rebuild gets nothing else, so it cannot reach a mail server, a webhook or the outbox.
 */
export class Replay extends Context.Service<
  Replay,
  {
    readonly sql: Sql
    /** The client of the transaction, or for tables on another node one of that node: it tells the watermark of the log, and the locks. */
    readonly log: Sql
    /** Database for connections that threads open themselves. */
    readonly url: Redacted.Redacted
    /** Opens a connection that supports COPY. It is closed with the scope. */
    readonly session: Effect.Effect<pg.Client, never, Scope.Scope>
    /** Opens a connection for locks to the server of `log`. */
    readonly lockSession: Effect.Effect<pg.Client, never, Scope.Scope>
  }
>()("@waybill/store/rebuild/versions/Replay") {
  /** `url` takes statements that make and change tables; `logUrl` is the server of the database. */
  static readonly layer = (url: Redacted.Redacted, logUrl = url) =>
    Layer.effect(
      Replay,
      Effect.gen(function* () {
        const limit = yield* LOCK_LIMIT
        const lock_timeout = String(Duration.toMillis(limit))
        const clientOf = (of: Redacted.Redacted) =>
          PgClient.make({
            url: of,
            applicationName: "waybill replay",
            maxConnections: CONNECTIONS,
            keepAlive: KEEPALIVE_AFTER,
            startupParameters: { statement_timeout: "0", idle_in_transaction_session_timeout: "0", lock_timeout },
          })
        const sql = Sqls.of(yield* clientOf(url))
        const log = Redacted.value(logUrl) === Redacted.value(url) ? sql : Sqls.of(yield* clientOf(logUrl))
        return Replay.of({ sql, log, url, session: open(url, limit), lockSession: open(logUrl, limit) })
      }),
    ).pipe(Layer.provide(Reactivity.layer))
}

const open = (url: Redacted.Redacted, limit: Duration.Duration) =>
  Effect.acquireRelease(
    Effect.promise(() => Connection.open(Redacted.value(url), { lock_timeout: Duration.toMillis(limit) })),
    (client) => Effect.ignoreCause(Effect.promise(() => client.end())),
  )

/** Finds a projection by name. */
export const find = (name: string): Effect.Effect<Projections.Projection, ReplayRefused> => {
  const model = Projections.projections.find((each) => each.name === name)
  const names = Projections.projections.map((each) => each.name).join(", ")
  return model === undefined
    ? Effect.fail(new ReplayRefused({ message: `there is no read model ${name}; the read models are ${names}` }))
    : Effect.succeed(model)
}

/** First key of our advisory locks with two keys: "WB", rebuilds. */
const LOCK_CLASS = 0x5742_0003
/** Second key: the read model of home by its name, and that of another database by both names. */
const lockKey = (name: string) =>
  `hashtext(CASE current_schema() WHEN '${Databases.home.name}' THEN '' ELSE current_schema() || '.' END || ${name})`

/** Takes the lock of a read model, which allows one rebuild at a time and is released when the process ends. */
export const lockReadModel = Effect.fnUntraced(function* (name: string) {
  const { lockSession, log } = yield* Replay
  const client = yield* lockSession
  const { rows } = yield* Connection.run(() =>
    client.query<{ readonly taken: boolean }>(`SELECT pg_try_advisory_lock($1, ${lockKey("$2")}) AS taken`, [
      LOCK_CLASS,
      name,
    ]),
  )
  if (rows[0]?.taken !== true) return yield* new ReplayRefused({ message: `another process is working on ${name}` })
  // Removals from the log check this lock while they hold theirs. They have ended now, or will see the lock.
  yield* removalLock(log, "pg_advisory_xact_lock_shared")
})

/**
 * Lock of removals from the log, until the end of the transaction. Not one of a table: that of a cluster waits for
 * every node.
 */
export const removalLock = (sql: Sql, lock: "pg_advisory_xact_lock" | "pg_advisory_xact_lock_shared") => sql`
  SELECT 1 AS taken FROM (SELECT ${sql.literal(`${lock}(${LOCK_CLASS}, ${lockKey("' removals'")})`)}::text) AS taking`

/** Returns the names of the read models that a process is working on, on any node. */
export const lockedModels = Effect.fnUntraced(function* (sql: Sql, names: ReadonlyArray<string>) {
  const rows = yield* sql<{ readonly name: string }>`
    SELECT wanted.name FROM unnest(${[...names]}::text[]) AS wanted(name)
    WHERE EXISTS (
      SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint = ${LOCK_CLASS}::bigint AND objid::bigint = ${sql.literal(lockKey("wanted.name"))}::bigint & 4294967295)`
  return new Set(rows.map(({ name }) => name))
})
