import type { Reason } from "@waybill/domain/suppression/SuppressionState"
import type { Unsent } from "@waybill/domain/email/UnsentMail"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as AccountCounts from "../facts/AccountCounts.ts"
import * as UnsentRows from "../facts/UnsentRows.ts"
import * as UsageRows from "../facts/UsageRows.ts"
import type { BatchRows } from "../log/BatchTable.ts"
import type { AccountNeeds, CountedKind, Fact, Query } from "../log/Fact.ts"
import * as DueWork from "../outbox/DueWork.ts"
import type { LeaseFact } from "../outbox/OutboxRow.ts"
import type { Client } from "../postgres/Sql.ts"
import * as Accounts from "../readmodels/Accounts.ts"
import * as Domains from "../readmodels/Domains.ts"
import * as Suppressions from "../readmodels/Suppressions.ts"
import * as CurrentTemplates from "../readmodels/templates/CurrentTemplates.ts"
import * as Templates from "../readmodels/templates/Templates.ts"
import * as TestClocks from "../readmodels/TestClocks.ts"
import * as Subscriptions from "../webhooks/Subscriptions.ts"

/** Rows that decisions see: the answers to their needs (`log/Fact.ts`). */
export interface Facts {
  readonly domain: (account: AccountId, name: string) => Domains.DomainFact | undefined
  /** Reason of the active suppression of an address. */
  readonly suppression: (account: AccountId, address: string) => Reason | undefined
  /** Id of the template that has an alias. */
  readonly alias: (account: AccountId, alias: string) => string | undefined
  readonly template: (account: AccountId, name: string) => CurrentTemplates.Current | undefined
  readonly countOf: (account: AccountId, kind: CountedKind) => number
  readonly account: (account: AccountId) => Accounts.StoredAccount | undefined
  /** Recipients accepted in a month, those of the batch included. */
  readonly acceptedIn: (account: AccountId, month: string) => number
  /** Enabled webhooks of an account. They are always read. */
  readonly subscriptions: Subscriptions.Subscriptions
  /** Lease of an outbox row. */
  readonly outbox: (id: string) => LeaseFact | undefined
  readonly clock: (account: AccountId, id: string) => TestClocks.ClockFact | undefined
  /** Content of a month's unsent mail, that of the batch included. */
  readonly unsent: (account: AccountId, month: string) => Unsent
}

/**
 * How each fact is read. Rows are locked in this order: usage before leases, which are only checked when everything is written,
 * and unsent mail last, as the commits of outcomes write it after their outbox rows.
 */
const READERS: { readonly [Name in keyof Facts]: Fact<object, Facts[Name]> } = {
  domain: Domains.fact,
  suppression: Suppressions.fact,
  alias: Templates.fact,
  template: CurrentTemplates.fact,
  countOf: AccountCounts.fact,
  account: Accounts.fact,
  acceptedIn: UsageRows.fact,
  subscriptions: Subscriptions.fact,
  outbox: DueWork.fact,
  clock: TestClocks.fact,
  unsent: UnsentRows.fact,
}

const readers: ReadonlyArray<readonly [name: string, fact: Fact<object, unknown>]> = Object.entries(READERS)

type NamedQuery = Query & { readonly name: string }
type FactRow = { readonly name: string; readonly fact: object }

/** Reads the needs of all commits of a batch in one statement, or in a statement per table, which are sent together. */
export const read = Effect.fnUntraced(function* <E>(
  sql: Client<E>,
  needs: ReadonlyArray<AccountNeeds>,
  now: string,
  isPerTable: boolean,
) {
  const queries: Array<NamedQuery> = []
  for (const [name, fact] of readers) for (const query of fact.read(sql, needs, now)) queries.push({ ...query, name })
  const read = yield* isPerTable ? readPerTable(sql, queries) : readTogether(sql, queries)
  const rows = Map.groupBy(read, ({ name }) => name)
  const facts = readers.map(([name, fact]) => [name, fact.of((rows.get(name) ?? []).map((row) => row.fact))])
  // `READERS` has a reader of its type for each name.
  return Object.fromEntries(facts) as never as Facts
})

/** Reads all facts in one statement, so that the batch waits for one answer instead of many. */
const readTogether = <E>(sql: Client<E>, queries: ReadonlyArray<NamedQuery>) => {
  const written = queries.flatMap(({ name, rows, writes }) => (writes === true ? [sql`${sql(name)} AS (${rows})`] : []))
  const selects = queries.map(({ name, rows, writes }) => {
    const from = writes === true ? sql`SELECT * FROM ${sql(name)}` : rows
    return sql`SELECT ${sql.literal(`'${name}'`)} AS name, to_jsonb(f) AS fact FROM (${from}) AS f`
  })
  return sql<FactRow>`${written.length === 0 ? sql.literal("") : sql`WITH ${sql.csv(written)}`}
    ${selects.reduce((all, next) => sql`${all} UNION ALL ${next}`)}`
}

/**
 * Reads each kind of facts by a statement of its own, where one of several tables would be planned each time, which costs ten
 * times as much.
 */
const readPerTable = <E>(sql: Client<E>, queries: ReadonlyArray<NamedQuery>) => {
  const reading = queries.map(({ name, perTable, rows, writes }) => {
    const query = writes === true ? sql`WITH ${sql(name)} AS (${rows}) SELECT * FROM ${sql(name)}` : sql`${rows}`
    return Effect.map(perTable?.(sql) ?? query, (found) => found.map((fact): FactRow => ({ name, fact })))
  })
  return Effect.map(Effect.all(reading, { concurrency: "unbounded" }), (rows) => rows.flat())
}

/** Returns the facts as the next decision of a batch sees them, with the rows that earlier ones have added. */
export const withRows = (facts: Facts, rows: BatchRows): Facts => ({
  ...facts,
  acceptedIn: UsageRows.withRows(facts.acceptedIn, rows),
  unsent: UnsentRows.withRows(facts.unsent, rows),
})
