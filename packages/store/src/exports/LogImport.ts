import { PgTypes } from "@effect/sql-pg"
import type * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Aggregates from "@waybill/domain/stream/Aggregates"
import { Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import * as PositionNumbers from "../cells/PositionNumbers.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as Iso from "../postgres/Iso.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import type { CellLog } from "./LogExport.ts"
import * as LogFile from "./LogFile.ts"
import { aggregateOf } from "../log/aggregateOf.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import type { Client, Sql } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Events of one transaction of an import, and of one query for existing events. */
export const PAGE_EVENTS = 1_000

export interface Imported {
  readonly events: number
  /** Events that an earlier run had already imported. */
  readonly already_there: number
  readonly position: number
}

const refuse = (message: string) => new LogFile.LogFileRefused({ message })

/** Finds the cell of an account, or gives it one. */
export type CellOf = (account_id: string) => Effect.Effect<CellName, StoreUnavailable>

/**
 * Imports a file into the cells of a log that is empty or holds the beginning of the same log, as after an interrupted import. Every
 * line is checked before its page is written; each server gets its part of a page completely or not at all.
 */
export const load = Effect.fn("LogImport.load")(function* (
  logs: ReadonlyArray<CellLog>,
  cellOf: CellOf,
  lines: AsyncIterable<string>,
  report: (events: number) => Effect.Effect<void> = () => Effect.void,
) {
  const servers = yield* Effect.forEach(partsOf(logs), (part) =>
    Effect.map(lastPosition(part), (before) => ({ ...part, before, last: before })),
  )
  const chain = new LogFile.Chain()
  const reader = lines[Symbol.asyncIterator]()
  let already_there = 0
  while (!chain.isEnded) {
    const after = chain.position
    const page: Array<LogFile.Entry> = []
    while (page.length < PAGE_EVENTS && !chain.isEnded) {
      const { done, value } = yield* Effect.promise(() => reader.next())
      if (done === true)
        return yield* refuse(`the file is incomplete: it stops after ${chain.events} events, without its end line`)
      const entry = yield* check(chain, value)
      if (entry !== undefined) page.push(entry)
    }
    const all = yield* located(cellOf, page)
    // The first server comes first: an account is known to be there by its events.
    for (const server of servers) {
      const own = all.filter(({ cell }) => server.logs.some((log) => log.cell === cell))
      const existing = own.filter(({ entry }) => entry.position <= server.before)
      yield* requireSame(
        server,
        existing.map(({ entry }) => entry),
        after,
        Math.min(server.before, chain.position),
      )
      already_there += existing.length
      const rest = own.slice(existing.length)
      if (rest.length > 0) yield* write(server, rest, server.last)
      server.last = rest.at(-1)?.entry.position ?? server.last
    }
    yield* report(chain.events)
  }
  if ((yield* Effect.promise(() => reader.next())).done !== true)
    return yield* refuse("the file continues after its end")
  yield* requireComplete(logs, chain)
  // A node of Citus gives the positions of its cell itself, and a server has events of the whole file.
  for (const { log } of logs) {
    yield* PositionNumbers.passBy(log, BigInt(chain.position))
    yield* Epoch.beginImported(log, BigInt(chain.position))
  }
  return { events: chain.events, already_there, position: chain.position } satisfies Imported
})

/** Cells whose tables one connection reaches. */
interface Part {
  readonly sql: Sql
  readonly logs: ReadonlyArray<CellLog>
}

const partsOf = (logs: ReadonlyArray<CellLog>): ReadonlyArray<Part> => {
  const [first] = logs
  if (first === undefined) return []
  return [
    { sql: first.sql, logs: logs.filter(({ isApart }) => !isApart) },
    ...logs.filter(({ isApart }) => isApart).map((log) => ({ sql: log.sql, logs: [log] })),
  ]
}

/** Schema of a cell's tables, for a connection to its server. */
const schemaOf = ({ cell, isApart }: CellLog): string => (isApart ? FIRST : cell)

interface Located {
  readonly cell: CellName
  readonly entry: LogFile.Entry
}

const located = (
  cellOf: CellOf,
  entries: ReadonlyArray<LogFile.Entry>,
): Effect.Effect<ReadonlyArray<Located>, StoreUnavailable> =>
  Effect.forEach(entries, (entry) => Effect.map(cellOf(entry.account_id), (cell) => ({ cell, entry })))

const lastPosition = Effect.fnUntraced(function* ({ logs }: Part) {
  const positions = yield* Effect.forEach(
    logs,
    ({ sql }) => sql<{ readonly position: bigint }>`SELECT coalesce(max(position), 0) AS position FROM events`,
  )
  return Math.max(...positions.flat().map(({ position }) => Number(position)))
})

/** Types of which files from before the first release have a version 2. Its data has the form that is now the first. */
const RENUMBERED: ReadonlySet<string> = new Set<DomainEvent.Tag>(["KeyCreated", "TestKeyCreated"])

const renumber = (entry: LogFile.Entry): LogFile.Entry =>
  RENUMBERED.has(entry.type) ? { ...entry, meta: { ...entry.meta, schema_version: 1 } } : entry

/** Checks a line. A line with a valid hash may still be unreadable for this release. */
const check = (chain: LogFile.Chain, line: string) =>
  Effect.try({
    try: () => {
      const taken = chain.take(line)
      if (taken === undefined) return undefined
      const entry = renumber(taken)
      const { position, stream, type } = entry
      if (Aggregates.streamOf(type) !== stream)
        throw refuse(`position ${position}: ${type} belongs to a newer release than this one`)
      try {
        RecordedEvents.eventOf(aggregateOf(stream), entry)
      } catch (cause) {
        throw refuse(`position ${position}: invalid ${type}: ${cause instanceof Error ? cause.message : ""}`)
      }
      return entry
    },
    catch: (error) => (error instanceof LogFile.LogFileRefused ? error : refuse(String(error))),
  })

/** Checks that existing events are exactly those of the file, without gaps. */
const requireSame = Effect.fnUntraced(function* (
  { logs }: Part,
  existing: ReadonlyArray<LogFile.Entry>,
  after: number,
  upTo: number,
) {
  if (upTo <= after) return
  const found = yield* Effect.forEach(
    logs,
    ({ sql }) => sql<PackedEvent.Row>`
        SELECT position, event_id, account_id, stream_id, stream, version, type, ${PackedSql.columns(sql)},
          ${Iso.iso(sql, "recorded_at")} AS recorded_at
        FROM events WHERE position > ${after}::bigint AND position <= ${upTo}::bigint
        ORDER BY position LIMIT ${PAGE_EVENTS + 1}::int`,
  )
  const rows = found.flat().toSorted((a, b) => Number(a.position - b.position))
  const differs = rows.findIndex(
    (row, nth) => JSON.stringify(LogFile.entryOf(PackedEvent.open(row))) !== JSON.stringify(existing[nth]),
  )
  if (differs >= 0 || rows.length < existing.length) {
    const position = rows[differs]?.position ?? existing[rows.length]?.position
    return yield* refuse(`position ${position}: this database has a different log; import into an empty database`)
  }
})

/** Writes the events of a page to the cells of a server in one transaction. */
const write = (part: Part, page: ReadonlyArray<Located>, expected: number) => {
  const { logs, sql } = part
  const last = page.at(-1)?.entry.position ?? 0
  const { driver } = sql
  return driver
    .withTransaction(
      Effect.gen(function* () {
        // Excludes other writers, because the file determines positions.
        for (const log of logs) yield* sql`LOCK TABLE ${sql(schemaOf(log))}.events IN SHARE ROW EXCLUSIVE MODE`
        if ((yield* lastPosition(part)) !== expected)
          return yield* refuse("another process writes to this log: stop the service while importing")
        for (const log of logs) {
          const rows = page.flatMap(({ cell, entry }) => (cell === log.cell ? [entry] : []))
          if (rows.length > 0) yield* insert(driver, schemaOf(log), rows)
        }
        yield* PositionNumbers.passBy(sql, BigInt(last))
      }),
    )
    .pipe(
      Effect.catchIf(isDuplicate, () =>
        Effect.fail(refuse(`the events up to position ${last} contain a version of a stream twice`)),
      ),
      SqlErrors.orUnavailable,
    )
}

const isDuplicate = (error: unknown): boolean =>
  error instanceof SqlError.SqlError && error.reason._tag === "UniqueViolation"

/** Inserts events. The answer serves only Citus: without one it loses the SQLSTATE of an error. */
const insert = <E>(sql: Client<E>, schema: string, rows: ReadonlyArray<LogFile.Entry>) => {
  const columns = rows.map(PackedEvent.columnsOf)
  const jsonb = (values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.jsonb))
  return sql`
    INSERT INTO ${sql(schema)}.events (position, account_id, stream_id, version, stream, type, event_id, data, meta, packed, recorded_at)
    SELECT * FROM unnest(${rows.map((row) => String(row.position))}::bigint[], ${rows.map((row) => row.account_id)}::text[],
      ${rows.map((row) => row.stream_id)}::text[], ${rows.map((row) => row.version)}::int[],
      ${rows.map((row) => row.stream)}::text[], ${rows.map((row) => row.type)}::text[],
      ${rows.map((row) => row.event_id)}::text[], ${jsonb(columns.map(({ data }) => data))},
      ${jsonb(columns.map(({ meta }) => meta))}, ${Result.getOrThrow(
        PgTypes.array(
          columns.map(({ packed }) => packed),
          PgTypes.OID.text,
        ),
      )},
      ${rows.map((row) => row.recorded_at)}::timestamptz[])
    RETURNING 1 AS written`
}

/** Checks that the database has as many events as the file, and that no stream has a gap. */
const requireComplete = Effect.fnUntraced(function* (
  logs: ReadonlyArray<CellLog>,
  { events, position }: LogFile.Chain,
) {
  const found = yield* Effect.forEach(
    logs,
    ({ sql }) => sql<{ readonly events: bigint; readonly after: bigint; readonly gap: string | null }>`
        SELECT count(*) FILTER (WHERE position <= ${position}::bigint) AS events,
          count(*) FILTER (WHERE position > ${position}::bigint) AS after,
          (SELECT stream_id FROM events GROUP BY account_id, stream_id HAVING max(version) <> count(*) LIMIT 1) AS gap
        FROM events`,
  )
  const counts = found.flat()
  const after = counts.reduce((sum, each) => sum + each.after, 0n)
  if (after > 0n) return yield* refuse(`this database has continued: ${after} events follow the last one of the file`)
  const existing = counts.reduce((sum, each) => sum + each.events, 0n)
  if (existing !== BigInt(events))
    return yield* refuse(`the file has ${events} events, but the database has ${existing}`)
  const gap = counts.find((each) => each.gap !== null)?.gap
  if (gap !== undefined) return yield* refuse(`the history of ${gap} has a gap`)
})
