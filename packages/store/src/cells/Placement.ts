import type { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Duration, Effect, Exit } from "effect"
import { type CellName, FIRST } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import * as Databases from "../routing/Databases.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as Directory from "../routing/directory/Directory.ts"
import { Sql } from "../postgres/Sql.ts"
import { away, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Age of a month whose mail still counts when a new account gets its cell. */
export const COUNTED_FOR = Duration.days(7)

/** Gives a new account its cell, before its first commit: the open cell with the least mail of the last days. */
export const place: (account_id: string) => Effect.Effect<CellName, StoreUnavailable, PgClient.PgClient> = Effect.fn(
  "Placement.place",
)(function* (account_id) {
  const sql = yield* Sql
  const { names, of } = yield* Cells
  if ((yield* names).length > 1) {
    const months = yield* countedMonths
    const open = yield* inCell(FIRST, openCells(sql))
    if (open.length === 0) yield* Effect.logWarning("no cell is open for new accounts; the first one takes them")
    // A cell that does not answer in time gets no new account.
    const loads = yield* Effect.forEach(
      open,
      (cell) =>
        Effect.exit(Effect.timeout(inCell(cell, recentMail(sql, months)), Databases.ANSWER_WITHIN)).pipe(
          Effect.map((exit) => (Exit.isSuccess(exit) ? [{ cell, ...exit.value }] : [])),
        ),
      { concurrency: "unbounded" },
    )
    const [least] = loads.flat().toSorted((a, b) => a.mails - b.mails || a.accounts - b.accounts)
    if (least === undefined && open.length > 0) return yield* away()
    // A cell that was removed meanwhile is not among those that are open next time.
    if (least !== undefined && !(yield* assign(account_id, least.cell))) return yield* place(account_id)
  }
  return yield* of(account_id)
})

/** Cells that every process knows by now, so that none looks for their accounts in the first one. */
const openCells = (sql: Sql): Effect.Effect<ReadonlyArray<CellName>, StoreUnavailable> =>
  Effect.map(
    sql<{ readonly name: string }>`
        SELECT name FROM cells WHERE state = 'open'
          AND (name = ${FIRST} OR made_at < now() - make_interval(secs => ${Duration.toSeconds(Directory.NOTICED_AFTER)}::float8))`,
    (rows) => rows.map(({ name }) => name),
  )

/** Months whose mail counts. */
export const countedMonths = Effect.map(Clock.currentTimeMillis, (now_ms): ReadonlyArray<string> =>
  [now_ms - Duration.toMillis(COUNTED_FOR), now_ms].map((at) => Timestamp.fromMillis(at).slice(0, 7)),
)

const recentMail = (sql: Sql, months: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly accounts: number; readonly mails: number }>`
        SELECT (SELECT count(*) FROM accounts)::float8 AS accounts,
          (SELECT coalesce(sum(accepted), 0) FROM monthly_usage WHERE month = ANY(${months}::text[]))::float8 AS mails`,
    ([row]) => row ?? { accounts: 0, mails: 0 },
  )

/** Gives an account that has no events yet its cell. Returns whether there still is such a cell. */
export const assign = Effect.fn("Placement.assign")(function* (account_id: string, cell: CellName) {
  if (cell === FIRST) return true
  const sql = yield* Sql
  const assigned = yield* inCell(
    FIRST,
    sql`
      INSERT INTO account_cells (account_id, cell)
      SELECT ${account_id}, name FROM cells WHERE name = ${cell} FOR KEY SHARE RETURNING 1 AS assigned`,
  )
  return assigned.length > 0
})
