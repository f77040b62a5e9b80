import { Effect, Redacted } from "effect"
import pg from "pg"
import * as Copy from "../copy/Copy.ts"
import * as CellDatabase from "../database/CellDatabase.ts"
import type { CellServer } from "../routing/CellKeys.ts"
import { KEEPALIVE } from "../postgres/Sockets.ts"
import { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as MovedTables from "./MovedTables.ts"
import * as MoveTerms from "./MoveTerms.ts"
import type { TableParts } from "./MovedRows.ts"
import * as RowVersions from "./RowVersions.ts"

/** A server of a move, with the schema of the cell's tables there. */
export interface Side {
  readonly url: Redacted.Redacted
  readonly schema: string
  /** Absent for the first server. */
  readonly server?: CellServer | undefined
}

/** Schema on the new server with the rows of an account that came from the old one. */
export const schemaFor = (account_id: string): string => `moving_${account_id}`

const quoted = (names: ReadonlyArray<string>, alias = "") =>
  names.map((name) => alias + pg.escapeIdentifier(name)).join(", ")

const open = ({ server, url }: Side) =>
  Effect.acquireRelease(
    tried(async () => {
      const client = new pg.Client({
        ...KEEPALIVE,
        connectionString: Redacted.value(url),
        application_name: "waybill move",
        statement_timeout: 0,
      })
      // The statement in progress reports the loss of the connection.
      client.on("error", () => {})
      await client.connect()
      await CellDatabase.requireOwn(server, client)
      for (const [name, value] of Object.entries(MoveTerms.TEXT))
        await client.query("SELECT set_config($1, $2, false)", [name, value])
      // Tables of the move are made at this node of Citus alone.
      await client.query("SET citus.enable_ddl_propagation = off")
      return client
    }),
    (client) => Effect.ignoreCause(Effect.promise(() => client.end())),
  )

const tried = <A>(work: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: work, catch: (cause) => new StoreUnavailable({ why: "lost", cause }) })

/**
 * Copies the parts of an account's tables to a schema of the new server, by COPY, so that they can be compared with what is there
 * and merged into it by one transaction of that server.
 */
export const load = Effect.fnUntraced(function* (
  from: Side,
  to: Side,
  accounts: ReadonlyArray<string>,
  tables: ReadonlyArray<MovedTables.MovedTable>,
  parts: TableParts,
) {
  const schema = schemaFor(accounts[0] ?? "")
  const [source, target] = [yield* open(from), yield* open(to)]
  yield* tried(async () => {
    await target.query(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(schema)} CASCADE`)
    await target.query(`CREATE SCHEMA ${pg.escapeIdentifier(schema)}`)
  })
  for (const table of tables) {
    const ofTable = parts.get(table.name) ?? []
    if (ofTable.length === 0) continue
    const staged = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table.name)}`
    const condition = `${MovedTables.isOfText(table, "o", accounts)} AND ${RowVersions.isInText(table, "o", ofTable)}`
    const rows = `SELECT ${quoted(table.columns, "o.")} FROM ${pg.escapeIdentifier(from.schema)}.${pg.escapeIdentifier(table.name)} o WHERE ${condition}`
    yield* tried(async () => {
      await target.query(
        `CREATE UNLOGGED TABLE ${staged} AS SELECT ${quoted(table.columns)}
          FROM ${pg.escapeIdentifier(to.schema)}.${pg.escapeIdentifier(table.name)} WITH NO DATA`,
      )
      const into = `COPY ${staged} (${quoted(table.columns)}) FROM STDIN (FORMAT binary)`
      await Copy.through(source, `COPY (${rows}) TO STDOUT (FORMAT binary)`, target, into)
    })
  }
  return schema
}, Effect.scoped)

/** Removes the rows that were copied. */
export const drop = (to: Side, account_id: string) =>
  Effect.scoped(
    Effect.flatMap(open(to), (client) =>
      tried(() => client.query(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(schemaFor(account_id))} CASCADE`)),
    ),
  )
