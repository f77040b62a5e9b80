import type { Counts } from "../../feed/Counts.ts"
import * as EmailStatsFollower from "../../statistics/EmailStatsFollower.ts"
import * as MonthlyUsage from "../../statistics/MonthlyUsage.ts"
import type { ReadModel } from "../../readmodels/ReadModel.ts"
import * as ReadModels from "../../commit/ReadModels.ts"

/** A table derived from the log, written by commits or by a follower. */
export type Projection = ReadModel | Counts

/** Projections that commits write together with their events. */
export const inCommits: ReadonlyArray<Projection> = [...ReadModels.readModels, MonthlyUsage.counts]

export const projections: ReadonlyArray<Projection> = [...inCommits, EmailStatsFollower.follower]
