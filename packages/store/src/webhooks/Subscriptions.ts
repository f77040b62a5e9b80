import type { AccountId } from "@waybill/domain/values/Id"
import type { PgClient } from "@effect/sql-pg"

export interface SubscriptionFact {
  readonly account_id: AccountId
  readonly id: string
  readonly events: ReadonlyArray<string>
}

/** Subscriptions of accounts, by their live ids. */
export type Subscriptions = ReadonlyMap<string, ReadonlyArray<SubscriptionFact>>

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
