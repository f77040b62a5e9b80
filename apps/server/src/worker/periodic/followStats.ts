import { repeatWork } from "@waybill/store/postgres/StoreUnavailable"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as Follower from "@waybill/store/feed/Follower"
import { Duration, Effect } from "effect"

/** Delay of the statistics, besides the time that counting takes. */
export const FOLLOW_EVERY = Duration.seconds(1)

/** Counts events for the statistics until the scope closes. One process at a time does so. */
export const followStats = () =>
  repeatWork(
    Effect.map(Follower.step(EmailStatsFollower.follower), ({ isFull }) => (isFull ? Duration.zero : FOLLOW_EVERY)),
    { failed: "statistics follower failed; it will retry", retryAfter: FOLLOW_EVERY },
  )
