import { follower } from "./EmailStatsFollower.ts"
import type { Follower } from "./Follower.ts"
import type { ReadModel } from "./ReadModel.ts"
import { readModels } from "./ReadModels.ts"

/** What is folded from the log: by the commits themselves, or by who counts along behind it. */
export type Projection = ReadModel | Follower

export const projections: ReadonlyArray<Projection> = [...readModels, follower]
