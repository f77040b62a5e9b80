import { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer, Redacted, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import pg from "pg"
import { type Projection, projections } from "../readmodels/Projections.ts"

/** What an operator asked for and cannot have, in words. */
export class ReplayRefused extends Data.TaggedError("ReplayRefused")<{ readonly message: string }> {}

/** Connections that a replay reads and compares by, beside one for each lane of a fill. */
export const CONNECTIONS = 4

/**
 * Connections without the haste of a request: an index over a large table takes its time. Nothing here can reach a
 * mail server, a webhook or the outbox: a replay is given connections to Postgres and the folds, and that is all.
 */
export class Replay extends Context.Service<
  Replay,
  {
    readonly sql: PgClient.PgClient
    /** A connection that speaks COPY; it is closed with the scope. */
    readonly session: Effect.Effect<pg.Client, never, Scope.Scope>
  }
>()("@waybill/store/rebuild/Replay") {
  static readonly layer = (url: Redacted.Redacted): Layer.Layer<Replay, SqlError.SqlError> =>
    Layer.effect(
      Replay,
      Effect.map(PgClient.PgClient, (sql) => Replay.of({ sql, session: open(url) })),
    ).pipe(
      Layer.provide(
        PgClient.layer({
          url,
          applicationName: "waybill replay",
          maxConnections: CONNECTIONS,
          startupParameters: { statement_timeout: "0", idle_in_transaction_session_timeout: "0" },
        }),
      ),
    )
}

const open = (url: Redacted.Redacted) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url), application_name: "waybill replay" })
      // Whoever is using it learns of the loss by its query.
      client.on("error", () => {})
      await client.connect()
      return client
    }),
    (client) => Effect.ignoreCause(Effect.promise(() => client.end())),
  )

/** The read model of that name. */
export const find = (name: string): Effect.Effect<Projection, ReplayRefused> => {
  const model = projections.find((each) => each.name === name)
  const known = projections.map((each) => each.name).join(", ")
  return model === undefined
    ? Effect.fail(new ReplayRefused({ message: `no read model is called ${name}; there are ${known}` }))
    : Effect.succeed(model)
}

/** Our corner of the advisory locks that are keyed by two integers: WB, replays. */
const LOCK_CLASS = 0x5742_0003

/** One replay of a read model at a time, held by a session that ends with the process. */
export const alone = Effect.fnUntraced(function* (name: string) {
  const { session, sql } = yield* Replay
  const client = yield* session
  const { rows } = yield* Effect.promise(() =>
    client.query<{ readonly taken: boolean }>("SELECT pg_try_advisory_lock($1, hashtext($2)) AS taken", [
      LOCK_CLASS,
      name,
    ]),
  )
  if (rows[0]?.taken !== true)
    return yield* new ReplayRefused({ message: `somebody else is at work on ${name} at this moment` })
  // Whoever takes something out of the log looks for this lock while they have the table: they have ended, or will see it.
  yield* Effect.orDie(sql.withTransaction(sql`LOCK TABLE projection_versions IN ROW EXCLUSIVE MODE`))
})

/** Which of them somebody is at work on, in whatever process on whatever machine. */
export const workedOn = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  names: ReadonlyArray<string>,
): Effect.fn.Return<ReadonlySet<string>, SqlError.SqlError> {
  const rows = yield* sql<{ readonly name: string }>`
    SELECT wanted.name FROM unnest(${[...names]}::text[]) AS wanted(name)
    WHERE EXISTS (
      SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint = ${LOCK_CLASS}::bigint AND objid::bigint = hashtext(wanted.name)::bigint & 4294967295)`
  return new Set(rows.map(({ name }) => name))
})
