import { repeatWork } from "@waybill/store/postgres/StoreUnavailable"
import * as Follower from "@waybill/store/feed/Follower"
import * as EmailWords from "@waybill/store/search/EmailWords"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { Duration, Effect } from "effect"

/** Delay of the statistics, besides the time that counting takes. */
export const STATS_EVERY = Duration.seconds(1)
/** Delay of the words of a search, besides the time that reading takes. A search does not miss mail meanwhile. */
export const WORDS_EVERY = Duration.seconds(2)
/** Part of the time that words are read at most, so that it takes little from the mail of a busy service. */
export const MAX_SHARE = 1 / 20

/** Counts events for the statistics until the scope closes. One process at a time does so. */
export const followStats = () =>
  repeatWork(
    Effect.map(Follower.step(EmailStatsFollower.follower), ({ isFull }) => (isFull ? Duration.zero : STATS_EVERY)),
    { failed: "statistics follower failed; it will retry", retryAfter: STATS_EVERY },
  )

/** Reads new mail for the search until the scope closes. One process at a time does so. */
export const followEmailWords = () =>
  repeatWork(
    Effect.map(Effect.timed(Follower.step(EmailWords.follower)), ([took, { isFull }]) =>
      isFull ? Duration.times(took, 1 / MAX_SHARE - 1) : WORDS_EVERY,
    ),
    { failed: "follower of the search failed; it will retry", retryAfter: WORDS_EVERY },
  )
