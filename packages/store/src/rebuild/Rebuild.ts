import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Duration, Effect, Fiber, Schedule, type Scope } from "effect"
import * as Feed from "../feed/Feed.ts"
import type { Projection } from "./versions/Projections.ts"
import * as CatchUp from "./CatchUp.ts"
import * as Compare from "./Compare.ts"
import * as Connection from "./versions/Connection.ts"
import * as Fill from "./fill/Fill.ts"
import * as CountedProjections from "./CountedProjections.ts"
import { lockReadModel, find, Replay, ReplayRefused } from "./versions/Replay.ts"
import * as Tables from "./versions/Tables.ts"
import * as TableSizes from "./versions/TableSizes.ts"
import * as Versions from "./versions/Versions.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Interval of progress reports. */
export const REPORT_EVERY = Duration.seconds(1)
/** Events that are counted exactly; for longer logs Postgres' estimate is used. */
const COUNTED_EVENTS = 200_000
/** Memory that one index build may use for sorting. */
const INDEX_MEMORY = "256MB"
/**
 * Settings of index builds. Sorting rows that are already in key order is fast only if they are read from first to
 * last: not from the middle of another scan, and not by parallel workers. The commit that finishes the version waits for
 * the disk, and with that for all of them.
 */
export const INDEX_SETTINGS = `SET synchronous_commit = off; SET maintenance_work_mem = '${INDEX_MEMORY}';
  SET synchronize_seqscans = off; SET max_parallel_maintenance_workers = 0`

export interface Progress {
  readonly name: string
  readonly version: number
  readonly phase: "folding" | "indexing" | "catching up" | "comparing" | "done"
  readonly events: number
  /** Estimated number of events in the log for this read model. */
  readonly total: number
  readonly events_per_second: number
  readonly eta_seconds: number | null
}

export interface Options {
  readonly lanes?: number
  readonly throttle?: number
  /** Release that folds. A rebuild that another release began is not resumed. */
  readonly release: string
  readonly report?: (progress: Progress) => Effect.Effect<void>
}

/** Builds a new version beside the live one, up to the end of the log, while the live one stays in use. */
export const rebuild = Effect.fn("Projections.rebuild")(function* (name: string, options: Options) {
  const model = yield* find(name)
  yield* lockReadModel(name)
  const version = yield* build(model, options)
  return { name, version: version.version, events: Number(version.events), worked_ms: Number(version.worked_ms) }
}, Effect.scoped)

/** Folds the log into a temporary version, compares it with the live one byte for byte, and drops it. */
export const verify = Effect.fn("Projections.verify")(function* (name: string, options: Options) {
  const { sql } = yield* Replay
  const model = yield* find(name)
  yield* lockReadModel(name)
  // A verification that was killed may have left its version behind.
  yield* dropVerifying(name)
  const unfinished = Versions.newest(yield* Versions.list(sql, name), "building")
  if (unfinished !== undefined)
    return yield* new ReplayRefused({
      message: `version ${unfinished.version} of ${name} is unfinished: finish it with \`projections rebuild ${name}\`, or drop it`,
    })
  const comparison = Effect.fnUntraced(function* (version: Versions.Version) {
    yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
    // The live table holds every event of this snapshot; bring the folded table to the same moment.
    yield* CatchUp.apply(sql, model, Versions.tableOf(version), version.position)
    return yield* Compare.compare(sql, model, Versions.tableOf(version), version.created_at)
  })
  return yield* build(model, { ...options, release: VERIFYING }).pipe(
    // Ends the lanes' sessions before the comparison.
    Effect.scoped,
    Effect.flatMap((version) => sql.withTransaction(comparison(version))),
    Effect.onExit(() => dropVerifying(name)),
  )
}, Effect.scoped)

/** Takes the place of a release, so that nobody resumes a version that was folded for a comparison. */
const VERIFYING = "verify"

const dropVerifying = Effect.fnUntraced(function* (name: string) {
  const { sql } = yield* Replay
  for (const version of yield* Versions.list(sql, name))
    if (version.release === VERIFYING && (version.state === "building" || version.state === "ready"))
      yield* dropVersion(version)
})

const build = Effect.fnUntraced(function* (model: Projection, options: Options) {
  const replay = yield* Replay
  const { sql } = replay
  const { name } = model
  const { lanes = Fill.DEFAULT_LANES, release, throttle } = options
  const begun = yield* resumeOrBegin(model, release)
  const table = Versions.tableOf(begun)
  const began = yield* MonotonicClock.millis
  // Only reports need the estimate, so the fill does not wait for it.
  const estimated = yield* Effect.forkScoped(estimate(model))
  let phase: Progress["phase"] = "folding"
  let events = Number(begun.events)

  const reportProgress = Effect.gen(function* () {
    const total = Math.max(Number(begun.events), yield* Fiber.join(estimated))
    const seconds = Math.max(0.001, ((yield* MonotonicClock.millis) - began) / 1000)
    const events_per_second = Math.round((events - Number(begun.events)) / seconds)
    const isSteady = phase === "folding" && events_per_second > 0
    yield* (
      options.report?.({
        name,
        version: begun.version,
        phase,
        events,
        total: Math.max(total, events),
        events_per_second,
        eta_seconds: isSteady ? Math.round(Math.max(0, total - events) / events_per_second) : null,
      }) ?? Effect.void
    )
  })
  const enter = (next: Progress["phase"]) =>
    Effect.andThen(
      Effect.sync(() => (phase = next)),
      reportProgress,
    )
  yield* Effect.forkScoped(Effect.repeat(reportProgress, Schedule.spaced(REPORT_EVERY)))

  const pace = { lanes: Math.min(Fill.MAX_LANES, Math.max(1, lanes)), ...(throttle === undefined ? {} : { throttle }) }
  const report = (more: number) => Effect.sync(() => void (events += more))
  // Counts are made in the order of the log, without lanes.
  const filled: Effect.Effect<unknown, StoreUnavailable, Replay | Scope.Scope> =
    "count" in model
      ? CountedProjections.catchUp(replay, model, begun, { ...pace, report })
      : Fill.fill(model, begun, pace, report)
  const work = Effect.gen(function* () {
    yield* filled
    yield* enter("indexing")
    yield* index(model, table, throttle !== undefined)
    yield* enter("catching up")
    const position = yield* CatchUp.catchUp(replay, model, begun)
    const finished = yield* Versions.finish(sql, begun)
    if (finished.length === 0)
      return yield* Effect.die(new Error(`version ${begun.version} of ${name} was dropped meanwhile`))
    yield* enter("done")
    return position
  })
  const position = yield* Effect.onExit(work, () =>
    Effect.flatMap(MonotonicClock.millis, (now) => Effect.asVoid(Versions.addWorkTime(sql, begun, now - began))),
  )
  const finished = (yield* Versions.list(sql, name)).find((each) => each.version === begun.version)
  return { ...(finished ?? begun), state: "ready" as const, position }
})

/** Resumes the version that an earlier run of the same release left unfinished, or begins a new one. */
const resumeOrBegin = Effect.fnUntraced(function* (model: Projection, release: string) {
  const { log, sql } = yield* Replay
  const { name } = model
  yield* Versions.ensureLive(sql, name)
  const unfinished = Versions.newest(yield* Versions.list(sql, name), "building")
  if (unfinished !== undefined) {
    const isOurs = unfinished.release === release
    if (isOurs && (yield* Tables.isAlike(sql, name, Versions.tableOf(unfinished)))) return unfinished
    yield* dropVersion(unfinished)
  }
  // Events after this position are folded again once the fill is done; the fill itself sees all earlier ones.
  const position = "count" in model ? 0n : yield* Feed.watermark(log)
  const begin = Effect.gen(function* () {
    const version = yield* Versions.begin(sql, name, position, release)
    const table = Versions.tableOf({ name, version, state: "building" })
    yield* Tables.createLike(sql, name, table)
    if ("count" in model || model.isShared === true) yield* createPrimaryKey(model, table)
    return version
  })
  const version = yield* sql.withTransaction(begin)
  const row = (yield* Versions.list(sql, name)).find((each) => each.version === version)
  return row ?? (yield* Effect.die(new Error(`version ${version} of ${name} was dropped meanwhile`)))
})

/** Creates the primary key before the fill, for tables whose rows several streams or several pages write. */
const createPrimaryKey = Effect.fnUntraced(function* (model: Projection, table: string) {
  const { sql } = yield* Replay
  for (const each of yield* Tables.indexes(sql, model.name))
    if (each.constraint === "PRIMARY KEY") yield* sql.unsafe(Tables.indexStatement(each, model.name, table))
})

/**
 * Builds the indexes after the fill, which costs a fraction of maintaining them row by row. Two at a time, or one at a
 * time if the rebuild is throttled.
 */
const index = Effect.fnUntraced(function* (model: Projection, table: string, leavesRoom: boolean) {
  const { session, sql } = yield* Replay
  // Collects statistics and sets the visibility map, which queries of the live table rely on. Done before there are
  // indexes, so that the vacuum need not scan them.
  yield* sql.unsafe(`VACUUM (ANALYZE) "${table}"`)
  const indexes = yield* Tables.indexesByWork(sql, model.name, table)
  yield* Effect.forEach(
    indexes,
    (each) =>
      Effect.scoped(
        Effect.flatMap(session, (client) =>
          Connection.run(() =>
            client.query(INDEX_SETTINGS).then(() => client.query(Tables.indexStatement(each, model.name, table))),
          ),
        ),
      ),
    { concurrency: leavesRoom ? 1 : 2, discard: true },
  )
  yield* sql.withTransaction(Tables.finishLike(sql, model.name, table))
})

/** Estimates the number of events in the log for a read model. */
export const estimate = Effect.fnUntraced(function* (model: Projection) {
  const { sql } = yield* Replay
  // Values are part of the text, because a plan for parameters would not estimate their frequency.
  const quoted = (values: ReadonlyArray<string>) => sql.literal(values.map((value) => `'${value}'`).join(", "))
  const matches = "count" in model ? sql`type IN (${quoted(model.types)})` : sql`stream IN (${quoted([model.stream])})`
  const [counted] = yield* sql<{ readonly looked_at: bigint; readonly matching: bigint }>`
    SELECT count(*) AS looked_at, count(*) FILTER (WHERE ${matches}) AS matching
    FROM (SELECT stream, type FROM events LIMIT ${COUNTED_EVENTS}::int) AS first_ones`
  const matching = Number(counted?.matching ?? 0n)
  if (counted === undefined || counted.looked_at < COUNTED_EVENTS) return matching
  return Math.max(matching, yield* TableSizes.planned(sql, sql`SELECT FROM events WHERE ${matches}`))
})

const dropVersion = Effect.fnUntraced(function* (version: Versions.Version) {
  const { sql } = yield* Replay
  const removal = Effect.andThen(Tables.drop(sql, Versions.tableOf(version)), Versions.remove(sql, version))
  yield* sql.withTransaction(removal)
})

/** Drops a version that is not live, finished or not. */
export const drop = Effect.fn("Projections.drop")(function* (name: string, version: number) {
  const { sql } = yield* Replay
  yield* find(name)
  yield* lockReadModel(name)
  const row = (yield* Versions.list(sql, name)).find((each) => each.version === version)
  if (row === undefined) return yield* new ReplayRefused({ message: `${name} has no version ${version}` })
  if (row.state === "live") return yield* new ReplayRefused({ message: `version ${version} of ${name} is live` })
  yield* dropVersion(row)
}, Effect.scoped)
