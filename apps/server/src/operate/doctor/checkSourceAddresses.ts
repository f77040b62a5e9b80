import type * as Operate from "@waybill/api/groups/Operate"
import * as Dns from "@waybill/mail/dns/Dns"
import { checkNames } from "@waybill/mail/source/checkNames"
import { Effect } from "effect"
import * as Finding from "./Finding.ts"

const found = Finding.of("addresses")

/** Names that are looked up at once. */
const LOOK_UPS_AT_ONCE = 4
/** Maximum number of problems that the finding names. */
const MAX_NAMED = 5

/** Checks the names of each source address now, and reports its pauses, its hosts and the last look-up in blocklists. */
export const checkSourceAddresses = Effect.fnUntraced(function* (
  sources: ReadonlyArray<Operate.SourceAddress>,
  name: string,
) {
  if (sources.length === 0) return found.skipped("no source addresses; the kernel chooses one")
  const dns = yield* Dns.Dns
  const problems = yield* Effect.forEach(
    sources,
    (source) =>
      Effect.map(checkNames(dns, { address: source.address, name: source.ehlo ?? name }), ({ result, status }) => [
        ...(status === "ok" ? [] : [result]),
        ...stored(source),
      ]),
    { concurrency: LOOK_UPS_AT_ONCE },
  )
  const all = problems.flat()
  const pools = new Set(sources.map(({ pool }) => pool)).size
  if (all.length === 0)
    return found.ok(`${sources.length} in ${pools} ${pools === 1 ? "pool" : "pools"}; names agree, none is blocked`)
  const more = all.length > MAX_NAMED ? `; and ${all.length - MAX_NAMED} more` : ""
  return found.warning(
    `${all.slice(0, MAX_NAMED).join("; ")}${more}`,
    "`waybill ips list` shows all. Let the PTR record of each address and its name in EHLO lead to each other, and ask providers and lists that block it for removal.",
  )
})

const stored = ({ address, hosts, listings, pauses, problems }: Operate.SourceAddress): ReadonlyArray<string> => [
  ...listings
    .filter(({ status }) => status === "listed")
    .map(({ result, zone }) => `${address} is listed in ${zone} (${result})`),
  ...pauses
    .filter(({ until }) => until !== null)
    .map(({ reason, site, until }) => `${address} is blocked by ${site} until ${until} (${reason})`),
  ...(problems.includes("absent") ? [`${address} is no address of ${hosts.map(({ host }) => host).join(", ")}`] : []),
]
