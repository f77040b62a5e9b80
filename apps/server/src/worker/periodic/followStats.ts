import { unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as Follower from "@waybill/store/feed/Follower"
import { Duration, Effect } from "effect"

/** Delay of the statistics, besides the time that counting takes. */
export const FOLLOW_EVERY = Duration.seconds(1)

/** Counts events for the statistics until the scope closes. One process at a time does so. */
export const followStats = () =>
  Follower.step(EmailStatsFollower.follower).pipe(
    Effect.map(({ isFull }) => isFull),
    Effect.catchCause((cause) =>
      Effect.as(unlessAway(Effect.logWarning("statistics follower failed; it will retry", cause), cause), false),
    ),
    Effect.flatMap((isFull) => (isFull ? Effect.yieldNow : Effect.sleep(FOLLOW_EVERY))),
    Effect.forever,
    Effect.forkScoped,
  )
