import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { LruCache } from "@waybill/domain/values/LruCache"
import type { PgClient } from "@effect/sql-pg"
import type { Facts, SubscriptionFact } from "../commit/LogStorage.ts"

/** Maximum number of accounts whose subscriptions a process remembers. */
export const MAX_CACHED_ACCOUNTS = 10_000

/** Subscriptions of accounts, by their live ids. */
export type Subscriptions = ReadonlyMap<string, ReadonlyArray<SubscriptionFact>>

/** The subscriptions that this process has read last. They may have changed since, so what is decided by them is checked. */
export interface SubscriptionCache {
  /** Returns the subscriptions of accounts; undefined unless those of all are known. */
  readonly find: (accounts: ReadonlyArray<AccountId>) => Subscriptions | undefined
  readonly store: (accounts: ReadonlyArray<AccountId>, facts: Facts) => void
}

export const makeCache = (): SubscriptionCache => {
  const cache = new LruCache<string, ReadonlyArray<SubscriptionFact>>({ maxEntries: MAX_CACHED_ACCOUNTS })
  return {
    find: (accounts) => {
      const found = new Map<string, ReadonlyArray<SubscriptionFact>>()
      for (const account of accounts) {
        const live = Livemode.liveAccountOf(account)
        const subscriptions = found.get(live) ?? cache.get(live)
        if (subscriptions === undefined) return undefined
        found.set(live, subscriptions)
      }
      return found
    },
    store: (accounts, facts) => {
      for (const account of accounts) cache.set(Livemode.liveAccountOf(account), facts.subscriptions(account))
    },
  }
}

/** Reads the subscriptions of accounts, given by their live ids, in the order of `textOf`. */
export const select = (sql: PgClient.PgClient, accounts: ReadonlyArray<string>) => sql`
  SELECT account_id, id, events FROM webhooks
  WHERE account_id = ANY(${accounts}::text[]) AND enabled AND NOT removed ORDER BY account_id, id`

/** Condition that accounts have these subscriptions and no others. */
export const areStill = (sql: PgClient.PgClient, subscriptions: Subscriptions) => sql`
  ${textOf(subscriptions)} = (
    SELECT coalesce(string_agg(w.id || ' ' || array_to_string(w.events, ' '), ',' ORDER BY w.account_id, w.id), '')
    FROM (${select(sql, [...subscriptions.keys()])}) AS w)`

export const textOf = (subscriptions: Subscriptions): string =>
  [...subscriptions]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, own]) => own.map(({ events, id }) => `${id} ${events.join(" ")}`))
    .join(",")
