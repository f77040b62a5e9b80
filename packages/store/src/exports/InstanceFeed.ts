import { Duration, Effect } from "effect"
import * as PositionNumbers from "../cells/PositionNumbers.ts"
import * as Feed from "../feed/Feed.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import type * as PackedEvent from "../packed/PackedEvent.ts"
import { Sql } from "../postgres/Sql.ts"
import type { CellName } from "../routing/CellName.ts"
import * as Cells from "../routing/Cells.ts"
import * as Databases from "../routing/Databases.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import type * as FeedCursor from "./FeedCursor.ts"
import * as FeedPlaces from "./FeedPlaces.ts"
import * as ArrivedAccounts from "./ArrivedAccounts.ts"

/** Times that a page is read again at once because an account has arrived in another cell meanwhile. */
const TRIES = 5
/** Time limit for the pages of the cells. */
const READ_WITHIN = Duration.seconds(10)

export interface InstancePage {
  readonly events: ReadonlyArray<Stored>
  readonly cursor: FeedCursor.FeedCursor
  /** Whether more events follow at once. */
  readonly more: boolean
  /** Cells that did not answer. Their events come later. */
  readonly missing: ReadonlyArray<CellName>
}

/**
 * Reads the events of all accounts in all cells. Those of an account come in the order of its log, also while it moves from cell to
 * cell, and each of them once.
 */
export const read = Effect.fn("InstanceFeed.read")(function* (from: FeedCursor.FeedCursor, limit = Feed.MAX_FEED_PAGE) {
  for (let tries = 0; tries < TRIES; tries++) {
    const page = yield* readOnce(from, Math.min(limit, Feed.MAX_FEED_PAGE))
    if (page !== undefined) return page
  }
  return { events: [], cursor: from, more: true, missing: [] } satisfies InstancePage
})

const readOnce = Effect.fnUntraced(function* (from: FeedCursor.FeedCursor, limit: number) {
  const sql = yield* Sql
  const home = yield* HomeSql
  const before = yield* ArrivedAccounts.look(home, from.since)
  const { refresh } = yield* Cells.Cells
  yield* refresh
  const visits = yield* Databases.all
  const ends = yield* Effect.forEach(visits, (visit) => Databases.inTime(visit, endOf(sql), READ_WITHIN), {
    concurrency: "unbounded",
  })
  const places = FeedPlaces.make(from, new Map(visits.map(({ name }, nth) => [name, ends[nth]])))
  const missing = visits.flatMap(({ name }, nth) => (ends[nth] === undefined ? [name] : []))
  const nothing: InstancePage = { events: [], cursor: from, more: false, missing }
  // The number of its server is not known, so nobody can say which events of other cells came from there.
  if (places === undefined) return nothing
  const reached = visits.filter(({ name }) => !missing.includes(name))
  const pages = yield* Effect.forEach(
    reached,
    (visit) => Databases.inTime(visit, unread(sql, places, visit.name, before.cells, limit), READ_WITHIN),
    { concurrency: "unbounded" },
  )
  const lost = reached.filter((_, nth) => pages[nth] === undefined).map(({ name }) => name)
  // Events of an account in one of them may come before those that were found.
  if (lost.length > 0) return { ...nothing, missing: [...missing, ...lost] }
  if (!(yield* ArrivedAccounts.isSame(home, before))) return undefined
  const rows = new Map(pages.flatMap((ofCell) => (ofCell ?? []).map((row) => [row.position, row] as const)))
  const inOrder = [...rows.values()].toSorted((a, b) => (a.position < b.position ? -1 : 1))
  const end = inOrder.findIndex(({ position }) => !places.isQuiet(position))
  const readable = end < 0 ? inOrder : inOrder.slice(0, end)
  const taken = readable.slice(0, limit)
  const more = readable.length > limit
  const next = more ? taken.at(-1) : inOrder[end]
  const upTo = next === undefined ? places.end : more ? next.position : next.position - 1n
  return {
    events: yield* Feed.opened(taken),
    cursor: places.advance(
      upTo,
      before.at,
      taken.map(({ position }) => position),
    ),
    more,
    missing,
  } satisfies InstancePage
})

/** How far a cell can be read now. */
const endOf = Effect.fnUntraced(function* (sql: Sql) {
  const quiet = yield* Feed.quiet(sql)
  const last = yield* Feed.lastUpTo(sql, quiet)
  return { own: yield* PositionNumbers.own(sql), quiet, last } satisfies FeedPlaces.CellEnd
})

/** The first events of a cell that were not read, one more than the limit if there are as many. */
const unread = Effect.fnUntraced(function* (
  sql: Sql,
  places: FeedPlaces.FeedPlaces,
  cell: CellName,
  arrived: ReadonlyMap<string, CellName>,
  limit: number,
) {
  const after = places.afterIn(cell)
  const isUnread = sql`${places.isUnread(sql)} AND ${yield* StrayAccounts.isOwn(sql, "account_id")}`
  const page = sql<PackedEvent.Row>`
    SELECT ${Feed.columns(sql)} FROM events
    WHERE position > ${after}::bigint AND position <= ${places.end}::bigint AND ${isUnread}
    ORDER BY position LIMIT ${limit + 1}::int`
  const accounts = ArrivedAccounts.modesOf(arrived, cell)
  if (accounts.length === 0) return yield* page
  // Their events have the positions of the cell that they come from, which may be lower.
  const brought = sql<PackedEvent.Row>`
    SELECT ${Feed.columns(sql)} FROM events
    WHERE account_id = ANY(${accounts}::text[]) AND position <= ${after}::bigint AND ${isUnread}
    ORDER BY position LIMIT ${limit + 1}::int`
  return [...(yield* brought), ...(yield* page)]
})
