import { PgTypes } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import type { Assignment } from "./SourcePools.ts"
import type { StoredPlan } from "./WarmUpPlans.ts"
import type { Sql } from "../postgres/Sql.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Maximum number of source addresses of an instance. */
export const MAX_ADDRESSES = 500
/** Time without a sign of a worker host after which its addresses are no longer shown. */
export const HOST_SEEN_FOR = Duration.minutes(5)

export interface NewAddress {
  /** In its canonical form. */
  readonly address: string
  readonly pool: string
  readonly ehlo: string | null
  readonly warm_up: WarmUp | null
}

export interface WarmUp {
  readonly plan: string
  /** First day in UTC, as a number since 1970. */
  readonly from: number
}

/** Adds an address to an existing pool. */
export const add = Effect.fn("SourceAddresses.add")(function* ({ address, ehlo, pool, warm_up }: NewAddress) {
  const sql = yield* HomeSql
  const before = yield* sql<{ readonly known: boolean; readonly number: number }>`
    SELECT count(*)::int AS number, coalesce(bool_or(address = ${address}), false) AS known FROM source_addresses`
  if (before[0]?.known === true) return "known" as const
  if ((before[0]?.number ?? 0) >= MAX_ADDRESSES) return "full" as const
  const rows = yield* sql`
    INSERT INTO source_addresses (address, pool, ehlo, plan, warm_up_from)
    VALUES (${address}, ${pool}, ${ehlo}, ${warm_up?.plan ?? null}, ${dateOf(sql, warm_up?.from ?? null)})
    ON CONFLICT DO NOTHING RETURNING address`
  return rows.length > 0 ? ("added" as const) : ("known" as const)
})

const dateOf = (sql: Sql, day: number | null) => sql`(DATE '1970-01-01' + ${day}::int)`

/** Removes an address. Returns whether there was one. */
export const remove = Effect.fn("SourceAddresses.remove")(function* (address: string) {
  const sql = yield* HomeSql
  const rows = yield* sql`DELETE FROM source_addresses WHERE address = ${address} RETURNING address`
  return rows.length > 0
})

export interface Change {
  readonly pool?: string
  readonly ehlo?: string | null
  readonly warm_up?: WarmUp | null
}

/** Changes an address. Returns whether there is one. */
export const change = Effect.fn("SourceAddresses.change")(function* (address: string, change: Change) {
  const sql = yield* HomeSql
  const { ehlo, pool, warm_up } = change
  const setters = [
    ...(pool === undefined ? [] : [sql`pool = ${pool}`]),
    ...(ehlo === undefined ? [] : [sql`ehlo = ${ehlo}`]),
    ...(warm_up === undefined
      ? []
      : [sql`plan = ${warm_up?.plan ?? null}`, sql`warm_up_from = ${dateOf(sql, warm_up?.from ?? null)}`]),
  ]
  const changed = yield* sql`
    UPDATE source_addresses SET ${sql.csv(setters)} WHERE address = ${address} RETURNING address`
  return changed.length > 0
})

export interface Address {
  readonly address: string
  readonly pool: string
  readonly ehlo: string | null
  readonly plan: string | null
  readonly warm_up_from: number | null
  readonly checked_at: string | null
  readonly names: NamesResult | null
  readonly listings: ReadonlyArray<Listing> | null
  readonly hosts: ReadonlyArray<{ readonly host: string; readonly bindable: boolean }>
}

/** Result of the check of PTR record, EHLO name and its address. */
export interface NamesResult {
  readonly status: "ok" | "wrong" | "unknown"
  readonly result: string
}

/** State of an address in one blocklist. */
export interface Listing {
  readonly zone: string
  readonly status: "clear" | "listed" | "unknown"
  readonly result: string
}

/** All addresses with what is known about them. */
export const list = Effect.fn("SourceAddresses.list")(function* () {
  const sql = yield* HomeSql
  return yield* sql<Address>`
    SELECT address, pool, ehlo, plan, warm_up_from - DATE '1970-01-01' AS warm_up_from,
      ${Iso.iso(sql, "checked_at")} AS checked_at, names, listings,
      coalesce((SELECT jsonb_agg(jsonb_build_object('host', h.host, 'bindable', h.bindable) ORDER BY h.host)
        FROM source_hosts h WHERE h.address = source_addresses.address
          AND h.seen_at > now() - make_interval(secs => ${Duration.toSeconds(HOST_SEEN_FOR)}::float8)), '[]') AS hosts
    FROM source_addresses ORDER BY pool, address`
})

/** Everything that the choice of an address depends on. */
export interface Configuration {
  readonly addresses: ReadonlyArray<Pick<Address, "address" | "pool" | "ehlo" | "plan" | "warm_up_from">>
  readonly pools: ReadonlyArray<{ readonly name: string; readonly overflow: string | null }>
  readonly assignments: ReadonlyArray<Assignment>
  readonly plans: ReadonlyArray<StoredPlan>
  readonly pauses: ReadonlyArray<{
    readonly address: string
    readonly site: string
    readonly until_ms: number | null
    readonly reason: string
  }>
  /** Addresses that any worker host of the last minutes can send from. */
  readonly on_a_host: ReadonlyArray<string>
  /** Mails of the day that all processes have claimed or sent. */
  readonly used: ReadonlyArray<{ readonly address: string; readonly provider: string; readonly mails: number }>
}

/** Reads the configuration in one statement, so that its parts agree. */
export const configuration = Effect.fn("SourceAddresses.configuration")(function* (day: number) {
  const sql = yield* HomeSql
  const rows = yield* sql<Configuration>`
    SELECT
      (SELECT coalesce(jsonb_agg(jsonb_build_object('address', address, 'pool', pool, 'ehlo', ehlo, 'plan', plan,
        'warm_up_from', warm_up_from - DATE '1970-01-01') ORDER BY address), '[]') FROM source_addresses) AS addresses,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('name', name, 'overflow', overflow)), '[]')
        FROM source_pools) AS pools,
      (SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') FROM source_assignments s) AS assignments,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('name', name, 'plan', plan)), '[]') FROM warm_up_plans) AS plans,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('address', address, 'site', site,
        'until_ms', (extract(epoch FROM until) * 1000)::float8, 'reason', reason)), '[]')
        FROM source_pauses) AS pauses,
      (SELECT coalesce(jsonb_agg(DISTINCT address), '[]') FROM source_hosts
        WHERE bindable AND seen_at > now() - make_interval(secs => ${Duration.toSeconds(HOST_SEEN_FOR)}::float8))
        AS on_a_host,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('address', address, 'provider', provider,
        'mails', greatest(claimed, sent))), '[]') FROM source_counts WHERE day = ${dateOf(sql, day)}) AS used`
  return rows[0] ?? { addresses: [], pools: [], assignments: [], plans: [], pauses: [], on_a_host: [], used: [] }
})

/** Records which addresses a host can send from. */
export const recordHost = Effect.fn("SourceAddresses.recordHost")(function* (
  host: string,
  addresses: ReadonlyArray<{ readonly address: string; readonly bindable: boolean }>,
) {
  if (addresses.length === 0) return
  const sql = yield* HomeSql
  yield* sql`
    INSERT INTO source_hosts (address, host, bindable)
    SELECT r.address, ${host}, r.bindable FROM unnest(${addresses.map(({ address }) => address)}::text[],
      ${addresses.map(({ bindable }) => bindable)}::boolean[]) AS r(address, bindable)
    JOIN source_addresses USING (address) ORDER BY r.address
    ON CONFLICT (address, host) DO UPDATE SET bindable = excluded.bindable, seen_at = now()`
})

/** Stores the results of a check. */
export const recordCheck = Effect.fn("SourceAddresses.recordCheck")(function* (
  address: string,
  names: NamesResult,
  listings: ReadonlyArray<Listing>,
) {
  const sql = yield* HomeSql
  yield* sql`
    UPDATE source_addresses SET checked_at = now(), names = ${PgTypes.jsonb(names)},
      listings = ${PgTypes.jsonb(listings)} WHERE address = ${address}`
})

/** Removes what hosts reported that are gone for a day, and returns how many rows. Runs periodically. */
export const expireHosts = Effect.fn("SourceAddresses.expireHosts")(function* () {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM source_hosts WHERE seen_at < now() - make_interval(days => 1) RETURNING host`
  return rows.length
})
