import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Data, Effect } from "effect"
import type { SqlError } from "effect/sql"
import * as Versions from "./projections/Versions.ts"
import { ACCOUNT_LOCKS } from "./PostgresLedger.ts"
import type { ReadModel } from "./ReadModel.ts"

/** A rebuild under way reads the log as it was: until it is over nothing is taken out of the log. */
export class RebuildUnderWay extends Data.TaggedError("RebuildUnderWay")<{ readonly message: string }> {}

/**
 * Until the transaction ends, nobody appends to the account and no rebuild begins: what is rewritten or removed is the
 * whole of a stream. Answers with every table that holds rows of a read model: the live one, and versions beside it.
 */
export const alone = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  account_id: string,
): Effect.fn.Return<(model: ReadModel) => ReadonlyArray<string>, SqlError.SqlError | RebuildUnderWay> {
  // In this order everywhere: nobody who holds the table waits for an account.
  yield* sql`SELECT 1 AS taken FROM (SELECT pg_advisory_xact_lock(${ACCOUNT_LOCKS}::int, hashtext(${account_id}))::text) AS t`
  yield* sql`LOCK TABLE projection_versions IN SHARE MODE`
  const versions = yield* sql<Pick<Versions.Version, "name" | "version" | "state">>`
    SELECT name, version, state FROM projection_versions`
  const building = versions.find(({ state }) => state === "building")
  if (building !== undefined)
    return yield* new RebuildUnderWay({
      message: `version ${building.version} of ${building.name} is being built: wait for it, or drop it`,
    })
  return ({ name }) => [
    name,
    ...versions.flatMap((each) => (each.name === name && each.state !== "live" ? [Versions.tableOf(each)] : [])),
  ]
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
