import type { Counts } from "../feed/Counts.ts"
import { follower } from "../statistics/EmailStatsFollower.ts"
import { counts } from "../statistics/MonthlyUsage.ts"
import type { ReadModel } from "./ReadModel.ts"
import { readModels } from "./ReadModels.ts"

/** A table derived from the log, written by commits or by a follower. */
export type Projection = ReadModel | Counts

/** Projections that commits write together with their events. */
export const inCommits: ReadonlyArray<Projection> = [...readModels, counts]

export const projections: ReadonlyArray<Projection> = [...inCommits, follower]
