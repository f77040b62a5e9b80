import * as Dns from "@waybill/mail/dns/Dns"
import * as Blocklists from "@waybill/mail/source/Blocklists"
import { checkNames } from "@waybill/mail/source/checkNames"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import { Effect } from "effect"

/** Addresses that are checked at once, and blocklists that are queried at once for each. */
export const CHECKS_AT_ONCE = 4

interface Options {
  /** Name in EHLO of addresses that have none. */
  readonly name: string
  /** Zones of blocklists. */
  readonly blocklists: ReadonlyArray<string>
}

/** Checks the names of each source address and looks it up in blocklists, and records and logs what changed. */
export const checkSources = Effect.fn("checkSources")(function* ({ blocklists, name }: Options) {
  const dns = yield* Dns.Dns
  const sources = yield* SourceAddresses.list()
  const lists = sources.length === 0 ? [] : blocklists
  const tested = yield* Effect.forEach(lists, (zone) => Blocklists.test(dns, zone), { concurrency: CHECKS_AT_ONCE })
  const check = Effect.fnUntraced(function* (one: SourceAddresses.Address) {
    const { seenAs, ...names } = yield* checkNames(dns, { address: one.address, name: one.ehlo ?? name })
    const lookUps = tested.flatMap((list) => seenAs.map((address) => Blocklists.lookUp(dns, list, address)))
    const listings = yield* Effect.all(lookUps, { concurrency: CHECKS_AT_ONCE })
    yield* SourceAddresses.recordCheck(one.address, names, listings)
    if (names.status === "wrong" && one.names?.result !== names.result)
      yield* Effect.logWarning("names of a source address do not agree", {
        address: one.address,
        result: names.result,
      })
    for (const { result, status, zone } of listings) {
      if (status !== "listed" || one.listings?.some((was) => was.zone === zone && was.status === "listed") === true)
        continue
      yield* Effect.logWarning("source address is in a blocklist", { address: one.address, zone, result })
    }
  })
  yield* Effect.forEach(sources, check, { concurrency: CHECKS_AT_ONCE, discard: true })
})
