import * as Livemode from "@waybill/domain/account/Livemode"
import * as Account from "@waybill/domain/account/Account"
import * as Email from "@waybill/domain/email/Email"
import { Effect } from "effect"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as PositionNumbers from "../cells/PositionNumbers.ts"
import * as Feed from "../feed/Feed.ts"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import * as MovedSince from "../moves/MovedSince.ts"
import * as LogFile from "./LogFile.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Connections to the log of one cell. */
export interface CellLog {
  readonly cell: CellName
  readonly sql: Sql
  /** The client that tells the watermark of the log (`Replay`). */
  readonly log: Sql
  /** Whether the cell has a server of its own, which no connection of another cell reaches. */
  readonly isApart: boolean
}

/**
 * Whether a file that ends with this event belongs to this log: the event exists, or retention removed its history.
 * False for a file of another instance, and if the database was restored to an earlier state.
 */
export const belongs = Effect.fn("LogExport.belongs")(function* (logs: ReadonlyArray<CellLog>, last: LogFile.Entry) {
  for (const { sql } of logs) {
    const [event] = yield* sql<{ readonly event_id: string }>`
        SELECT event_id FROM events WHERE position = ${last.position}::bigint`
    if (event !== undefined) return event.event_id === last.event_id
  }
  const cutoffs = (yield* Effect.forEach(logs, ({ sql }) => RetentionCutoff.all(sql))).flat()
  const before = cutoffs.find(({ account_id }) => account_id === last.account_id)?.before ?? ""
  return last.stream === Email.stream && last.recorded_at < before
})

/** Whether an address was erased since: erasure changes events of the file, and renames a stream. */
export const isErasedSince = Effect.fn("LogExport.isErasedSince")(function* (
  logs: ReadonlyArray<CellLog>,
  last: LogFile.Entry,
) {
  const erasures = yield* Effect.forEach(
    logs,
    ({ sql }) => sql`
        SELECT 1 AS found FROM events
        WHERE position > ${last.position}::bigint AND stream = ${Account.stream} AND type = ${ERASED} LIMIT 1`,
  )
  return erasures.flat().length > 0
})

const ERASED: Account.Event["_tag"] = "AddressErased"

const greatest = (positions: ReadonlyArray<bigint>) => positions.reduce((most, each) => (each > most ? each : most), 0n)

/**
 * Returns the position up to which an export that begins now goes. Read before anything else, so that a later erasure
 * is behind it and resuming the file detects it. Servers that are behind go on past it, or their next events would belong
 * between those of the file.
 */
export const end = Effect.fn("LogExport.end")(function* (logs: ReadonlyArray<CellLog>) {
  const given = yield* Effect.forEach(logs, ({ log }) => PositionNumbers.lastGiven(log))
  const most = greatest(given)
  for (const [nth, { log }] of logs.entries()) if (given[nth] !== most) yield* PositionNumbers.passBy(log, most)
  const quiet = yield* Effect.forEach(logs, ({ log }) => Feed.quiet(log))
  const upTo = quiet.reduce((least, position) => (position < least ? position : least))
  return greatest(yield* Effect.forEach(logs, ({ sql }) => Feed.lastUpTo(sql, upTo)))
})

/** How the export of accounts that move goes. */
export interface Moves {
  /** Accounts whose events in a cell are copies, by the cell: those of an unfinished move, or what it has left behind. */
  readonly strays: ReadonlyMap<CellName, ReadonlySet<string>>
  /** Fails if an account has moved to another cell since: events that were not read yet may be gone. */
  readonly whole: Effect.Effect<void, LogFile.LogFileRefused | StoreUnavailable>
}

/** Looks at the moves of accounts when an export begins. */
export const moves = Effect.fn("LogExport.moves")(function* (logs: ReadonlyArray<CellLog>) {
  const sqlOf = (name: CellName) => logs.find(({ cell }) => cell === name)?.sql
  const home = sqlOf(FIRST)
  if (home === undefined) return yield* Effect.die(new Error("a database without cells"))
  const before = yield* MovedSince.look(home)
  const strays = Map.groupBy(before.moving, ([, { other }]) => other)
  const whole = Effect.flatMap(MovedSince.since(home, before, sqlOf), (moved) =>
    moved.length === 0
      ? Effect.void
      : Effect.fail(
          new LogFile.LogFileRefused({
            message: `${moved.join(", ")} moved to another cell during the export; delete the file and export the log again`,
          }),
        ),
  )
  return {
    strays: new Map([...strays].map(([cell, ofCell]) => [cell, new Set(ofCell.map(([account_id]) => account_id))])),
    whole,
  } satisfies Moves
})

/** Reads the events of one cell up to `end`, page by page. */
const reader = ({ cell, log }: CellLog, from: bigint, end: bigint, { strays }: Moves) => {
  const others = strays.get(cell)
  let after = from
  let events: ReadonlyArray<Stored> = []
  let nth = 0
  return {
    next: () => events[nth],
    take: () => nth++,
    /** Reads the next page, unless there are events left of the last one. */
    fill: Effect.gen(function* () {
      while (nth >= events.length && after < end) {
        const page = yield* Feed.read(log, { after, limit: Feed.MAX_FEED_PAGE })
        events = page.events.filter(
          ({ account_id, position }) => position <= end && others?.has(Livemode.liveAccountOf(account_id)) !== true,
        )
        nth = 0
        // An empty end of the log is below `end` if the last event is in another cell.
        after = page.upTo > after ? page.upTo : end
      }
    }),
  }
}

/**
 * Continues the chain up to `end` in the order of positions, and completes it unless an account has moved meanwhile. Passes text
 * page by page to `append`.
 */
export const write = Effect.fn("LogExport.write")(function* (
  logs: ReadonlyArray<CellLog>,
  chain: LogFile.Chain,
  end: bigint,
  append: (text: string) => Effect.Effect<void>,
  moves: Moves,
) {
  const readers = logs.map((log) => reader(log, BigInt(chain.position), end, moves))
  let lines: Array<string> = []
  while (true) {
    for (const { fill, next } of readers) if (next() === undefined) yield* fill
    let first: (typeof readers)[number] | undefined
    for (const each of readers) {
      const [position, least] = [each.next()?.position, first?.next()?.position]
      if (position !== undefined && (least === undefined || position < least)) first = each
    }
    const event = first?.next()
    if (event === undefined) break
    // A move that has begun meanwhile makes copies, which have the same positions.
    for (const each of readers) if (each.next()?.position === event.position) each.take()
    lines.push(chain.line(LogFile.entryOf(event)))
    if (lines.length < Feed.MAX_FEED_PAGE) continue
    yield* append(lines.join(""))
    lines = []
  }
  if (lines.length > 0) yield* append(lines.join(""))
  yield* moves.whole
  yield* append(chain.end())
})
