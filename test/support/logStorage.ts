import { placeHere } from "@waybill/store/routing/TablePlace"
import * as PostgresLogStorage from "@waybill/store/commit/PostgresLogStorage"
import { Sql } from "@waybill/store/postgres/Sql"
import * as PipelinedConnection from "@waybill/store/database/PipelinedConnection"
import { Effect } from "effect"

/** The storage of the log in the database of a test, which puts faults and pauses around it. */
export const logStorage = Effect.gen(function* () {
  const sql = yield* Sql
  const connection = yield* PipelinedConnection.make(sql)
  return PostgresLogStorage.make({ sql, connection, place: yield* placeHere })
})
