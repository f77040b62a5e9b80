import { Effect, Schedule } from "effect"
import * as Feed from "../feed/Feed.ts"
import * as MovedSince from "../moves/MovedSince.ts"
import * as CatchUp from "./CatchUp.ts"
import * as CountedProjections from "./CountedProjections.ts"
import { lockReadModel, find, Replay, ReplayRefused } from "./versions/Replay.ts"
import * as Tables from "./versions/Tables.ts"
import * as Versions from "./versions/Versions.ts"
import type { Sql } from "../postgres/Sql.ts"
import { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Time a swap waits for its lock. Then it lets the queries queued behind it pass, and tries again. */
export const LOCK_WAIT = "500ms"
export const LOCK_PAUSE = "300 millis"
export const LOCK_TRIES = 40

export interface Swapped {
  readonly name: string
  readonly live: number
  readonly kept: number
}

/**
 * Makes a finished version the live one or, with `back`, the version that was live before. Commits lock the live table
 * before they take positions, so while the swap holds the table exclusively it sees every event: it folds the missing
 * ones and exchanges the names.
 */
export const swap = Effect.fn("Projections.swap")(function* (name: string, back: boolean) {
  const replay = yield* Replay
  const { log, sql } = replay
  const model = yield* find(name)
  yield* lockReadModel(name)
  const versions = yield* Versions.list(sql, name)
  const live = Versions.newest(versions, "live")
  const candidate = Versions.newest(versions, back ? "kept" : "ready")
  if (live === undefined || candidate === undefined) {
    const message = back
      ? `there is no earlier version of ${name}`
      : `no version of ${name} is ready: run \`projections rebuild ${name}\``
    return yield* new ReplayRefused({ message })
  }
  const table = Versions.tableOf(candidate)
  if (!(yield* Tables.isAlike(sql, name, table)))
    return yield* new ReplayRefused({ message: `${table} no longer has the columns of ${name}: drop it and rebuild` })

  const exchangeTables = Effect.gen(function* () {
    const position = yield* CatchUp.catchUp(replay, model, {
      ...candidate,
      position: yield* positionOf(sql, candidate),
    })
    // Read before the lock: no event at or below this position can be written later.
    const watermark = yield* Feed.watermark(log)
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SET LOCAL lock_timeout = ${sql.literal(`'${LOCK_WAIT}'`)}`
        yield* sql`LOCK TABLE ${sql(name)}, ${sql(table)} IN ACCESS EXCLUSIVE MODE`
        const moved = yield* MovedSince.find(sql, { table, begun: candidate.created_at })
        if (moved.length > 0)
          return yield* new ReplayRefused({
            message: `${table} was begun before accounts moved here or left (${moved.join(", ")}): drop it and rebuild`,
          })
        yield* CatchUp.apply(sql, model, table, position)
        const livePosition = "count" in model ? yield* CountedProjections.livePosition(sql, model) : watermark
        yield* Tables.rename(sql, name, Versions.tableOf({ ...live, state: "kept" }), name)
        yield* Tables.rename(sql, table, name, name)
        yield* sql`
            UPDATE projection_versions SET state = 'kept', position = ${livePosition}::bigint
            WHERE name = ${name} AND version = ${live.version}::int`
        yield* sql`
            UPDATE projection_versions SET state = 'live' WHERE name = ${name} AND version = ${candidate.version}::int`
      }),
    )
  })
  yield* exchangeTables.pipe(
    Effect.retry({ while: isLockedOut, schedule: Schedule.spaced(LOCK_PAUSE), times: LOCK_TRIES }),
    Effect.catchIf(isLockedOut, () =>
      Effect.fail(
        new ReplayRefused({ message: `${name} could not be locked; is a long query or a backup reading it?` }),
      ),
    ),
  )
  return { name, live: candidate.version, kept: live.version } satisfies Swapped
}, Effect.scoped)

const positionOf = (sql: Sql, { name, version }: Versions.Version) =>
  Effect.map(Versions.list(sql, name), (versions) => versions.find((each) => each.version === version)?.position ?? 0n)

const isLockedOut = (error: unknown): boolean =>
  error instanceof StoreUnavailable && (error.why === "timed-out" || error.why === "conflict")
