import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { Duration, Effect, Schedule, type Scope } from "effect"
import * as Feed from "../feed/Feed.ts"
import type { Projection } from "../readmodels/Projections.ts"
import * as CatchUp from "./CatchUp.ts"
import { compare } from "./Compare.ts"
import * as Fill from "./Fill.ts"
import * as CountedProjections from "./CountedProjections.ts"
import { alone, find, Replay, ReplayRefused } from "./Replay.ts"
import * as Tables from "./Tables.ts"
import * as Versions from "./Versions.ts"

/** How often somebody who watches is told how far it is. */
export const REPORT_EVERY = Duration.seconds(1)
/** Below so many events they are counted; above, Postgres is asked for its estimate. */
const COUNTED_EVENTS = 200_000
/** Memory that one index may take for sorting. */
const INDEX_MEMORY = "256MB"
/**
 * Rows that come in the order of the key are hardly sorted, but only if they are gone through from the first to the last:
 * neither from where somebody else's scan is at the moment, nor shared out among processes.
 */
const INDEX_SETTINGS = `SET maintenance_work_mem = '${INDEX_MEMORY}'; SET synchronize_seqscans = off;
  SET max_parallel_maintenance_workers = 0`

export interface Progress {
  readonly name: string
  readonly version: number
  readonly phase: "folding" | "indexing" | "catching up" | "comparing" | "done"
  readonly events: number
  /** What the log is estimated to hold for it. */
  readonly total: number
  readonly events_per_second: number
  readonly eta_seconds: number | null
}

export interface Options {
  readonly lanes?: number
  readonly throttle?: number
  /** Which release folds. What another has begun is not gone on with. */
  readonly release: string
  readonly report?: (progress: Progress) => Effect.Effect<void>
}

/** Builds a new version beside the live one, up to the end of the log. Reads and writes of the live one go on. */
export const rebuild = Effect.fn("Projections.rebuild")(function* (name: string, options: Options) {
  const model = yield* find(name)
  yield* alone(name)
  const version = yield* build(model, options)
  return { name, version: version.version, events: Number(version.events), worked_ms: Number(version.worked_ms) }
}, Effect.scoped)

/** Folds the log into a table of its own, compares it with the live one byte for byte, and throws it away. */
export const verify = Effect.fn("Projections.verify")(function* (name: string, options: Options) {
  const { sql } = yield* Replay
  const model = yield* find(name)
  yield* alone(name)
  // Left by one that was killed.
  yield* dropVerifying(name)
  const unfinished = Versions.newest(yield* Versions.list(sql, name), "building")
  if (unfinished !== undefined)
    return yield* new ReplayRefused({
      message: `version ${unfinished.version} of ${name} is unfinished: rebuild it to its end, or drop it`,
    })
  const comparison = Effect.fnUntraced(function* (version: Versions.Version) {
    yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
    // What this snapshot sees of the log is in the live table too; the fold is brought to the same moment.
    yield* CatchUp.apply(sql, model, Versions.tableOf(version), version.position)
    return yield* compare(sql, model, Versions.tableOf(version))
  })
  return yield* build(model, { ...options, release: VERIFYING }).pipe(
    // Its lanes have let go of the table by then.
    Effect.scoped,
    Effect.flatMap((version) => Effect.orDie(sql.withTransaction(comparison(version)))),
    Effect.ensuring(dropVerifying(name)),
  )
}, Effect.scoped)

/** In the place of a release: nobody goes on with what was folded to be compared. */
const VERIFYING = "verify"

const dropVerifying = Effect.fnUntraced(function* (name: string) {
  const { sql } = yield* Replay
  for (const version of yield* Versions.list(sql, name))
    if (version.release === VERIFYING && (version.state === "building" || version.state === "ready"))
      yield* dropVersion(version)
})

const build = Effect.fnUntraced(function* (model: Projection, options: Options) {
  const { sql } = yield* Replay
  const { name } = model
  const { lanes = Fill.DEFAULT_LANES, release, throttle } = options
  const begun = yield* resumeOrBegin(model, release)
  const table = Versions.tableOf(begun)
  const began = yield* SteadyClock.millis
  const total = Math.max(Number(begun.events), yield* Effect.orDie(estimate(model)))
  let phase: Progress["phase"] = "folding"
  let events = Number(begun.events)

  const told = Effect.gen(function* () {
    const seconds = Math.max(0.001, ((yield* SteadyClock.millis) - began) / 1000)
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
      told,
    )
  yield* Effect.forkScoped(Effect.repeat(told, Schedule.spaced(REPORT_EVERY)))

  const pace = { lanes: Math.min(Fill.MAX_LANES, Math.max(1, lanes)), ...(throttle === undefined ? {} : { throttle }) }
  const report = (more: number) => Effect.sync(() => void (events += more))
  // What is counted along the log comes in its order, and in no lanes.
  const filled: Effect.Effect<unknown, never, Replay | Scope.Scope> =
    "count" in model
      ? CountedProjections.catchUp(sql, model, begun, { ...pace, report })
      : Fill.fill(model, begun, pace, report)
  const work = Effect.gen(function* () {
    yield* filled
    yield* enter("indexing")
    yield* index(model, table, throttle !== undefined)
    yield* enter("catching up")
    const position = yield* CatchUp.catchUp(sql, model, begun)
    const finished = yield* Effect.orDie(Versions.finish(sql, begun))
    if (finished.length === 0)
      return yield* Effect.die(new Error(`version ${begun.version} of ${name} was dropped meanwhile`))
    yield* enter("done")
    return position
  })
  const position = yield* Effect.ensuring(
    work,
    Effect.flatMap(SteadyClock.millis, (now) => Versions.worked(sql, begun, now - began)),
  )
  const finished = (yield* Versions.list(sql, name)).find((each) => each.version === begun.version)
  return { ...(finished ?? begun), state: "ready" as const, position }
})

/** The version that an earlier run has left unfinished, if its rows are those that this one would write. */
const resumeOrBegin = Effect.fnUntraced(function* (model: Projection, release: string) {
  const { sql } = yield* Replay
  const { name } = model
  yield* Versions.ensureLive(sql, name)
  const unfinished = Versions.newest(yield* Versions.list(sql, name), "building")
  if (unfinished !== undefined) {
    const isOurs = unfinished.release === release
    if (isOurs && (yield* Effect.orDie(Tables.isAlike(sql, name, Versions.tableOf(unfinished))))) return unfinished
    yield* dropVersion(unfinished)
  }
  // From here on the log is gone through a second time once the fill is done: all before it, the fill sees by itself.
  const position = "count" in model ? 0n : yield* Effect.orDie(Feed.settled(sql))
  const begin = Effect.gen(function* () {
    const version = yield* Versions.begin(sql, name, position, release)
    const table = Versions.tableOf({ name, version, state: "building" })
    yield* Tables.createLike(sql, name, table)
    if ("count" in model || model.isShared === true) yield* keyFirst(model, table)
    return version
  })
  const version = yield* Effect.orDie(sql.withTransaction(begin))
  const found = (yield* Versions.list(sql, name)).find((each) => each.version === version)
  return found ?? (yield* Effect.die(new Error(`version ${version} of ${name} is gone`)))
})

/** Rows that several streams share, or several pages, meet each other during the fill, so their key stands before it. */
const keyFirst = Effect.fnUntraced(function* (model: Projection, table: string) {
  const { sql } = yield* Replay
  for (const each of yield* Tables.indexes(sql, model.name))
    if (each.constraint === "PRIMARY KEY") yield* sql.unsafe(Tables.indexStatement(each, model.name, table))
})

/**
 * Indexes over what is there already cost a part of what they would have cost row by row. Two at a time, or, so that others
 * have room, one after another.
 */
const index = Effect.fnUntraced(function* (model: Projection, table: string, leavesRoom: boolean) {
  const { session, sql } = yield* Replay
  // What queries of the live table count on: statistics, and pages that an index alone can answer for. Before there are
  // indexes, which then need not find out who sees a row.
  yield* Effect.orDie(sql.unsafe(`VACUUM (ANALYZE) "${table}"`))
  const indexes = yield* Effect.orDie(Tables.indexes(sql, model.name))
  yield* Effect.forEach(
    indexes,
    (each) =>
      Effect.scoped(
        Effect.flatMap(session, (client) =>
          Effect.promise(() =>
            client.query(INDEX_SETTINGS).then(() => client.query(Tables.indexStatement(each, model.name, table))),
          ),
        ),
      ),
    { concurrency: leavesRoom ? 1 : 2, discard: true },
  )
  yield* Effect.orDie(sql.withTransaction(Tables.finishLike(sql, model.name, table)))
})

/** How many events the log holds for a read model, more or less. */
export const estimate = Effect.fnUntraced(function* (model: Projection) {
  const { sql } = yield* Replay
  // In the text: a plan that Postgres makes for parameters would not tell how many there are.
  const quoted = (values: ReadonlyArray<string>) => sql.literal(values.map((value) => `'${value}'`).join(", "))
  const isOwn = "count" in model ? sql`type IN (${quoted(model.types)})` : sql`stream IN (${quoted([model.stream])})`
  const [counted] = yield* sql<{ readonly looked_at: bigint; readonly own: bigint }>`
    SELECT count(*) AS looked_at, count(*) FILTER (WHERE ${isOwn}) AS own
    FROM (SELECT stream, type FROM events LIMIT ${COUNTED_EVENTS}::int) AS first_ones`
  const own = Number(counted?.own ?? 0n)
  if (counted === undefined || counted.looked_at < COUNTED_EVENTS) return own
  const plan = yield* sql<{
    readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: { readonly "Plan Rows": number } }>
  }>`
    EXPLAIN (FORMAT JSON) SELECT FROM events WHERE ${isOwn}`
  return Math.max(own, plan[0]?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0)
})

const dropVersion = Effect.fnUntraced(function* (version: Versions.Version) {
  const { sql } = yield* Replay
  const gone = Effect.andThen(Tables.drop(sql, Versions.tableOf(version)), Versions.remove(sql, version))
  yield* Effect.orDie(sql.withTransaction(gone))
})

/** Throws a version away that is not the live one, also one that is unfinished. */
export const drop = Effect.fn("Projections.drop")(function* (name: string, version: number) {
  const { sql } = yield* Replay
  yield* find(name)
  yield* alone(name)
  const found = (yield* Versions.list(sql, name)).find((each) => each.version === version)
  if (found === undefined) return yield* new ReplayRefused({ message: `${name} has no version ${version}` })
  if (found.state === "live")
    return yield* new ReplayRefused({ message: `version ${version} of ${name} is the live one` })
  yield* dropVersion(found)
}, Effect.scoped)
