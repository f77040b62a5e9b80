import { Effect, type Redacted } from "effect"
import * as CellDatabase from "../database/CellDatabase.ts"
import { Sql } from "../postgres/Sql.ts"
import { Cells } from "../routing/Cells.ts"
import { CurrentCell } from "../routing/CurrentCell.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/**
 * Distance of two positions that a server gives one after the other, once there is more than one. Each server gives the positions
 * with its own rest, so that no two events of the installation have the same one, and an event keeps its position when its
 * account moves.
 */
export const STEP = 64

/** Number of a new server, and a position past all those that were given without one. */
export interface Numbers {
  readonly number: number
  readonly after: bigint
}

/** Most servers that get a number, of which the first cell's has 0. */
export const MAX_NUMBERED = STEP - 1

/** Whether there is a number for one more server. */
export const isLeft = (sql: Sql) =>
  Effect.map(
    sql<{ readonly is_left: boolean }>`
      SELECT NOT is_called OR last_value < ${MAX_NUMBERED}::int AS is_left FROM cell_number`,
    ([row]) => row?.is_left === true,
  )

/** Gives a new server its number. From the first one on, the first cell's server gives only positions of the number 0. */
export const take = Effect.fnUntraced(function* (sql: Sql) {
  yield* sql.unsafe(`DO $$
    DECLARE last bigint;
    BEGIN
      IF (SELECT seqincrement FROM pg_sequence WHERE seqrelid = 'event_position'::regclass) = 1 THEN
        ALTER SEQUENCE event_position INCREMENT BY ${STEP} START WITH ${STEP};
        SELECT last_value INTO last FROM event_position;
        EXECUTE format('ALTER SEQUENCE event_position START WITH %s RESTART WITH %1$s', (last / ${STEP} + 2) * ${STEP});
      END IF;
    END $$`)
  const [row] = yield* sql<Numbers>`
    SELECT nextval('cell_number')::int AS number, (SELECT last_value FROM event_position) AS after`
  return row ?? (yield* Effect.die(new Error("a sequence gave no number")))
})

/** Lets a server give its positions, and its followers begin there. */
export const begin = (url: Redacted.Redacted, { after, number }: Numbers) => {
  const first = (after / BigInt(STEP) + 1n) * BigInt(STEP) + BigInt(number)
  return CellDatabase.run(url, [
    `ALTER SEQUENCE event_position INCREMENT BY ${STEP} START WITH ${STEP + number} RESTART WITH ${first}`,
    `UPDATE followers SET position = ${first - 1n}`,
  ])
}

/** The number of a server, and the first position that it gave with it. */
export interface Own {
  readonly number: number
  readonly first: bigint
}

/** Returns the number of the server of the fiber's cell; undefined as long as there is only one server. */
export const own = Effect.fnUntraced(function* (sql: Sql) {
  const [row] = yield* sql<{ readonly first: bigint; readonly step: bigint }>`
    SELECT seqstart AS first, seqincrement AS step FROM pg_sequence WHERE seqrelid = 'event_position'::regclass`
  if (row === undefined || row.step === 1n) return undefined
  return { number: Number(row.first % row.step), first: row.first } satisfies Own
})

/** Returns the last position that the server of the fiber's cell has given. */
export const lastGiven = Effect.fnUntraced(function* (sql: Sql) {
  const [row] = yield* sql<{ readonly last: bigint }>`SELECT last_value AS last FROM event_position`
  return row?.last ?? 0n
})

/**
 * Notes, if the fiber's cell has a server of its own, at home which position the cell has given last, and in the cell how many changes
 * the directory of cells has had. An older copy of one of the two databases, which would be taken for it, has not come so far.
 */
export const note = Effect.fn("PositionNumbers.note")(function* () {
  const cell = yield* CurrentCell
  const server = yield* (yield* Cells).serverOf(cell)
  if (server === undefined || server.isNode) return
  const sql = yield* Sql
  const last = yield* lastGiven(sql)
  const home = yield* HomeSql
  yield* home`
    UPDATE cells SET noted_position = ${last} WHERE name = ${cell} AND (noted_position IS NULL OR noted_position < ${last})`
  const [directory] = yield* home<{ readonly changes: bigint }>`SELECT last_value AS changes FROM cell_change`
  yield* sql`
    SELECT setval('cell_change', ${directory?.changes ?? 0n}) AS noted FROM cell_change
    WHERE last_value < ${directory?.changes ?? 0n}`
})

/** Lets the server of the fiber's cell give only positions past one that comes there from another server. */
export const passBy = (sql: Sql, position: bigint) =>
  sql.unsafe(`DO $$
    DECLARE last bigint; first bigint; step bigint;
    BEGIN
      SELECT seqstart, seqincrement INTO first, step FROM pg_sequence WHERE seqrelid = 'event_position'::regclass;
      SELECT last_value INTO last FROM event_position;
      IF last <= ${position} THEN
        -- Takes the lock of the sequence, so that no position is given meanwhile.
        EXECUTE format('ALTER SEQUENCE event_position INCREMENT BY %s', step);
        SELECT last_value INTO last FROM event_position;
        IF last <= ${position} THEN
          EXECUTE format('ALTER SEQUENCE event_position RESTART WITH %s', (${position} / step + 1) * step + first % step);
        END IF;
      END IF;
    END $$`)

/** Positions that the log of Postgres, and so a standby, has of a sequence before they are given (SEQ_LOG_VALS). */
const LOGGED_AHEAD = 32

/** Notes a position that only a copy of the fiber's cell has given which also has all that was committed until now. */
export const mark = Effect.fn("PositionNumbers.mark")(function* () {
  const server = yield* (yield* Cells).serverOf(yield* CurrentCell)
  if (server === undefined || server.isNode) return
  const sql = yield* Sql
  yield* passBy(sql, (yield* lastGiven(sql)) + BigInt(LOGGED_AHEAD * STEP))
  yield* note()
})
