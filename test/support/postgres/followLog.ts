import * as Follower from "@waybill/store/feed/Follower"
import * as EmailWords from "@waybill/store/search/EmailWords"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as LogTree from "@waybill/store/transparency/LogTree"
import { Effect } from "effect"

/** Lets every follower read the log to its end. */
export const followLog = Effect.gen(function* () {
  for (const follower of [EmailStatsFollower.follower, EmailWords.follower, LogTree.follower])
    while ((yield* Effect.orDie(Follower.step(follower))).events > 0);
})
