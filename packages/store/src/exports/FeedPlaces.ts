import type { Fragment } from "effect/sql/Statement"
import * as PositionNumbers from "../cells/PositionNumbers.ts"
import type { Sql } from "../postgres/Sql.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as FeedCursor from "./FeedCursor.ts"

/** How far a cell can be read: its log is quiet up to a position, and has its last event there. */
export interface CellEnd {
  readonly own: PositionNumbers.Own | undefined
  readonly quiet: bigint
  readonly last: bigint
}

/** Events of each server that a reader has read, and how far each can be read now. */
export interface FeedPlaces {
  /** Last position that can be read on any server. */
  readonly end: bigint
  /** Whether all events of the position's server are known up to there. */
  readonly isQuiet: (position: bigint) => boolean
  /** Condition on events that they were not read. */
  readonly isUnread: (sql: Sql) => Fragment
  /** Position after which all events of a cell are looked at. */
  readonly afterIn: (cell: CellName) => bigint
  /** The cursor of a reader that has read everything up to a position, and these events last. */
  readonly advance: (upTo: bigint, at: number, read: ReadonlyArray<bigint>) => FeedCursor.FeedCursor
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const AFTER_ALL = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Compares a cursor with the present ends of the cells; a cell that does not answer has none. Returns undefined if the server of such
 * a cell is not known. Each server gives positions of its own number, which events keep in whichever cell they are.
 */
export const make = (
  from: FeedCursor.FeedCursor,
  ends: ReadonlyMap<CellName, CellEnd | undefined>,
): FeedPlaces | undefined => {
  const cells = new Map<CellName, number>()
  const quiet = new Map<number, bigint>()
  const last = new Map<number, bigint>()
  for (const [cell, end] of ends) {
    const number = end === undefined ? from.cells.get(cell) : (end.own?.number ?? FeedCursor.HOME)
    if (number === undefined) return undefined
    cells.set(cell, number)
    // Nothing more is read of a server of which a cell does not answer.
    const upTo = end?.quiet ?? from.places.get(number) ?? 0n
    quiet.set(number, least(upTo, quiet.get(number) ?? upTo))
    last.set(number, most(end?.last ?? 0n, last.get(number) ?? 0n))
  }
  const servers = new Set(cells.values())
  const places = new Map<number, bigint>([[FeedCursor.FORMER, 0n], ...from.places])
  for (const number of servers) if (!places.has(number)) places.set(number, 0n)
  const bounds = new Map([...servers].map((number) => [number, least(quiet.get(number) ?? 0n, last.get(number) ?? 0n)]))
  const end = [...bounds.values()].reduce(most, from.upTo)
  /** Positions before it are all of the first server, which had no number yet. */
  const numbered = ends.get(FIRST)?.own?.first ?? AFTER_ALL
  const numberOf = (position: bigint): number => {
    if (position < numbered) return FeedCursor.HOME
    const number = Number(position % BigInt(PositionNumbers.STEP))
    return places.has(number) ? number : FeedCursor.FORMER
  }
  const placeOf = (number: number) => places.get(number) ?? places.get(FeedCursor.FORMER) ?? 0n
  return {
    end,
    isQuiet: (position) => position <= (quiet.get(numberOf(position)) ?? AFTER_ALL),
    isUnread: (sql) => {
      const byNumber = Array.from({ length: PositionNumbers.STEP }, (_, number) => String(placeOf(number)))
      return sql`position > CASE WHEN position < ${numbered}::bigint THEN ${placeOf(FeedCursor.HOME)}::bigint
        ELSE (${byNumber}::bigint[])[position % ${PositionNumbers.STEP}::int + 1] END`
    },
    afterIn: (cell) => least(from.upTo, placeOf(cells.get(cell) ?? FeedCursor.HOME)),
    advance: (upTo, at, read) => {
      const advanced = new Map(
        [...places].map(([number, place]) => [number, most(place, least(upTo, bounds.get(number) ?? upTo))]),
      )
      // A server whose accounts have left may have no event that is as late as those that they took along.
      for (const position of read) {
        const number = numberOf(position)
        advanced.set(number, most(position, advanced.get(number) ?? 0n))
      }
      return { upTo, since: at, places: advanced, cells }
    },
  }
}
