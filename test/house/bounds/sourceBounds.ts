import { type Group, operator } from "./Bound.ts"

const SOURCES = "packages/store/src/sources/SourceAddresses.ts"
const POOLS = "packages/store/src/sources/SourcePools.ts"
const WARM_UP_PLANS = "packages/store/src/sources/WarmUpPlans.ts"
const WARM_UP = "packages/mail/src/source/WarmUp.ts"
const OVERFLOWS = "apps/server/src/sources/PoolConfiguration.ts"

/** Bounds of source addresses. */
export const sourceBounds: Group = {
  title: "Source addresses",
  bounds: [
    operator("Source addresses of an instance", "MAX_ADDRESSES", SOURCES, "`ips add` is refused"),
    operator("Pools of source addresses", "MAX_POOLS", POOLS, "`ips add` is refused"),
    operator("Pools that mail overflows into, one after another", "MAX_OVERFLOWS", OVERFLOWS, "mail waits"),
    operator("Warm-up plans of an operator", "MAX_PLANS", WARM_UP_PLANS, "`ips plans add` is refused"),
    operator("Mails of a warm-up plan per day and provider", "MAX_PLAN_MAILS", WARM_UP, "`ips plans add` is refused"),
    operator("Rules of `SITE_RULES`", "MAX_RULES", "packages/mail/src/site/SiteRules.ts", "the service does not start"),
  ],
}
