import type { Counts } from "../feed/Counts.ts"
import { follower } from "../statistics/EmailStatsFollower.ts"
import { counts } from "../statistics/MonthlyUsage.ts"
import type { ReadModel } from "./ReadModel.ts"
import { readModels } from "./ReadModels.ts"

/** What is folded or counted from the log: by the commits themselves, or by who comes along behind it. */
export type Projection = ReadModel | Counts

/** What commits write, complete with the events of each. */
export const inCommits: ReadonlyArray<Projection> = [...readModels, counts]

export const projections: ReadonlyArray<Projection> = [...inCommits, follower]
