import { useQuery } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/groups/Operate"
import { Network } from "lucide-react"
import { Badge } from "../ui/display/Badge.tsx"
import { formatDateTime, RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { DescriptionList } from "../ui/layout/DescriptionList.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"
import { QueryResult } from "../ui/layout/QueryResult.tsx"

const number = new Intl.NumberFormat("en")

const PROBLEMS: Readonly<Record<Operate.SourceProblem, string>> = {
  names: "Names don’t match",
  listed: "On a blocklist",
  absent: "On no worker host",
  blocked: "Blocked",
}

export const Addresses = () => (
  <Screen title="Addresses" hint="Addresses that direct delivery sends from, by pool.">
    <QueryResult query={useQuery(OperatorQueries.addresses)}>
      {({ data, pools }) =>
        pools.length === 0 ? (
          <EmptyState icon={<Network size={20} />} title="No addresses yet">
            Mail leaves from the address that the system chooses. Add your own with{" "}
            <code className="font-mono text-ink">npx waybill ips add</code>.
          </EmptyState>
        ) : (
          <>
            <Attention addresses={data} />
            {pools.map((pool) => (
              <PoolPanel key={pool.name} pool={pool} addresses={data.filter((each) => each.pool === pool.name)} />
            ))}
          </>
        )
      }
    </QueryResult>
  </Screen>
)

/** Says how many addresses need an operator. */
const Attention = ({ addresses }: { readonly addresses: ReadonlyArray<Operate.SourceAddress> }) => {
  const count = addresses.filter(({ problems }) => problems.length > 0).length
  if (count === 0) return undefined
  return (
    <p role="status" className="rounded-lg bg-warn-soft px-4 py-3 text-sm text-warn">
      {count === 1 ? "1 address needs attention." : `${count} addresses need attention.`}
    </p>
  )
}

interface PoolProps {
  readonly pool: Operate.SourcePool
  readonly addresses: ReadonlyArray<Operate.SourceAddress>
}

const PoolPanel = ({ addresses, pool }: PoolProps) => (
  <Panel
    title={pool.name}
    actions={
      <span className="shrink-0 text-xs text-ink-3">
        Overflow: {pool.overflow ?? "later"}
        {pool.assignments > 0 ? ` · ${pool.assignments} assigned` : ""}
      </span>
    }
  >
    {addresses.length === 0 ? (
      <p className="p-4 text-sm text-ink-3">
        No addresses. {pool.assignments > 0 ? "Mail that is assigned to this pool waits." : ""}
      </p>
    ) : (
      <ul className="divide-y divide-line">
        {addresses.map((each) => (
          <AddressItem key={each.address} address={each} />
        ))}
      </ul>
    )}
  </Panel>
)

const AddressItem = ({ address: one }: { readonly address: Operate.SourceAddress }) => (
  <li>
    <div className="flex flex-wrap items-center gap-2 px-4 pt-4">
      <h3 className="min-w-0 font-mono text-sm font-medium break-all">{one.address}</h3>
      {one.problems.map((problem) => (
        <Badge key={problem} tone={problem === "names" ? "warn" : "bad"} dot>
          {PROBLEMS[problem]}
        </Badge>
      ))}
      {one.pauses.some(({ site, until }) => site === "*" && until === null) ? (
        <Badge tone="neutral" dot>
          Paused
        </Badge>
      ) : undefined}
    </div>
    <DescriptionList
      items={[
        ["EHLO name", one.ehlo ?? "The host’s name"],
        ["Warm-up", warmUp(one)],
        ["Sent today", <SentToday key="today" today={one.today} />],
        one.pauses.length > 0 && ["Paused", <AddressPauses key="pauses" pauses={one.pauses} />],
        ["Names", <Names key="names" address={one} />],
        ["Blocklists", <Listings key="listings" listings={one.listings} />],
        ["Hosts", hosts(one)],
      ]}
    />
  </li>
)

const warmUp = ({ warm_up }: Operate.SourceAddress): string => {
  if (warm_up === null) return "None"
  if (warm_up.day === null) return `${warm_up.plan}, completed`
  return warm_up.day < 1 ? `${warm_up.plan}, not started` : `${warm_up.plan}, day ${warm_up.day} of ${warm_up.days}`
}

const hosts = ({ hosts }: Operate.SourceAddress): string => {
  if (hosts.length === 0) return "No worker running"
  const own = hosts.filter(({ bindable }) => bindable).map(({ host }) => host)
  return own.length === 0 ? `Not an address of ${hosts.map(({ host }) => host).join(", ")}` : own.join(", ")
}

const SentToday = ({ today }: Pick<Operate.SourceAddress, "today">) =>
  today.length === 0 ? (
    "Nothing"
  ) : (
    <ul>
      {today.map(({ limit, provider, sent }) => (
        <li key={provider}>
          {provider}{" "}
          <span className="tabular">
            {number.format(sent)}
            {limit === null ? "" : ` of ${number.format(limit)}`}
          </span>
        </li>
      ))}
    </ul>
  )

const Names = ({ address: { checked_at, names } }: { readonly address: Operate.SourceAddress }) =>
  names === null ? (
    "Not checked yet"
  ) : (
    <>
      {names.status === "ok" ? "OK" : names.status === "wrong" ? "Wrong" : "Unknown"}:{" "}
      <UntrustedText text={names.result} />
      {checked_at === null ? undefined : (
        <span className="text-ink-3">
          {" "}
          · <RelativeTime iso={checked_at} />
        </span>
      )}
    </>
  )

const Listings = ({ listings }: Pick<Operate.SourceAddress, "listings">) =>
  listings.length === 0 ? (
    "Not checked"
  ) : (
    <ul>
      {listings.map(({ result, zone }, nth) => (
        <li key={`${zone} ${nth}`}>
          {zone}: <UntrustedText text={result} />
        </li>
      ))}
    </ul>
  )

const EVERY_SITE = "*"

/** The sites that an address sends nothing to, until when, and why. */
const AddressPauses = ({ pauses }: Pick<Operate.SourceAddress, "pauses">) => (
  <ul className="flex flex-col gap-1">
    {pauses.map(({ reason, site, until }) => (
      <li key={site}>
        {site === EVERY_SITE ? "All mail" : site} until {until === null ? "resumed" : formatDateTime(until)}
        <UntrustedText className="block text-xs text-ink-3" text={reason} />
      </li>
    ))}
  </ul>
)
