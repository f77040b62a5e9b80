import { PgTypes } from "@effect/sql-pg"
import { Data, Effect } from "effect"
import * as Definitions from "../database/Definitions.ts"
import { lockedModels, removalLock } from "../rebuild/versions/Replay.ts"
import * as Tables from "../rebuild/versions/Tables.ts"
import * as Versions from "../rebuild/versions/Versions.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import { keyOf, type ReadModel } from "../readmodels/ReadModel.ts"
import * as ReadModels from "../commit/ReadModels.ts"
import type { Sql } from "../postgres/Sql.ts"

/** A rebuild of a read model is reading the log, so nothing may be removed from the log until it has ended. */
export class RebuildUnderWay extends Data.TaggedError("RebuildUnderWay")<{ readonly message: string }> {}

const modelsOf = (streams: ReadonlyArray<string>): ReadonlyArray<string> =>
  ReadModels.readModels.flatMap(({ name, stream }) => (streams.includes(stream) ? [name] : []))

/** Fails while a read model of such streams is being rebuilt. A rebuild that no process works on does not count. */
export const requireNoRebuild = Effect.fnUntraced(function* (sql: Sql, streams: ReadonlyArray<string>) {
  const [name] = yield* lockedModels(sql, modelsOf(streams))
  if (name !== undefined)
    return yield* new RebuildUnderWay({ message: `${name} is being rebuilt: try again when the rebuild has ended` })
})

export type TablesOf = (model: ReadModel) => ReadonlyArray<string>

/**
 * Takes the account for the transaction: until it ends, nothing is appended to the account and no rebuild of such streams
 * begins, so that a whole stream can be rewritten or removed. Returns an effect to run before the first change: it drops
 * the tables of unfinished rebuilds and returns all other tables of a read model, the live one and its finished versions.
 * An unfinished table cannot be corrected, because the streams that it already holds are not known.
 */
export const takeAccount = Effect.fnUntraced(function* (sql: Sql, account_id: string, streams: ReadonlyArray<string>) {
  // Locks in the same order everywhere: account, then removals. A rebuild holds the latter only for a moment.
  yield* sql`SELECT 1 AS taken FROM (SELECT pg_advisory_xact_lock(${AccountLocks.ACCOUNT_LOCKS}::int, hashtext(key))::text FROM unnest(${AccountLocks.locksOf([account_id])}::text[]) AS a(key)) AS t, event_position`
  yield* requireNoRebuild(sql, streams)
  yield* removalLock(sql, "pg_advisory_xact_lock")
  yield* requireNoRebuild(sql, streams)
  const names = modelsOf(streams)
  const versions = yield* sql<Pick<Versions.Version, "name" | "version" | "state">>`
    SELECT name, version, state FROM projection_versions WHERE name = ANY(${names}::text[])`
  const unfinished = versions.filter(({ state }) => state === "building")
  const finished = versions.filter(({ state }) => state === "ready" || state === "kept")
  const tablesOf: TablesOf = ({ name }) => [
    name,
    ...finished.flatMap((each) => (each.name === name ? [Versions.tableOf(each)] : [])),
  ]
  return Effect.as(
    Effect.forEach(unfinished, (version) => dropUnfinished(sql, version), { discard: true }),
    tablesOf,
  )
})

/** Maximum wait for the table of a killed rebuild, whose last statement may still run on the server. */
export const DROP_WAIT = "500ms"

const dropUnfinished = Effect.fnUntraced(function* (
  sql: Sql,
  version: Pick<Versions.Version, "name" | "version" | "state">,
) {
  const dropping = Effect.gen(function* () {
    yield* sql`SET LOCAL lock_timeout = ${sql.literal(`'${DROP_WAIT}'`)}`
    yield* Tables.drop(sql, Versions.tableOf(version))
    yield* sql`SET LOCAL lock_timeout TO DEFAULT`
    return yield* Versions.remove(sql, version)
  })
  const removed = yield* Definitions.transaction(sql, dropping)
  if (removed.length > 0)
    yield* Effect.logWarning(
      `unfinished rebuild of ${version.name} (version ${version.version}) dropped: events that it may hold are being removed from the log`,
    )
})

/** Removes rows from a table of a read model by their keys. */
export const remove = (sql: Sql, model: ReadModel, table: string, rows: ReadonlyArray<object>) => sql`
  DELETE FROM ${sql(table)} AS t
  USING jsonb_populate_recordset(NULL::${sql(table)}, ${PgTypes.jsonb(rows.map((row) => keyOf(model, row)))}) AS removed
  WHERE ${sql.and(model.key.map((column) => sql`t.${sql(column)} = removed.${sql(column)}`))}
    ${model.isShared === true ? unused(sql) : sql.literal("")}`

/** Condition for rows of the shared table of subjects that no message uses any more. */
const unused = (sql: Sql) => sql`
  AND NOT EXISTS (SELECT 1 FROM email_log used WHERE used.account_id = t.account_id AND used.subject_key = t.term)`
