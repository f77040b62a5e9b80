import { Effect } from "effect"
import * as EmailStats from "../statistics/EmailStats.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as Feed from "../feed/Feed.ts"
import * as Follower from "../feed/Follower.ts"
import * as Projections from "./versions/Projections.ts"
import { Replay } from "./versions/Replay.ts"
import * as TableSizes from "./versions/TableSizes.ts"
import * as Versions from "./versions/Versions.ts"

export interface VersionStatus {
  readonly name: string
  readonly version: number
  readonly state: Versions.State | "following"
  /** Position up to which its rows are complete; null for a table that commits write. */
  readonly position: number | null
  /** Number of log positions it has not processed. */
  readonly behind: number
  readonly rows: number
  readonly size_bytes: number
  readonly events: number
}

/** Lists every version of every projection with its progress. */
export const status = Effect.fn("Projections.status")(function* () {
  const { log, sql } = yield* Replay
  const end = yield* Feed.watermark(log)
  const gaps = yield* Epoch.gaps(log)
  const lists = yield* Effect.forEach(Projections.projections, ({ name }) =>
    Effect.map(Versions.list(sql, name), (versions) =>
      versions.some(({ state }) => state === "live") ? versions : [{ name, ...INITIAL }, ...versions],
    ),
  )
  const followed = yield* Follower.lag(log, EmailStats.FOLLOWER)
  const versions = lists.flat()
  const sizes = yield* TableSizes.read(sql, versions.map(Versions.tableOf))
  const sizeOf = (table: string) => {
    const size = sizes.find(({ name }) => name === table)
    return { rows: Math.round(size?.rows ?? 0), size_bytes: Number(size?.bytes ?? 0n) }
  }
  return versions.map((each): VersionStatus => {
    const isLive = each.state === "live"
    const common = {
      name: each.name,
      version: each.version,
      ...sizeOf(Versions.tableOf(each)),
      events: Number(each.events),
    }
    if (isLive && each.name === EmailStats.FOLLOWER)
      return { ...common, state: "following", position: Number(followed.position), behind: Number(followed.behind) }
    return {
      ...common,
      state: each.state,
      position: isLive ? null : Number(each.position),
      behind: isLive ? 0 : Number(Epoch.distance(gaps, each.position, end)),
    }
  })
})

/** First version of a read model that was never rebuilt. */
const INITIAL = { version: 1, state: "live", position: 0n, events: 0n } as const
