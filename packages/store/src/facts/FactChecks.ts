import type { AccountId } from "@waybill/domain/values/Id"
import type { PgClient } from "@effect/sql-pg"
import type { Fragment } from "effect/sql/Statement"
import * as Arrays from "../postgres/Arrays.ts"
import * as Subscriptions from "../webhooks/Subscriptions.ts"
import type { AssumedFacts } from "./Facts.ts"

/** Recipients that a batch adds to the usage of a month. */
export interface AddedUsage {
  readonly account_id: AccountId
  readonly month: string
  readonly delta: number
}

type Usage = AddedUsage & { readonly atMost: number | undefined }

/** Returns conditions that facts are still as a batch assumes them, apart from the usage, which `addUsage` checks. */
export const areStill = (sql: PgClient.PgClient, facts: AssumedFacts): ReadonlyArray<Fragment> => {
  const { accounts, addresses, domains, subscriptions } = facts
  const conditions: Array<Fragment> = []
  if (subscriptions.size > 0) conditions.push(Subscriptions.areStill(sql, subscriptions))
  if (accounts.length > 0) conditions.push(accountsAreStill(sql, accounts))
  if (domains.length > 0) conditions.push(domainsAreStill(sql, domains))
  if (addresses.length > 0) conditions.push(noneIsSuppressed(sql, addresses))
  return conditions
}

const accountsAreStill = (sql: PgClient.PgClient, accounts: AssumedFacts["accounts"]) => sql`
  ${accounts.length}::int = (
    SELECT count(*) FROM unnest(${Arrays.texts(accounts.map(({ account_id }) => account_id))},
      ${Arrays.ints(accounts.map(({ version }) => version))}) AS known(account_id, version)
    JOIN accounts a ON a.account_id = known.account_id AND a.version = known.version)`

const domainsAreStill = (sql: PgClient.PgClient, domains: AssumedFacts["domains"]) => sql`
  ${domains.length}::int = (
    SELECT count(*) FROM unnest(${Arrays.texts(domains.map(({ account_id }) => account_id))},
      ${Arrays.texts(domains.map(({ id }) => id))}, ${Arrays.ints(domains.map(({ version }) => version))})
      AS known(account_id, id, version)
    JOIN domains d ON d.account_id = known.account_id AND d.id = known.id AND d.version = known.version
      AND NOT d.removed)`

/** Counts instead of asking whether one exists: Citus writes `unnest` of several arrays within EXISTS without its columns. */
const noneIsSuppressed = (sql: PgClient.PgClient, addresses: AssumedFacts["addresses"]) => sql`
  0 = (
    SELECT count(*) FROM unnest(${Arrays.texts(addresses.map(({ account_id }) => account_id))},
      ${Arrays.texts(addresses.map(({ address }) => address))}) AS wanted(account_id, address)
    JOIN suppressions s ON s.account_id = wanted.account_id AND s.address = wanted.address WHERE s.active)`

/**
 * Changes the usage of months: a part of a statement, and the condition that no month had more before than a batch assumes. The
 * rows are locked in the order of their key, as those that a batch reads are.
 */
export const addUsage = (
  sql: PgClient.PgClient,
  entries: ReadonlyArray<AddedUsage>,
  assumed: AssumedFacts["usage"],
): { readonly part: Fragment; readonly checks: (part: Fragment) => ReadonlyArray<Fragment> } => {
  const rows = withMost(entries, assumed).toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const checked = rows.filter(({ atMost }) => atMost !== undefined).length
  const most = checked === 0 ? sql`` : sql`, ${Arrays.floats(rows.map(({ atMost }) => atMost ?? null))}`
  const [column, holds] = checked === 0 ? ["", "true"] : [", at_most", "u.accepted - d.delta <= d.at_most"]
  return {
    part: sql`
  UPDATE monthly_usage u SET accepted = greatest(0, u.accepted + d.delta)
  FROM unnest(${Arrays.texts(rows.map((entry) => entry.account_id))}, ${Arrays.texts(rows.map((entry) => entry.month))},
    ${Arrays.ints(rows.map((entry) => entry.delta))}${most}) AS d(account_id, month, delta${sql.literal(column)})
  WHERE u.account_id = d.account_id AND u.month = d.month RETURNING ${sql.literal(holds)} AS holds`,
    checks: (part) => (checked === 0 ? [] : [sql`${checked}::int = (SELECT count(*) FROM ${part} WHERE holds)`]),
  }
}

const withMost = (entries: ReadonlyArray<AddedUsage>, assumed: AssumedFacts["usage"]): ReadonlyArray<Usage> => {
  const most = new Map(assumed.map((each) => [keyOf(each), each.atMost]))
  return entries.map((entry) => ({ ...entry, atMost: most.get(keyOf(entry)) }))
}

const keyOf = ({ account_id, month }: { readonly account_id: string; readonly month: string }): string =>
  `${account_id} ${month}`
