import { follower } from "@waybill/store/statistics/EmailStatsFollower"
import * as Follower from "@waybill/store/feed/Follower"
import { Duration, Effect } from "effect"

/** How long what has happened may be missing from the statistics, beside the time that counting takes. */
export const FOLLOW_EVERY = Duration.seconds(1)

/** Counts what the log tells, for as long as the worker lives. One process of a fleet does it at a time. */
export const followStats = () =>
  Follower.step(follower).pipe(
    Effect.map(({ isFull }) => isFull),
    Effect.catchCause((cause) => Effect.as(Effect.logWarning("the statistics could not be counted on", cause), false)),
    Effect.flatMap((isFull) => (isFull ? Effect.yieldNow : Effect.sleep(FOLLOW_EVERY))),
    Effect.forever,
    Effect.forkScoped,
  )
