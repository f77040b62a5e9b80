import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import type { Tracking } from "@waybill/domain/domain/Tracking"
import type * as DomainStatus from "@waybill/domain/domain/DomainStatus"
import type { AccountId, DomainId } from "@waybill/domain/values/Id"
import { sendingDomains } from "../postgres/sendingDomains.ts"
import { Effect, Option } from "effect"
import * as Databases from "../routing/Databases.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import { factByName, type OfAccount } from "../log/Fact.ts"
import * as Arrays from "../postgres/Arrays.ts"
import * as ReadModel from "./ReadModel.ts"
import { type Client, Sql } from "../postgres/Sql.ts"
import { away } from "../postgres/StoreUnavailable.ts"

/** State of a domain in the log. The DNS records its owner publishes follow from it and the instance's settings. */
export type DomainRecord = Omit<DomainState.Domain, "_tag" | "tracking_domain_changes">

interface Row {
  readonly account_id: string
  readonly id: string
  readonly version: number
  readonly name: string
  readonly status: string
  readonly removed: boolean
  readonly record: DomainRecord | null
}

export const readModel = ReadModel.make({
  name: "domains",
  stream: Domain.stream,
  key: ["account_id", "id"],
  changes: ["version", "status", "removed", "record"],
  rows: ({ account_id, stream_id: id, version }, state: Domain.State): ReadonlyArray<Row> => {
    if (state._tag === "NotCreated") return []
    const key = { account_id, id, version, name: state.name }
    if (state._tag === "Removed") return [{ ...key, status: "removed", removed: true, record: null }]
    // Only decisions need the times of changes.
    const { _tag, tracking_domain_changes, ...record } = state
    return [{ ...key, status: state.status, removed: false, record }]
  },
})

/** A sending domain as decisions see it. */
export interface DomainFact extends OfAccount {
  readonly id: DomainId
  readonly name: string
  readonly status: DomainStatus.Status
  readonly tracking?: Tracking | null
}

/** The sending domains of names. */
export const fact = factByName(
  ({ domains }) => domains,
  (sql, { accounts, names }) => sql`
  SELECT d.account_id, d.id, d.name, d.status, d.record -> 'tracking' AS tracking
  FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, name)
  JOIN domains d USING (account_id, name) WHERE NOT d.removed`,
  ({ name }: DomainFact) => name,
  (row) => row,
)

export const list = Effect.fn("Domains.list")(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: DomainRecord }>`
    SELECT record FROM domains WHERE account_id = ${account_id} AND NOT removed ORDER BY name`
  return rows.map((row) => row.record)
})

/** Returns the names of an account's domains, at most as many as `limit`. */
export const names = Effect.fn("Domains.names")(function* (account_id: string, limit: number) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly name: string }>`
    SELECT name FROM domains WHERE account_id = ${account_id} AND NOT removed ORDER BY name LIMIT ${limit}`
  return rows.map(({ name }) => name)
})

/**
 * Returns the tracking host names that DNS points to this service: those at home, and by its directory those of all
 * others. Only domains that were verified once count: anybody can add somebody else's domain, and a name below it may point
 * here by chance.
 */
export const trackingNames = Effect.fn("Domains.trackingNames")(function* () {
  const sql = yield* HomeSql
  const rows = yield* sql<{ readonly name: string }>`
    SELECT name FROM (${tracking(sql)}) AS hosts UNION ALL SELECT name FROM account_names WHERE kind = 'tracking_host'`
  return rows.map((row) => row.name)
})

/** The condition is exactly that of the index `domains_tracking`. */
export const tracking = <E>(sql: Client<E>) => sql`
  SELECT account_id, record -> 'tracking_domain' ->> 'name' AS name FROM domains
  WHERE record -> 'tracking_domain' ->> 'verified' = 'true' AND record ->> 'verified_at' IS NOT NULL`

/** The tracking host of a domain under the same condition; undefined if there is none. */
export const trackingNameOf = (record: DomainRecord | null): string | undefined =>
  record?.tracking_domain?.verified === true && record.verified_at !== null ? record.tracking_domain.name : undefined

/** The account in which a process found a receiving domain last, and whether that was a short time ago. */
export interface KnownReceiver {
  readonly account_id: AccountId
  readonly isFresh: boolean
}

/**
 * Finds the account that receives the mail of a domain, in all databases: of several, the one that verified it first. A domain
 * receives if its owner wants that, or `anyway`. As long as home does not answer, or a database whose account has verified the domain,
 * only a known receiver is found. Names are compared by their hash, too, because the index over all accounts has that.
 */
export const receiver = Effect.fn("Domains.receiver")(function* (name: string, anyway: boolean, known?: KnownReceiver) {
  const sql = yield* Sql
  const search = (account_ids?: ReadonlyArray<string>) => sql<Receiver>`
    SELECT account_id, record ->> 'verified_at' AS verified_at FROM domains
    WHERE ${account_ids === undefined ? sql`md5(name) = md5(${name})` : sql`account_id = ANY(${account_ids}::text[])`}
      AND name = ${name} AND ${sendingDomains(sql)}
      AND (${anyway}::bool OR record ->> 'receiving' = 'true')
    ORDER BY 2, 1 LIMIT 1`
  const inKnown = known === undefined ? [] : yield* Databases.ofAccount(known.account_id, search([known.account_id]))
  const near = Option.fromUndefinedOr(inKnown[0]?.account_id)
  if (Option.isSome(near) && known?.isFresh === true) return near
  const found = Databases.rowsOfDomains([name], search)
  const { missing, rows } = yield* Option.isSome(near)
    ? Effect.orElseSucceed(found, () => ({ missing: [Databases.home.name], rows: [] }))
    : found
  if (missing.length > 0) return Option.isSome(near) ? near : yield* away()
  const [first] = rows.toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
  return Option.fromUndefinedOr(first?.account_id)
})

interface Receiver {
  readonly account_id: AccountId
  readonly verified_at: string | null
}

/** Times of one form sort as text; a domain that receives without having been verified comes last. */
const isBefore = (a: Receiver, b: Receiver): boolean =>
  a.verified_at === b.verified_at
    ? a.account_id < b.account_id
    : b.verified_at === null || (a.verified_at !== null && a.verified_at < b.verified_at)

/** Finds a domain by id, or by name in its DNS form. */
export const find = Effect.fn("Domains.find")(function* (account_id: string, nameOrId: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: DomainRecord }>`
    SELECT record FROM domains
    WHERE account_id = ${account_id} AND (id = ${nameOrId} OR name = ${nameOrId}) AND NOT removed`
  return Option.fromUndefinedOr(rows[0]?.record)
})
