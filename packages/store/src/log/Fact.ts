import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import type { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Client } from "../postgres/Sql.ts"

export interface OfAccount {
  readonly account_id: AccountId
}

/** Kinds of objects of which a plan limits the number in an account. */
export type CountedKind = "api_key" | "domain" | "webhook" | "template" | "test_clock" | "inbound_route"

/** Rows that a commit asks for beside its streams. The needs of a whole batch are read in one statement. */
export interface Needs {
  /** Names of sending domains. */
  readonly domains?: ReadonlyArray<string>
  /** Addresses in lower case that may be suppressed. */
  readonly addresses?: ReadonlyArray<string>
  /** Aliases that templates may have. */
  readonly aliases?: ReadonlyArray<string>
  /** Templates to send, by id or alias. */
  readonly templates?: ReadonlyArray<string>
  /** Objects to count. The commit gets a batch of its own, so that the count holds until its end. */
  readonly countOf?: CountedKind
  /** UTC month whose usage stays locked until the commit; the account is read as well. */
  readonly month?: string
  /** UTC month whose unsent mail stays locked until the commit. */
  readonly unsent?: string
  /** Ids of outbox rows, which stay locked until the commit. */
  readonly outbox?: ReadonlyArray<string>
  /** Test clocks, which do not move until the commit. */
  readonly clocks?: ReadonlyArray<string>
  /** Emails whose test clocks are read likewise. */
  readonly clocksOf?: ReadonlyArray<string>
}

export type AccountNeeds = OfAccount & Needs

/** How a fact is read, and what decisions see of its rows. The functions are methods, so that a fact of narrower rows fits. */
export interface Fact<Row, Seen> {
  /** Returns queries of the rows that commits need. Those of all facts are one statement. */
  read(sql: Client<unknown>, needs: ReadonlyArray<AccountNeeds>, now: string): ReadonlyArray<Query>
  of(rows: ReadonlyArray<Row>): Seen
}

export interface Query {
  readonly rows: Fragment
  /** Whether the query locks the rows by writing them. There is one such query of a fact. */
  readonly writes?: true
  /** Reads the rows with a statement per table, if the query is none of which the plan is kept (`TablePlace`). */
  readonly perTable?: <E>(sql: Client<E>) => Effect.Effect<ReadonlyArray<object>, E>
}

/** Returns the accounts of commits, a test account as its live account. */
export const liveAccounts = (needs: ReadonlyArray<OfAccount>): ReadonlyArray<string> => [
  ...new Set(needs.map(({ account_id }) => Livemode.liveAccountOf(account_id))),
]

type Names = ReadonlyArray<string> | string | undefined

export interface Pairs {
  readonly accounts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
}

/** Returns each account and name that commits need, once. */
export const pairs = (needs: ReadonlyArray<AccountNeeds>, of: (need: Needs) => Names): Pairs => {
  const accounts: Array<string> = []
  const names: Array<string> = []
  const seen = new Set<string>()
  for (const need of needs) {
    for (const name of [of(need) ?? []].flat()) {
      const key = `${need.account_id} ${name}`
      if (seen.has(key)) continue
      seen.add(key)
      accounts.push(need.account_id)
      names.push(name)
    }
  }
  return { accounts, names }
}

/** Makes the fact that decisions look up by an account and a name. */
export const factByName = <Row extends OfAccount, Found>(
  wanted: (need: Needs) => Names,
  rows: (sql: Client<unknown>, wanted: Pairs) => Fragment,
  nameOf: (row: Row) => string,
  found: (row: Row | undefined) => Found,
  query: (wanted: Pairs) => Omit<Query, "rows"> = () => ({}),
): Fact<Row, (account: AccountId, name: string) => Found> => ({
  read: (sql, needs) => {
    const all = pairs(needs, wanted)
    return all.names.length === 0 ? [] : [{ rows: rows(sql, all), ...query(all) }]
  },
  of: (read) => {
    const byName = new Map(read.map((row) => [`${row.account_id} ${nameOf(row)}`, row]))
    return (account, name) => found(byName.get(`${account} ${name}`))
  },
})
