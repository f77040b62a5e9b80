import { type Group, operator } from "./Bound.ts"

const SOURCES = "packages/store/src/sources/SourceAddresses.ts"
const POOLS = "packages/store/src/sources/SourcePools.ts"

/** Bounds of source addresses. */
export const sourceBounds: Group = {
  title: "Source addresses",
  bounds: [
    operator("Source addresses of an instance", "MAX_ADDRESSES", SOURCES, "`ips add` is refused"),
    operator("Pools of source addresses", "MAX_POOLS", POOLS, "`ips add` is refused"),
    operator("Rules of `SITE_RULES`", "MAX_RULES", "packages/mail/src/site/SiteRules.ts", "the service does not start"),
  ],
}
