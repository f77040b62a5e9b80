import { Effect } from "effect"
import * as Dns from "../dns/Dns.ts"
import * as Network from "../dns/Network.ts"
import * as SourceAddress from "./SourceAddress.ts"

const BOTH: ReadonlySet<SourceAddress.Family> = new Set<SourceAddress.Family>([4, 6])

/** Returns the families in which mail servers have addresses; both if that is unknown, so that the attempt reports why. */
export const targetFamilies = Effect.fnUntraced(function* (
  dns: Dns.Queries,
  hosts: ReadonlyArray<string>,
  allowed: Network.Networks | undefined,
) {
  const answers = yield* Effect.forEach(hosts, (host) => Dns.addresses(dns, host), { concurrency: "unbounded" })
  const families = new Set<SourceAddress.Family>()
  for (const answer of answers) {
    if (answer._tag === "Unavailable") return BOTH
    if (answer._tag === "NotFound") continue
    for (const address of answer.records)
      if (Network.isReachable(address, allowed)) families.add(SourceAddress.familyOf(address))
  }
  return families.size === 0 ? BOTH : families
})
