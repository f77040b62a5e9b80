import { PgClient } from "@effect/sql-pg"
import * as Id from "@waybill/domain/values/Id"
import { Duration, Effect, Redacted } from "effect"
import pg from "pg"
import * as OwnServer from "../database/OwnServer.ts"
import * as Databases from "../routing/Databases.ts"
import * as Copy from "../copy/Copy.ts"
import { type Column, CopyBinary } from "../copy/CopyBinary.ts"
import * as LogDay from "./LogDay.ts"
import * as RequestLogCounts from "./RequestLogCounts.ts"
import * as RequestLogDays from "./RequestLogDays.ts"
import type { Row } from "./RequestRow.ts"
import { Sql } from "../postgres/Sql.ts"

/** Time limit of a statement. A database that is slower gets no rows, and no answer waits for it. */
export const STATEMENT_TIMEOUT = Duration.seconds(5)
/**
 * SQLSTATEs of a row that belongs to no partition: check violation and, because Citus passes on the errors of rows that it
 * copies to a node without theirs, internal error.
 */
const NO_PARTITION: ReadonlyArray<unknown> = ["23514", "XX000"]

const TYPES: { readonly [C in keyof Row]: string } = {
  account_id: "text",
  id: "text",
  method: "text",
  path: "text",
  query: "text",
  status: "integer",
  reason: "text",
  api_key_id: "text",
  user_id: "text",
  address: "text",
  duration_ms: "integer",
  body_bytes: "integer",
  body: "text",
  answer: "text",
  livemode: "boolean",
  recipients: "bigint[]",
}
const COLUMNS: ReadonlyArray<Column> = Object.entries(TYPES).map(([name, type]) => ({ name, type }))
/** After a read of the table, a node of Citus copies in the same session; else through another one, with a commit in two phases. */
const BEGIN_ON_NODE = "BEGIN; SELECT FROM request_log LIMIT 0"
const COPY = `COPY request_log (${Object.keys(TYPES).join(", ")}) FROM STDIN (FORMAT binary)`

/**
 * Makes the writer's own connection to the fiber's database, which connects when rows are written. It is not one of the
 * pool, because `Copy` works with node-postgres, and `synchronous_commit` is off for these rows alone.
 */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* Sql
  const serverNow = (yield* Databases.provider)(OwnServer.here(url))
  let client: pg.Client | undefined
  const rows = new CopyBinary(COLUMNS)
  const disconnect = Effect.promise(async () => {
    const former = client
    client = undefined
    await former?.end().catch(() => {})
  })
  const connect = async ({ refuseOther, url }: OwnServer.OwnServer): Promise<pg.Client> => {
    if (client !== undefined) return client
    const next = new pg.Client({
      connectionString: Redacted.value(url),
      application_name: "waybill request log",
      connectionTimeoutMillis: Duration.toMillis(STATEMENT_TIMEOUT),
      statement_timeout: Duration.toMillis(STATEMENT_TIMEOUT),
    })
    // Without a listener a lost connection would end the process; the next write fails and connects again.
    next.on("error", () => {
      if (client === next) client = undefined
    })
    await next.connect()
    await refuseOther(next).catch((cause: unknown) => next.end().then(() => Promise.reject(cause)))
    // A crash of the server may lose the last rows, and no write waits for the disk.
    await next.query("SET synchronous_commit = off")
    return (client = next)
  }
  const inTime = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    work.pipe(
      Effect.interruptible,
      Effect.timeout(STATEMENT_TIMEOUT),
      Effect.onError(() => disconnect),
    )
  const copyRows = (batch: ReadonlyArray<Row>) =>
    Effect.flatMap(serverNow, (server) =>
      Effect.tryPromise(async () => {
        rows.begin()
        for (const row of batch) rows.add(row)
        rows.end()
        const client = await connect(server)
        if (!server.isNode) return Copy.into(client, COPY, rows.chunks)
        await client.query(BEGIN_ON_NODE)
        await Copy.into(client, COPY, rows.chunks).then(
          () => client.query("COMMIT"),
          (cause: unknown) => client.query("ROLLBACK").then(() => Promise.reject(cause)),
        )
      }),
    )
  yield* Effect.addFinalizer(() => disconnect)
  return {
    /** Copies rows to the log, and makes the tables of their days if there are none. */
    copy: (batch: ReadonlyArray<Row>) =>
      copyRows(batch).pipe(
        Effect.catchIf(
          (error) => NO_PARTITION.includes((error.cause as { readonly code?: unknown } | undefined)?.code),
          () => {
            const days = new Set(batch.map(({ id }) => LogDay.dayOf(Id.timeOf(id))))
            return Effect.andThen(Effect.forEach(days, RequestLogDays.make, { discard: true }), copyRows(batch))
          },
        ),
        inTime,
        Effect.provideService(PgClient.PgClient, sql.driver),
      ),
    /** Adds changes of accounts and of callers to the sums of days, and returns these, also those of the database. */
    add: (changes: ReadonlyArray<RequestLogCounts.Change>) =>
      inTime(
        Effect.flatMap(serverNow, (server) =>
          Effect.tryPromise(async () => {
            const client = await connect(server)
            const parameters = RequestLogCounts.parametersOf(RequestLogCounts.withTotal(changes)).map((column) => [
              ...column,
            ])
            return (await client.query<RequestLogCounts.Total>(RequestLogCounts.ADD, parameters)).rows
          }),
        ),
      ),
  }
})
