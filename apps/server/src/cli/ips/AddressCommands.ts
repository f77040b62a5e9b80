import type * as Operate from "@waybill/api/groups/Operate"
import * as Dns from "@waybill/mail/dns/Dns"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { hostname } from "node:os"
import * as Settings from "../../settings/Settings.ts"
import { addressViews } from "../../sources/addressViews.ts"
import { checkSources } from "../../sources/checkSources.ts"
import { DEFAULT_POOL } from "../../sources/PoolConfiguration.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Ips from "./IpsCommand.ts"

const ehlo = Options.text("ehlo", "Name of the address in EHLO, which must lead back to it; none is that of the host")
const poolName = Options.required("pool", "Pool of the address")
const site = Options.text("site", "Provider, such as google.com, or the servers of a domain; all mail if left out")

const COLUMNS = ["address", "pool", "today", "paused", "names", "blocklists", "warm_up", "ehlo", "hosts"]

/** A row of the table, in which a cell is a text. */
const row = ({ address, ehlo, hosts, listings, names, pauses, pool, today, warm_up }: Operate.SourceAddress) => ({
  address,
  pool,
  ehlo,
  warm_up:
    warm_up === null
      ? null
      : warm_up.day === null
        ? `${warm_up.plan}, done`
        : `${warm_up.plan}, day ${warm_up.day} of ${warm_up.days}`,
  today: today.map(({ limit, provider, sent }) => `${provider} ${sent}${limit === null ? "" : ` of ${limit}`}`),
  paused: pauses.map(
    ({ site, until }) => `${site === SourcePauses.EVERY_SITE ? "all" : site} until ${until ?? "resumed"}`,
  ),
  names: names?.status ?? null,
  blocklists: listings.filter(({ status }) => status !== "clear").map(({ status, zone }) => `${zone} ${status}`),
  hosts: hosts.filter(({ bindable }) => bindable).map(({ host }) => host),
})

const viewOf = Effect.fnUntraced(function* (address: string) {
  const view = (yield* addressViews).find((each) => each.address === address)
  return view ?? (yield* Ips.unknownAddress(address))
})

const ehloOf = (text: string) => (text === Ips.NONE ? Effect.succeed(null) : Ips.nameOf(text))

export const add = DataCommand.record(
  {
    address: Ips.addressArgument,
    pool: poolName.pipe(Flag.withDefault(DEFAULT_POOL)),
    ehlo,
    plan: Ips.planFlag,
    day: Ips.dayFlag,
  },
  function* ({ address: text, day, ehlo, plan, pool }) {
    const address = yield* Ips.addressOf(text)
    const name = Option.isNone(ehlo) ? null : yield* ehloOf(ehlo.value)
    const warm_up = (yield* Ips.warmUpOf(plan, day)) ?? null
    yield* Ips.ensurePool(pool)
    const added = yield* SourceAddresses.add({ address, pool, ehlo: name, warm_up })
    if (added === "known")
      return yield* Ips.refuse(`${address} is a source address already. \`waybill ips change\` changes it.`)
    if (added === "full")
      return yield* Ips.refuse(`This instance has ${SourceAddresses.MAX_ADDRESSES} addresses, the most it can have.`)
    return yield* viewOf(address)
  },
  row,
)

export const list = DataCommand.list(
  {},
  COLUMNS,
  function* () {
    return yield* addressViews
  },
  row,
)

export const change = DataCommand.record(
  {
    address: Ips.addressArgument,
    pool: poolName.pipe(Flag.optional),
    ehlo,
    plan: Ips.planFlag,
    day: Ips.dayFlag,
  },
  function* ({ address: text, day, ehlo, plan, pool }) {
    const address = yield* Ips.addressOf(text)
    const warm_up = yield* Ips.warmUpOf(plan, day)
    const change = {
      ...(Option.isNone(pool) ? {} : { pool: pool.value }),
      ...(Option.isNone(ehlo) ? {} : { ehlo: yield* ehloOf(ehlo.value) }),
      ...(warm_up === undefined ? {} : { warm_up }),
    }
    if (Object.keys(change).length === 0) return yield* Ips.refuse("Name what to change: --pool, --ehlo or --plan.")
    if (Option.isSome(pool)) yield* Ips.ensurePool(pool.value)
    if (!(yield* SourceAddresses.change(address, change))) return yield* Ips.unknownAddress(address)
    return yield* viewOf(address)
  },
  row,
)

export const remove = DataCommand.record({ address: Ips.addressArgument }, function* ({ address: text }) {
  const address = yield* Ips.addressOf(text)
  if (!(yield* SourceAddresses.remove(address))) return yield* Ips.unknownAddress(address)
  return { address, removed: true }
})

export const pause = DataCommand.record(
  {
    address: Ips.addressArgument,
    site,
    reason: Options.required("reason", "Remark for operators").pipe(Flag.withDefault("by an operator")),
  },
  function* ({ address: text, reason, site }) {
    const address = yield* Ips.addressOf(text)
    if (!(yield* SourceAddresses.list()).some((each) => each.address === address))
      return yield* Ips.unknownAddress(address)
    yield* SourcePauses.pause(
      address,
      Option.getOrElse(site, () => SourcePauses.EVERY_SITE),
      reason,
    )
    return yield* viewOf(address)
  },
  row,
)

export const resume = DataCommand.record(
  { address: Ips.addressArgument, site },
  function* ({ address: text, site }) {
    const address = yield* Ips.addressOf(text)
    const resumed = yield* SourcePauses.resume(address, Option.getOrUndefined(site))
    if (resumed === 0 && Option.isSome(site)) return yield* Ips.refuse(`${address} is not paused for ${site.value}.`)
    return yield* viewOf(address)
  },
  row,
)

export const check = DataCommand.list({}, ["address", "check", "status", "result"], function* () {
  const settings = yield* Settings.load
  const name = Option.getOrElse(settings.ehloName, hostname)
  const dns = Dns.Dns.layer(settings.dnsServers.length === 0 ? {} : { servers: settings.dnsServers })
  yield* checkSources({ name, blocklists: settings.blocklists }).pipe(Effect.provide(dns))
  const views = yield* addressViews
  const rows = views.flatMap(({ address, listings, names }) => [
    { address, check: "names", status: names?.status, result: names?.result },
    ...listings.map(({ result, status, zone }) => ({ address, check: zone, status, result })),
  ])
  return rows
})
