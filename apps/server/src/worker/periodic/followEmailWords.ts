import { repeatWork } from "@waybill/store/postgres/StoreUnavailable"
import * as EmailWords from "@waybill/store/search/EmailWords"
import * as Follower from "@waybill/store/feed/Follower"
import { Duration, Effect } from "effect"

/** Delay of the words of a search, besides the time that reading takes. A search does not miss mail meanwhile. */
export const FOLLOW_EVERY = Duration.seconds(2)
/** Part of the time that the follower works at most, so that it takes little from the mail of a busy service. */
export const MAX_SHARE = 1 / 20

/** Reads new mail for the search until the scope closes. One process at a time does so. */
export const followEmailWords = () =>
  repeatWork(
    Effect.map(Effect.timed(Follower.step(EmailWords.follower)), ([took, { isFull }]) =>
      isFull ? Duration.times(took, 1 / MAX_SHARE - 1) : FOLLOW_EVERY,
    ),
    { failed: "follower of the search failed; it will retry", retryAfter: FOLLOW_EVERY },
  )
