import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Context, Duration, Layer } from "effect"
import { type KnownSet, knownSet } from "../live/knownSet.ts"

/** How often a node looks whose links are stopped, which is how soon it follows them no longer. */
export const STOPPED_LINKS_EVERY = Duration.seconds(3)

/** The accounts whose links lead nowhere, as this node knows them: a visit asks no database. */
export class StoppedLinks extends Context.Service<StoppedLinks, KnownSet>()("@waybill/server/StoppedLinks") {}

export const layer = Layer.effect(
  StoppedLinks,
  knownSet("whose links are stopped", STOPPED_LINKS_EVERY, Accounts.withLinksStopped()),
)
