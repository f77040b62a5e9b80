import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Cause, Context, Deferred, Effect, Fiber, Queue } from "effect"
import { availableParallelism } from "node:os"
import type pg from "pg"
import * as Copy from "../../copy/Copy.ts"
import type { StoreUnavailable } from "../../postgres/StoreUnavailable.ts"
import type { ReadModel } from "../../readmodels/ReadModel.ts"
import * as Connection from "../versions/Connection.ts"
import { Replay } from "../versions/Replay.ts"
import * as Tables from "../versions/Tables.ts"
import * as Versions from "../versions/Versions.ts"
import * as FoldThread from "./FoldThread.ts"
import { OrderedWrites, type Turn } from "./OrderedWrites.ts"
import { type SliceRows, SliceFold } from "./SliceFold.ts"
import * as Slices from "./Slices.ts"

/** Events of a slice, of which a lane holds two in memory, and which an interrupted fill folds again. */
export const SliceEvents = Context.Reference<number>("@waybill/store/rebuild/fill/Fill/SliceEvents", {
  defaultValue: () => 20_000,
})
/** Default number of lanes, which read and fold concurrently: one in this thread, and each other one in its own. */
export const DEFAULT_LANES = Math.min(4, availableParallelism())
export const MAX_LANES = 16
/** Number of slices from which on threads are worth their start. It is also how many are allocated ahead. */
export const SLICES_FOR_THREADS = 16
/** Slices per second of a throttled fill. Small slices keep others from waiting long. */
const STEPS_A_SECOND = 20
const SMALLEST_SLICE_EVENTS = 100

export interface Pace {
  readonly lanes: number
  /** Maximum number of events per second; unlimited if undefined. */
  readonly throttle?: number
}

/** Folds slices, of which `SliceFold` does it here and `FoldThread` elsewhere. */
type Folder = Pick<SliceFold, "fold">
type Allocated = readonly [slice: Slices.Slice, turn: Turn]

/** Fills a new table from the log, slice by slice in key order, resuming where an earlier run stopped. */
export const fill = Effect.fnUntraced(function* (
  model: ReadModel,
  version: Versions.Version,
  pace: Pace,
  report: (events: number) => Effect.Effect<void>,
) {
  const { session, sql, url } = yield* Replay
  const columns = yield* Tables.columns(sql, Versions.tableOf(version))
  const prepared = Effect.tap(session, (client) => Connection.run(() => prepare(client)))
  const writer = yield* prepared
  const began = yield* MonotonicClock.millis
  const isLong = yield* Deferred.make<boolean>()
  const slices = yield* allocation(version, pace, isLong)
  let events = 0

  const write = ([slice, turn]: Allocated, { events: folded, rows }: SliceRows) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => turn.ready)
      yield* Connection.run(() => writeSlice(writer, model, version, slice, folded, rows))
      events += folded
      yield* report(folded)
    }).pipe(Effect.ensuring(Effect.sync(turn.end)))

  const inPace = Effect.gen(function* () {
    if (pace.throttle === undefined) return
    const due = began + (events * 1000) / pace.throttle
    yield* Effect.sleep(`${Math.max(0, due - (yield* MonotonicClock.millis))} millis`)
  })

  /** Folds a slice while the rows of the one before wait for their turn, in two buffers that it uses in turns. */
  const lane = Effect.fnUntraced(function* (folder: Folder) {
    let buffer: ArrayBuffer | undefined
    let written: Fiber.Fiber<ArrayBuffer, StoreUnavailable> | undefined
    while (true) {
      const allocated = yield* Effect.catchIf(Effect.asSome(Queue.take(slices)), Cause.isDone, () => Effect.succeedNone)
      if (allocated._tag === "None") break
      const folded = yield* Connection.run(() => folder.fold(allocated.value[0], buffer))
      if (written !== undefined) buffer = yield* Fiber.join(written)
      written = yield* Effect.forkChild(Effect.as(write(allocated.value, folded), folded.rows.buffer))
      if (pace.throttle === undefined) continue
      buffer = yield* Fiber.join(written)
      written = undefined
      yield* inPace
    }
    if (written !== undefined) yield* Fiber.join(written)
  })

  const here = Effect.flatMap(prepared, (client) => lane(new SliceFold(client, model, columns)))
  const elsewhere = Effect.gen(function* () {
    if (!(yield* Deferred.await(isLong))) return
    const thread = yield* FoldThread.start({ url, model: model.name, columns })
    yield* Effect.raceFirst(
      Effect.promise(() => thread.started),
      Effect.exit(Queue.await(slices)),
    )
    yield* lane(thread)
  })
  const threads = pace.throttle === undefined ? pace.lanes - 1 : 0
  yield* Effect.all([here, ...Array.from({ length: threads }, () => elsewhere)].map(Effect.scoped), {
    concurrency: "unbounded",
    discard: true,
  })
}, Effect.scoped)

/** Allocates slices ahead of the lanes, and tells whether there are enough of them for threads. */
const allocation = Effect.fnUntraced(function* (
  version: Versions.Version,
  pace: Pace,
  isLong: Deferred.Deferred<boolean>,
) {
  const { session, sql } = yield* Replay
  const unfinished = [...(yield* Slices.unfinished(sql, version))]
  const client = yield* session
  yield* Connection.run(() => prepare(client))
  const events = sliceSize(pace, yield* SliceEvents)
  const writes = new OrderedWrites()
  const slices = yield* Queue.bounded<Allocated, Cause.Done | StoreUnavailable>(
    pace.throttle === undefined ? SLICES_FOR_THREADS : 1,
  )
  const allocating = Effect.gen(function* () {
    for (let count = 1; ; count++) {
      const slice = unfinished.shift() ?? (yield* Connection.run(() => Slices.allocate(client, version, events)))
      if (slice === undefined) return
      yield* Queue.offer(slices, [slice, writes.takeTurn()])
      if (count === SLICES_FOR_THREADS) yield* Deferred.succeed(isLong, true)
    }
  })
  yield* allocating.pipe(
    Effect.onExit((exit) => (exit._tag === "Success" ? Queue.end(slices) : Queue.failCause(slices, exit.cause))),
    Effect.ensuring(Deferred.succeed(isLong, false)),
    Effect.forkScoped,
  )
  return slices
})

/** Returns the number of events of a slice, of which a throttled fill writes several in a second. */
export const sliceSize = ({ throttle }: Pick<Pace, "throttle">, most: number): number =>
  throttle === undefined ? most : Math.min(most, Math.max(SMALLEST_SLICE_EVENTS, Math.round(throttle / STEPS_A_SECOND)))

/** Commits without waiting for the disk: slices lost in a server crash are filled again. */
const prepare = (client: pg.Client): Promise<unknown> => client.query("SET synchronous_commit = off; SET jit = off")

/** Writes the rows of a slice and marks it as done, in one transaction. */
const writeSlice = async (
  writer: pg.Client,
  model: ReadModel,
  version: Versions.Version,
  slice: Slices.Slice,
  events: number,
  { buffer, byteOffset, length }: SliceRows["rows"],
): Promise<void> => {
  const table = Versions.tableOf(version)
  const rows = Buffer.from(buffer, byteOffset, length)
  await writer.query("BEGIN")
  try {
    if (model.isShared === true) await intoShared(writer, model, table, rows)
    else await Copy.into(writer, `COPY "${table}" FROM STDIN (FORMAT binary)`, [rows])
    await Slices.finish(writer, version, slice, events)
    await writer.query("COMMIT")
  } catch (cause) {
    await writer.query("ROLLBACK").catch(() => {})
    throw cause
  }
}

/** Inserts rows of which other slices may have inserted some already. */
const intoShared = async (client: pg.Client, model: ReadModel, table: string, rows: Buffer): Promise<void> => {
  await client.query(`CREATE TEMP TABLE slice (LIKE "${table}") ON COMMIT DROP`)
  await Copy.into(client, `COPY slice FROM STDIN (FORMAT binary)`, [rows])
  await client.query(
    `INSERT INTO "${table}" SELECT * FROM slice ORDER BY ${model.key.join(", ")} ON CONFLICT DO NOTHING`,
  )
}
