import * as MonotonicClock from "@waybill/domain/values/MonotonicClock"
import { Effect, Semaphore } from "effect"
import pg from "pg"
import type { ReadModel } from "../readmodels/ReadModel.ts"
import * as Copy from "../postgres/Copy.ts"
import { CopyBinary } from "../postgres/CopyBinary.ts"
import { aggregateOf, COLUMNS, HistoryReader } from "./HistoryReader.ts"
import { Replay } from "./Replay.ts"
import { StreamFold } from "./StreamFold.ts"
import * as Tables from "./Tables.ts"
import { OrderedWrites } from "./OrderedWrites.ts"
import * as Versions from "./Versions.ts"

/** Events of a slice, which is what a lane holds in memory and what an interrupted fill repeats. */
export const SLICE_EVENTS = 20_000
/** Default number of lanes, which read and fold concurrently. All folds share one core; Postgres uses the others. */
export const DEFAULT_LANES = 3
export const MAX_LANES = 16
/** Slices per second of a throttled fill. Small slices keep others from waiting long. */
const STEPS_A_SECOND = 20
const SMALLEST_SLICE_EVENTS = 100

export interface Pace {
  readonly lanes: number
  /** Maximum number of events per second; unlimited if undefined. */
  readonly throttle?: number
}

export interface Filled {
  /** Number of events folded by this run. */
  readonly events: number
}

type StreamKey = readonly [account: string, stream: string]
interface Slice {
  readonly nth: number
  readonly after: StreamKey
  /** Last stream of the slice; null for the slice that is open to the end of the log. */
  readonly upto: StreamKey | null
}

/** Fills a new table from the log, slice by slice in key order, resuming where an earlier run stopped. */
export const fill = Effect.fnUntraced(function* (
  model: ReadModel,
  version: Versions.Version,
  pace: Pace,
  report: (events: number) => Effect.Effect<void>,
) {
  const { session, sql } = yield* Replay
  const table = Versions.tableOf(version)
  const columns = yield* Effect.orDie(Tables.columns(sql, table))
  const size = sliceSize(pace)
  const lanes = pace.throttle === undefined ? pace.lanes : 1
  const began = yield* MonotonicClock.millis
  const allocation = Semaphore.makeUnsafe(1)
  const writes = new OrderedWrites()
  const unfinishedSlices = yield* Effect.orDie(unfinished(sql, version))
  let events = 0
  const writer = yield* session
  yield* Effect.promise(() => prepare(writer))

  const lane = Effect.gen(function* () {
    const client = yield* session
    yield* Effect.promise(() => prepare(client))
    const rows = new CopyBinary(columns)
    while (true) {
      const allocated = yield* allocation.withPermit(
        Effect.gen(function* () {
          const slice = unfinishedSlices.shift() ?? (yield* nextSlice(client, version, size))
          return slice === undefined ? undefined : ([slice, writes.takeTurn()] as const)
        }),
      )
      if (allocated === undefined) return
      const [slice, turn] = allocated
      const folded = yield* Effect.promise(async () => {
        const folded = await foldSlice(client, model, slice, rows)
        await turn.ready
        await writeSlice(writer, model, version, table, slice, rows, folded)
        return folded
      }).pipe(Effect.ensuring(Effect.sync(turn.end)))
      events += folded
      yield* report(folded)
      if (pace.throttle === undefined) continue
      const due = began + (events * 1000) / pace.throttle
      yield* Effect.sleep(`${Math.max(0, due - (yield* MonotonicClock.millis))} millis`)
    }
  })
  yield* Effect.all(
    Array.from({ length: lanes }, () => Effect.scoped(lane)),
    { concurrency: "unbounded", discard: true },
  )
  return { events } satisfies Filled
})

export const sliceSize = ({ throttle }: Pick<Pace, "throttle">): number =>
  throttle === undefined
    ? SLICE_EVENTS
    : Math.min(SLICE_EVENTS, Math.max(SMALLEST_SLICE_EVENTS, Math.round(throttle / STEPS_A_SECOND)))

/** Commits without waiting for the disk: slices lost in a server crash are filled again. */
const prepare = (client: pg.Client): Promise<unknown> => client.query("SET synchronous_commit = off; SET jit = off")

interface Row {
  readonly nth: number
  readonly after_account: string
  readonly after_stream: string
  readonly upto_account: string | null
  readonly upto_stream: string | null
}

const sliceOf = (row: Row): Slice => ({
  nth: row.nth,
  after: [row.after_account, row.after_stream],
  upto: row.upto_account === null || row.upto_stream === null ? null : [row.upto_account, row.upto_stream],
})

const unfinished = (sql: Replay["Service"]["sql"], { name, version }: Versions.Version) =>
  Effect.map(
    sql<Row>`
      SELECT nth, after_account, after_stream, upto_account, upto_stream FROM projection_slices
      WHERE name = ${name} AND version = ${version}::int AND NOT done ORDER BY nth`,
    (rows) => rows.map(sliceOf),
  )

/** Allocates the next slice. Returns undefined once the last slice, which has no end, is allocated. */
const nextSlice = (client: pg.Client, { name, version }: Versions.Version, size: number) =>
  Effect.promise(async () => {
    const { rows } = await client.query<Row>({
      name: "next slice",
      text: `
        WITH last AS (
          SELECT nth, upto_account, upto_stream FROM projection_slices
          WHERE name = $1 AND version = $2 ORDER BY nth DESC LIMIT 1
        ), begin AS (
          SELECT coalesce(max(nth), 0) + 1 AS nth, coalesce(max(upto_account), '') AS account,
            coalesce(max(upto_stream), '') AS stream, count(*) = 0 OR count(upto_account) = 1 AS more
          FROM last
        )
        SELECT b.nth, b.account AS after_account, b.stream AS after_stream, e.account_id AS upto_account,
          e.stream_id AS upto_stream
        FROM begin b LEFT JOIN LATERAL (
          SELECT account_id, stream_id FROM events
          WHERE (account_id, stream_id) > (b.account, b.stream)
          ORDER BY account_id, stream_id, version OFFSET $3 LIMIT 1
        ) AS e ON true
        WHERE b.more`,
      values: [name, version, size - 1],
    })
    const [row] = rows
    if (row === undefined) return undefined
    await client.query({
      name: "allocate slice",
      text: `
        INSERT INTO projection_slices (name, version, nth, after_account, after_stream, upto_account, upto_stream)
        VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      values: [name, version, row.nth, row.after_account, row.after_stream, row.upto_account, row.upto_stream],
    })
    return sliceOf(row)
  })

/** Reads and folds one slice, and returns the number of its events. */
const foldSlice = async (client: pg.Client, model: ReadModel, slice: Slice, rows: CopyBinary): Promise<number> => {
  const aggregate = aggregateOf(model.stream)
  rows.begin()
  const add = adderOf(model, rows)
  const histories = new HistoryReader(aggregate, new StreamFold(model, aggregate), (found) => {
    for (const row of found) add(row)
  })
  await Copy.out(client, readStatement(model, slice), (reader, from, to) => histories.row(reader, from, to))
  histories.end()
  rows.end()
  return histories.events
}

/** Writes the rows of a slice and marks it as done, in one transaction. */
const writeSlice = async (
  writer: pg.Client,
  model: ReadModel,
  { name, version }: Versions.Version,
  table: string,
  slice: Slice,
  rows: CopyBinary,
  events: number,
): Promise<void> => {
  await writer.query("BEGIN")
  try {
    if (model.isShared === true) await intoShared(writer, model, table, rows)
    else await Copy.into(writer, `COPY "${table}" FROM STDIN (FORMAT binary)`, rows.chunks)
    await writer.query({ name: "slice is done", text: DONE, values: [name, version, slice.nth, events] })
    await writer.query("COMMIT")
  } catch (cause) {
    await writer.query("ROLLBACK").catch(() => {})
    throw cause
  }
}

const DONE = `
  WITH done AS (UPDATE projection_slices SET done = true WHERE name = $1 AND version = $2 AND nth = $3)
  UPDATE projection_versions SET events = events + $4 WHERE name = $1 AND version = $2`

const readStatement = ({ stream }: ReadModel, { after, upto }: Slice): string => {
  const keyLiteral = (key: StreamKey) => `(${key.map((part) => pg.escapeLiteral(part)).join(", ")})`
  const end = upto === null ? "" : `AND (account_id, stream_id) <= ${keyLiteral(upto)}`
  return `COPY (SELECT ${COLUMNS} FROM events
    WHERE (account_id, stream_id) > ${keyLiteral(after)} ${end} AND stream = ${pg.escapeLiteral(stream)}
    ORDER BY account_id, stream_id, version) TO STDOUT (FORMAT binary)`
}

/** Adds rows to the copy, and each row that several streams share only once. */
const adderOf = (model: ReadModel, copy: CopyBinary): ((row: object) => void) => {
  if (model.isShared !== true) return (row) => copy.add(row)
  const seen = new Set<string>()
  return (row) => {
    const fields = row as Readonly<Record<string, unknown>>
    const key = model.key.map((column) => String(fields[column])).join(" ")
    if (seen.has(key)) return
    seen.add(key)
    copy.add(row)
  }
}

/** Inserts rows of which other slices may have inserted some already. */
const intoShared = async (
  client: pg.Client,
  model: ReadModel,
  table: string,
  { chunks }: CopyBinary,
): Promise<void> => {
  await client.query(`CREATE TEMP TABLE slice (LIKE "${table}") ON COMMIT DROP`)
  await Copy.into(client, `COPY slice FROM STDIN (FORMAT binary)`, chunks)
  await client.query(
    `INSERT INTO "${table}" SELECT * FROM slice ORDER BY ${model.key.join(", ")} ON CONFLICT DO NOTHING`,
  )
}
