import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Data, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { workedOn } from "../rebuild/Replay.ts"
import * as Tables from "../rebuild/Tables.ts"
import * as Versions from "../rebuild/Versions.ts"
import { ACCOUNT_LOCKS } from "../commit/PostgresLogStorage.ts"
import type { ReadModel } from "../readmodels/ReadModel.ts"
import { readModels } from "../readmodels/ReadModels.ts"

/** Who replays reads the log as it was: until that is over nothing is taken out of the log. */
export class RebuildUnderWay extends Data.TaggedError("RebuildUnderWay")<{ readonly message: string }> {}

const modelsOf = (streams: ReadonlyArray<string>): ReadonlyArray<string> =>
  readModels.flatMap(({ name, stream }) => (streams.includes(stream) ? [name] : []))

/** Fails while somebody replays what is folded from such streams. A version that nobody works on holds nobody up. */
export const unread = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  streams: ReadonlyArray<string>,
): Effect.fn.Return<void, SqlError.SqlError | RebuildUnderWay> {
  const [name] = yield* workedOn(sql, modelsOf(streams))
  if (name !== undefined) return yield* new RebuildUnderWay({ message: `somebody replays ${name}: wait for it` })
})

export type TablesOf = (model: ReadModel) => ReadonlyArray<string>

/**
 * Until the transaction ends, nobody appends to the account and no replay of such streams begins: what is rewritten or
 * removed is the whole of a stream. Gives what is to be done before anything is: it answers with every table that holds rows
 * of a read model, the live one and versions beside it, and drops what a rebuild has left unfinished. That could not
 * be mended: nobody knows which streams it has, and gone on with it would bring back what is taken out.
 */
export const alone = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  account_id: string,
  streams: ReadonlyArray<string>,
): Effect.fn.Return<Effect.Effect<TablesOf, SqlError.SqlError>, SqlError.SqlError | RebuildUnderWay> {
  // In this order everywhere: nobody who holds the table waits for an account. And who replays holds it for a moment only,
  // except those that are seen here.
  yield* sql`SELECT 1 AS taken FROM (SELECT pg_advisory_xact_lock(${ACCOUNT_LOCKS}::int, hashtext(${account_id}))::text) AS t`
  yield* unread(sql, streams)
  yield* sql`LOCK TABLE projection_versions IN SHARE ROW EXCLUSIVE MODE`
  yield* unread(sql, streams)
  const names = modelsOf(streams)
  const versions = yield* sql<Pick<Versions.Version, "name" | "version" | "state">>`
    SELECT name, version, state FROM projection_versions WHERE name = ANY(${names}::text[])`
  const paused = versions.filter(({ state }) => state === "building")
  const beside = versions.filter(({ state }) => state === "ready" || state === "kept")
  const tablesOf: TablesOf = ({ name }) => [
    name,
    ...beside.flatMap((each) => (each.name === name ? [Versions.tableOf(each)] : [])),
  ]
  return Effect.as(
    Effect.forEach(paused, (version) => dropPaused(sql, version), { discard: true }),
    tablesOf,
  )
})

/** What a rebuild that was killed had asked of the server may go on for a while; the account does not wait for that. */
export const DROP_WAIT = "500ms"

const dropPaused = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  version: Pick<Versions.Version, "name" | "version" | "state">,
): Effect.fn.Return<void, SqlError.SqlError> {
  yield* sql`SET LOCAL lock_timeout = ${sql.literal(`'${DROP_WAIT}'`)}`
  yield* Tables.drop(sql, Versions.tableOf(version))
  yield* sql`SET LOCAL lock_timeout TO DEFAULT`
  const gone = yield* Versions.remove(sql, version)
  if (gone.length > 0)
    yield* Effect.logWarning(
      `version ${version.version} of ${version.name}, left unfinished, is dropped: something that it may hold leaves the log`,
    )
})

/** Removes rows of a read model by their keys, from one of its tables. */
export const remove = (
  sql: PgClient.PgClient,
  { isShared, key }: ReadModel,
  table: string,
  rows: ReadonlyArray<object>,
) => sql`
  DELETE FROM ${sql(table)} AS t USING jsonb_populate_recordset(NULL::${sql(table)}, ${PgTypes.jsonb(rows)}) AS gone
  WHERE ${sql.and(key.map((column) => sql`t.${sql(column)} = gone.${sql(column)}`))}
    ${isShared === true ? unused(sql) : sql.literal("")}`

/** The one shared table says what subjects there are; the terms say which messages have them. */
const unused = (sql: PgClient.PgClient) => sql`
  AND NOT EXISTS (SELECT 1 FROM email_log_terms used WHERE used.account_id = t.account_id AND used.term = t.term)`
