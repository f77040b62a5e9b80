import type { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as CellName from "@waybill/store/routing/CellName"
import { Cells } from "@waybill/store/routing/Cells"
import { CurrentCell, inCell } from "@waybill/store/routing/CurrentCell"
import { Effect, Layer, type Redacted } from "effect"
import * as path from "node:path"
import type { TestContext } from "vitest"
import { Sql } from "@waybill/store/postgres/Sql"
import { SKIPPED } from "./citusSuites.ts"

/**
 * The cell of all accounts of the tests: the first one, or another one in the project `citus` of vitest, which sets it and the node that
 * holds it.
 */
const CELL: CellName.CellName = process.env["WAYBILL_TEST_CELL"] ?? CellName.FIRST
const isFirst = CELL === CellName.FIRST

/**
 * Runs the steps of a test in the cell of the accounts, so that its statements name the same tables. Skips a test that
 * cannot hold there.
 */
export const inTestCell = <E, R>(
  { skip, task }: TestContext,
  steps: Effect.Effect<unknown, E, R>,
): Effect.Effect<unknown, E, R> => {
  const { filepath, projectName = "" } = task.file
  const reason = projectName.startsWith("citus") ? SKIPPED[path.relative(ROOT, filepath)]?.[task.name] : undefined
  if (reason !== undefined) return Effect.sync(() => skip(reason))
  return isFirst ? steps : Effect.provideService(steps, CurrentCell, CELL)
}

const ROOT = path.join(import.meta.dirname, "../../..")

/** Runs what the service itself does, which begins in the first cell. */
export const asService = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(work, CurrentCell, CellName.FIRST)

/** Address for clients of a test that are not routed to cells. */
export const urlInTestCell = (url: Redacted.Redacted): Redacted.Redacted => {
  const [host = "", port = ""] = (process.env["WAYBILL_TEST_NODE"] ?? "").split(" ")
  return isFirst ? url : CellName.nodeUrlOf(url, CELL, host, Number(port))
}

/** Addresses of a replay: the one that takes changes of tables, and that of the cell. */
export const replayUrls = (url: Redacted.Redacted) => [CellName.urlOf(url, CELL), urlInTestCell(url)] as const

/**
 * Gives accounts their cell when they are first named, because most tests make them by their first event, without
 * `Placement`. All else is the directory of the service.
 */
export const withTestCell = <A, E, R>(database: Layer.Layer<A | PgClient.PgClient, E, R>) =>
  isFirst ? database : Layer.provideMerge(placing, database)

const placing = Layer.effect(
  Cells,
  Effect.gen(function* () {
    const sql = yield* Sql
    const cells = yield* Cells
    const placed = new Set<string>()
    const insert = (account_id: string) =>
      inCell(
        CellName.FIRST,
        Effect.orDie(sql`
          INSERT INTO account_cells (account_id, cell) VALUES (${account_id}, ${CELL}) ON CONFLICT DO NOTHING`),
      )
    const place = (account_id: string) =>
      Effect.suspend(() =>
        placed.has(account_id) ? Effect.void : Effect.map(insert(account_id), () => void placed.add(account_id)),
      )
    return {
      ...cells,
      of: (account_id: string) => Effect.andThen(place(Livemode.liveAccountOf(account_id)), cells.of(account_id)),
    }
  }),
)

/** Finds the sessions of the database that wait for a lock. */
export const WAITING_SESSIONS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`
