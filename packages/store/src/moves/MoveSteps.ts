import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import type { SqlConnection } from "effect/sql"
import { Cells } from "../routing/Cells.ts"
import * as AccountNames from "../routing/directory/AccountNames.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as CellSchema from "../cells/CellSchema.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as DirectoryRows from "../routing/directory/DirectoryRows.ts"
import type { Sql } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"

/** Steps of a move. Until the last one the account is in its old cell. */
export type Step = "draining" | "fenced" | "cleaning"

export interface Begun {
  /** The cell that the account leaves. */
  readonly from: CellName
  readonly step: Step
}

/** Runs a move while no other process works on a move of the account. The connection with its lock may hold others too. */
export const alone = <A, E, R>(
  sql: Sql,
  account_id: AccountId,
  work: (connection: SqlConnection.Connection) => Effect.Effect<A, E, R>,
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* inCell(FIRST, sql.reserve)
      const lock = (name: string) =>
        SqlErrors.orUnavailable(
          connection.execute(
            `SELECT ${name}($1::int, hashtext($2::text)) AS is_taken`,
            [DirectoryRows.MOVES, account_id],
            undefined,
          ),
        )
      const [row] = (yield* lock("pg_try_advisory_lock")) as ReadonlyArray<{ readonly is_taken: boolean }>
      if (row?.is_taken !== true)
        return yield* new CellSchema.CellRefused({ message: `another process is moving ${account_id}` })
      yield* Effect.addFinalizer(() => Effect.ignoreCause(lock("pg_advisory_unlock")))
      if (yield* isHeld(sql, [DirectoryRows.ERASURES]))
        return yield* new CellSchema.CellRefused({
          message: `an address is being erased: move ${account_id} when that has ended`,
        })
      return yield* work(connection)
    }),
  )

/**
 * Runs an erasure while no process moves an account, so that the address is masked both in its rows and in their copies. A move
 * that was stopped does not matter: both cells have the account's rows until it is continued. Each side takes its lock before it
 * looks for those of the other, so that at least one of them sees the other.
 */
export const whileNoneMoves = <A, E, R>(sql: Sql, erasure: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      if ((yield* Cells).isCertainlyAlone()) return yield* erasure
      const connection = yield* inCell(FIRST, sql.reserve)
      const run = (statement: string) =>
        SqlErrors.orUnavailable(
          connection.execute(`SELECT ${statement}::text AS done`, [DirectoryRows.ERASURES], undefined),
        )
      yield* run("pg_advisory_lock_shared($1::int, 1)")
      yield* Effect.addFinalizer(() => Effect.ignoreCause(run("pg_advisory_unlock_shared($1::int, 1)")))
      if (yield* isHeld(sql, [DirectoryRows.MOVES, DirectoryRows.SWITCHES]))
        return yield* new CellSchema.CellRefused({
          message: "an account is moving to another cell: erase the address when `waybill accounts move` has ended",
        })
      return yield* erasure
    }),
  )

/** Whether a process holds one of our advisory locks of these classes. The second key 0 belongs to others. */
const isHeld = (sql: Sql, classes: ReadonlyArray<number>) =>
  Effect.map(
    inCell(
      FIRST,
      sql`
          SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND objid::bigint <> 0
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND classid::bigint = ANY(${classes}::bigint[]) LIMIT 1`,
    ),
    ({ length }) => length > 0,
  )

interface Entry {
  readonly cell: CellName
  readonly moving_to: CellName | null
  readonly left: CellName | null
  readonly step: Step | null
}

/** Begins a move in the directory, or finds the interrupted move that is to be continued. */
export const begin = Effect.fnUntraced(function* (sql: Sql, account_id: AccountId, to: CellName) {
  const [at] = yield* inCell(
    FIRST,
    sql<Pick<Entry, "cell">>`SELECT cell FROM account_cells WHERE account_id = ${account_id}`,
  )
  // Read in its cell without the directory, where requests of an account that was fenced by a killed move wait for this one.
  const here = sql`SELECT FROM accounts WHERE account_id = ${account_id}`
  const isThere = (yield* inCell(at?.cell ?? FIRST, here)).length > 0
  return yield* inCell(
    FIRST,
    sql.withTransaction(
      Effect.gen(function* () {
        const refuse = (message: string) => Effect.fail(new CellSchema.CellRefused({ message }))
        const [target] = yield* sql<{ readonly state: string }>`SELECT state FROM cells WHERE name = ${to}`
        if (target === undefined) return yield* refuse(`there is no cell ${to}`)
        yield* sql`
          INSERT INTO account_cells (account_id, cell) VALUES (${account_id}, ${FIRST}) ON CONFLICT (account_id) DO NOTHING`
        const [entry] = yield* sql<Entry>`
          SELECT cell, moving_to, left_cell AS left, step FROM account_cells WHERE account_id = ${account_id} FOR UPDATE`
        if (!isThere) return yield* refuse(`there is no account ${account_id}`)
        if (entry?.step === "cleaning" && entry.left !== null) {
          if (entry.cell !== to)
            return yield* refuse(
              `${account_id} has moved to ${entry.cell} and is not cleaned up: finish that move first`,
            )
          return { from: entry.left, step: "cleaning" } satisfies Begun
        }
        if (entry?.moving_to !== null && entry?.moving_to !== undefined && entry.moving_to !== to)
          return yield* refuse(`${account_id} is moving to ${entry.moving_to}: finish that move first`)
        if (entry === undefined || entry.cell === to) return yield* refuse(`${account_id} is in ${to} already`)
        if (target.state !== "open") return yield* refuse(`the cell ${to} takes no accounts: it is ${target.state}`)
        yield* sql`
          UPDATE account_cells SET moving_to = ${to}, step = 'draining', changed_at = now()
          WHERE account_id = ${account_id}`
        yield* CellSchema.noteChange(sql)
        return { from: entry.cell, step: "draining" } satisfies Begun
      }),
    ),
  )
})

/** Finds an interrupted move that can be given up, because the account is still in its old cell. */
export const unfinished = Effect.fnUntraced(function* (sql: Sql, account_id: AccountId) {
  const refuse = (message: string) => Effect.fail(new CellSchema.CellRefused({ message }))
  const [entry] = yield* inCell(
    FIRST,
    sql<Entry>`SELECT cell, moving_to, left_cell AS left, step FROM account_cells WHERE account_id = ${account_id}`,
  )
  if (entry === undefined || entry.moving_to === null) return yield* refuse(`${account_id} is not moving`)
  if (entry.step === "cleaning")
    return yield* refuse(`${account_id} has moved to ${entry.cell}: run the move again, which deletes its former rows`)
  return { from: entry.cell, to: entry.moving_to }
})

/** Sets the step of a move. */
export const moveTo = (sql: Sql, account_id: string, step: Step) =>
  inCell(
    FIRST,
    sql.withTransaction(
      Effect.andThen(
        sql`UPDATE account_cells SET step = ${step}, changed_at = now() WHERE account_id = ${account_id}`,
        CellSchema.noteChange(sql),
      ),
    ),
  )

/**
 * Lets the requests of an account go on in the cell that it is in. Returns whether that is the old one: a switch whose commit was not
 * confirmed may have happened.
 */
export const giveUp = (sql: Sql, account_id: string) =>
  inCell(
    FIRST,
    sql.withTransaction(
      Effect.gen(function* () {
        const stayed = yield* sql`
          UPDATE account_cells SET step = 'draining', changed_at = now()
          WHERE account_id = ${account_id} AND step = 'fenced' RETURNING 1 AS stayed`
        yield* CellSchema.noteChange(sql)
        return stayed.length > 0
      }),
    ),
  )

/** Shows every process that the account is moving until the end of the transaction, even if the mover dies before. */
export const announceSwitch = (sql: Sql, account_id: string) => sql`
  SELECT 1 AS taken FROM (
    SELECT pg_advisory_xact_lock_shared(${DirectoryRows.SWITCHES}::int, hashtext(${account_id}))::text) AS taking`

/** Lets nothing more be written for an account in the cell that it leaves. */
export const leave = (sql: Sql, schema: string, account_id: string) => sql`
  INSERT INTO ${sql(`${schema}.left_accounts`)} (account_id) VALUES (${account_id}) ON CONFLICT DO NOTHING`

/** Lets an account be written for in a cell, because it is there again, or has not left. */
export const stay = (sql: Sql, schema: string, account_id: string) => sql`
  DELETE FROM ${sql(`${schema}.left_accounts`)} WHERE account_id = ${account_id}`

/** Whether a cell has an account, and neither copies of it nor what it has left behind. */
export const isLive = (sql: Sql, schema: string, account_id: string) =>
  Effect.map(
    sql`
      SELECT FROM ${sql(`${schema}.accounts`)} WHERE account_id = ${account_id}
        AND NOT EXISTS (SELECT FROM ${sql(`${schema}.left_accounts`)} WHERE account_id = ${account_id})`,
    ({ length }) => length > 0,
  )

/**
 * Names the new cell of an account, and its keys, users and hosts, in the directory. Between cells of the first server, this is a part of
 * the transaction that copies the last rows.
 */
export const arrive = Effect.fnUntraced(function* (
  sql: Sql,
  account_id: string,
  to: CellName,
  names: ReadonlyArray<AccountNames.Name>,
) {
  // A switch that comes late, after the move was given up, or again, after one that was not confirmed, changes nothing.
  const arrived = yield* sql`
    UPDATE account_cells SET left_cell = cell, cell = ${to}, moving_to = ${to}, step = 'cleaning', changed_at = now()
    WHERE account_id = ${account_id} AND moving_to = ${to} AND step = 'fenced' RETURNING 1 AS arrived`
  if (arrived.length === 0)
    return yield* new CellSchema.CellRefused({
      message: `the move of ${account_id} was given up, or its end was not confirmed: run the command again`,
    })
  yield* AccountNames.insert(sql, names)
  yield* CellSchema.noteChange(sql)
})

/** Ends a move once the rows in the old cell are deleted. */
export const finish = (sql: Sql, account_id: string) =>
  inCell(
    FIRST,
    sql.withTransaction(
      Effect.andThen(
        sql`
            UPDATE account_cells SET moving_to = NULL, step = NULL, left_cell = NULL, changed_at = now()
            WHERE account_id = ${account_id}`,
        CellSchema.noteChange(sql),
      ),
    ),
  )

/** Position of the account's last event in a cell. */
export const lastPosition = (sql: Sql, schema: string, accounts: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly last: bigint | null }>`
      SELECT max(position) AS last FROM ${sql(`${schema}.events`)} WHERE account_id = ANY(${accounts}::text[])`,
    ([row]) => row?.last ?? 0n,
  )
