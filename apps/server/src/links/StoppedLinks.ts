import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Context, Duration, Layer } from "effect"
import { type CachedSet, cachedSet } from "../process/cachedSet.ts"

/** Interval at which a node reloads the accounts whose links are stopped; also the delay until a stop takes effect. */
export const STOPPED_LINKS_EVERY = Duration.seconds(3)

/** Accounts whose tracked links are disabled, cached in memory so that following a link needs no query. */
export class StoppedLinks extends Context.Service<StoppedLinks, CachedSet>()("@waybill/server/links/StoppedLinks") {}

export const layer = Layer.effect(
  StoppedLinks,
  cachedSet("accounts with stopped links", STOPPED_LINKS_EVERY, Accounts.withLinksStopped()),
)
