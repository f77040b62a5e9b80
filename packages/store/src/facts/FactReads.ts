import * as Livemode from "@waybill/domain/account/Livemode"
import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "@waybill/domain/values/Id"
import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import type { AccountNeeds, DomainFact, Facts } from "./Facts.ts"
import type { StoredAccount } from "../readmodels/Accounts.ts"
import type { ClockFact } from "../readmodels/TestClocks.ts"
import * as CurrentTemplates from "../readmodels/templates/CurrentTemplates.ts"
import type { LeaseFact } from "../outbox/OutboxRow.ts"
import type { SubscriptionFact } from "../webhooks/Subscriptions.ts"
import * as UnsentRows from "./UnsentRows.ts"
import * as UsageRows from "./UsageRows.ts"
import * as Leases from "../outbox/Leases.ts"
import * as Arrays from "../postgres/Arrays.ts"
import * as AccountCounts from "./AccountCounts.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as Subscriptions from "../webhooks/Subscriptions.ts"
import type { Client } from "../postgres/Sql.ts"

interface OfAccount {
  readonly account_id: string
}

/** One row of the statement: a fact and its kind. */
type FactRow =
  | { readonly kind: "subscription"; readonly fact: SubscriptionFact }
  | { readonly kind: "domain"; readonly fact: DomainFact & OfAccount }
  | { readonly kind: "suppression"; readonly fact: OfAccount & { readonly address: string; readonly reason: string } }
  | { readonly kind: "lease"; readonly fact: LeaseFact }
  | { readonly kind: "account"; readonly fact: OfAccount & { readonly record: StoredAccount } }
  | {
      readonly kind: "count"
      readonly fact: OfAccount & { readonly counted: AccountCounts.CountedKind; readonly count: number }
    }
  | { readonly kind: "alias"; readonly fact: OfAccount & { readonly alias: string; readonly id: string } }
  | { readonly kind: "template"; readonly fact: CurrentTemplates.NamedCurrent }
  | { readonly kind: "clock"; readonly fact: ClockFact }
  | { readonly kind: "unsent"; readonly fact: UnsentRows.UnsentFact }
  | { readonly kind: "usage"; readonly fact: UsageRows.UsageFact }

/** Reads the needs of all commits of a batch in one statement, or on a node of Citus in statements that are sent together. */
export const readFacts = Effect.fnUntraced(function* <E>(
  sql: Client<E>,
  needs: ReadonlyArray<AccountNeeds>,
  now: string,
  isOnNode = false,
) {
  // A test account has the record and the webhooks of its live account.
  const accountIds = [...new Set(needs.map((need) => Livemode.liveAccountOf(need.account_id)))]
  const domains = pairs(needs, (need) => need.domains ?? [])
  const addresses = pairs(needs, (need) => need.addresses ?? [])
  const aliases = pairs(needs, (need) => need.aliases ?? [])
  const templates = pairs(needs, (need) => need.templates ?? [])
  const months = pairs(needs, (need) => (need.month === undefined ? [] : [need.month]))
  const leases = [...new Set(needs.flatMap((need) => need.outbox ?? []))]
  const unsent = pairs(needs, (need) => (need.unsent === undefined ? [] : [need.unsent]))
  const clocks = pairs(needs, (need) => need.clocks ?? [])
  const clocksOf = pairs(needs, (need) => need.clocksOf ?? [])
  const parts: Array<Part> = [{ kind: "subscription", query: Subscriptions.select(sql, accountIds) }]
  if (domains.names.length > 0) parts.push({ kind: "domain", query: domainsOf(sql, domains) })
  if (addresses.names.length > 0) parts.push({ kind: "suppression", query: suppressionsOf(sql, addresses) })
  if (aliases.names.length > 0) parts.push({ kind: "alias", query: aliasesOf(sql, aliases) })
  if (templates.names.length > 0) {
    const accounts = templates.accounts.map((id) => Livemode.liveAccountOf(id as AccountId))
    parts.push({ kind: "template", query: CurrentTemplates.select(sql, accounts, templates.names) })
  }
  for (const { account_id, countOf } of needs) {
    if (countOf === undefined) continue
    const count = AccountCounts.countQuery(sql, account_id, countOf, now)
    const query = sql`SELECT ${account_id}::text AS account_id, ${countOf}::text AS counted, count FROM (${count}) AS c`
    parts.push({ kind: "count", query })
  }
  if (months.names.length > 0) {
    const accounts = sql`SELECT account_id, record FROM accounts WHERE account_id = ANY(${accountIds}::text[])`
    const usage = UsageRows.hold(sql, months.accounts, months.names)
    parts.push({ kind: "account", query: accounts }, { kind: "usage", query: usage, name: "used" })
  }
  // After the usage, as the leases that are only checked when everything is written, and before clocks.
  if (leases.length > 0) parts.push({ kind: "lease", query: Leases.hold(sql, leases) })
  if (clocks.names.length + clocksOf.names.length > 0)
    parts.push({ kind: "clock", query: clocksHeld(sql, clocks, clocksOf) })
  if (unsent.names.length > 0)
    parts.push({ kind: "unsent", query: UnsentRows.hold(sql, unsent.accounts, unsent.names), name: "unsent" })
  return factsOf(yield* isOnNode ? readApart(sql, parts, months) : readTogether(sql, parts))
})

/** A query of facts. One that writes has a name, by which others read what it returns. */
interface Part {
  readonly kind: FactRow["kind"]
  readonly query: Fragment
  readonly name?: string
}

/** Reads all facts in one statement, so that the batch waits for one answer instead of many. */
const readTogether = <E>(sql: Client<E>, parts: ReadonlyArray<Part>) => {
  const written = parts.flatMap(({ name, query }) => (name === undefined ? [] : [sql`${sql(name)} AS (${query})`]))
  const selects = parts.map(({ kind, name, query }) => {
    const rows = name === undefined ? query : sql`SELECT * FROM ${sql(name)}`
    return sql`SELECT ${sql.literal(`'${kind}'`)} AS kind, to_jsonb(f) AS fact FROM (${rows}) AS f`
  })
  return sql<FactRow>`${written.length === 0 ? sql.literal("") : sql`WITH ${sql.csv(written)}`}
    ${selects.reduce((all, next) => sql`${all} UNION ALL ${next}`)}`
}

/**
 * Reads each kind of facts by a statement of its own. Citus keeps the plan of a query of one table; one of several it plans and
 * takes apart each time, which costs ten times as much.
 */
const readApart = <E>(sql: Client<E>, parts: ReadonlyArray<Part>, months: Pairs) =>
  Effect.map(
    Effect.forEach(
      parts,
      ({ kind, name, query }) =>
        Effect.map(
          kind === "usage"
            ? UsageRows.holdApart(sql, months.accounts, months.names)
            : name === undefined
              ? sql<object>`${query}`
              : sql<object>`WITH ${sql(name)} AS (${query}) SELECT * FROM ${sql(name)}`,
          (rows) => rows.map((fact) => ({ kind, fact }) as FactRow),
        ),
      { concurrency: "unbounded" },
    ),
    (rows) => rows.flat(),
  )

interface Pairs {
  readonly accounts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
}

const pairs = (needs: ReadonlyArray<AccountNeeds>, of: (need: AccountNeeds) => ReadonlyArray<string>): Pairs => {
  const accounts: Array<string> = []
  const names: Array<string> = []
  const seen = new Set<string>()
  for (const need of needs) {
    for (const name of of(need)) {
      const key = `${need.account_id} ${name}`
      if (seen.has(key)) continue
      seen.add(key)
      accounts.push(need.account_id)
      names.push(name)
    }
  }
  return { accounts, names }
}

const domainsOf = (sql: Client<unknown>, { accounts, names }: Pairs) => sql`
  SELECT d.account_id, d.id, d.name, d.status, d.record -> 'tracking' AS tracking
  FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, name)
  JOIN domains d USING (account_id, name) WHERE NOT d.removed`

const suppressionsOf = (sql: Client<unknown>, { accounts, names }: Pairs) => sql`
  SELECT s.account_id, s.address, s.reason
  FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, address)
  JOIN suppressions s USING (account_id, address) WHERE s.active`

const aliasesOf = (sql: Client<unknown>, { accounts, names }: Pairs) => sql`
  SELECT t.account_id, t.alias, t.id
  FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, alias)
  JOIN templates t USING (account_id, alias) WHERE NOT t.archived`

/** Reads test clocks, and those of emails, and keeps them from moving until the batch is committed. */
const clocksHeld = (sql: Client<unknown>, clocks: Pairs, emails: Pairs) => sql`
  SELECT c.account_id, c.id, c.record ->> 'now' AS now, c.removed FROM test_clocks c
  WHERE c.account_id = ANY(${[...clocks.accounts, ...emails.accounts].map((id) => Livemode.testAccountOf(id as AccountId))}::text[])
    AND c.id = ANY(ARRAY(
      SELECT unnest(${clocks.names}::text[])
      UNION SELECT ${PackedSql.field(sql, "e", "EmailQueued", "test_clock")}
      FROM unnest(${emails.accounts}::text[], ${emails.names}::text[]) AS wanted(account_id, stream_id)
      JOIN events e ON e.account_id = wanted.account_id AND e.stream_id = wanted.stream_id AND e.version = 1))
  ORDER BY c.id FOR SHARE OF c`

const factsOf = (rows: ReadonlyArray<FactRow>): Facts => {
  const accounts = new Map<string, StoredAccount>()
  const domains = new Map<string, DomainFact>()
  const reasons = new Map<string, string>()
  const leases = new Map<string, LeaseFact>()
  const used = new Map<string, number>()
  const unsent = new Map<string, UnsentMail.Unsent>()
  const counts = new Map<string, number>()
  const aliases = new Map<string, string>()
  const templates = new Map<string, CurrentTemplates.Current>()
  const clocks = new Map<string, ClockFact>()
  const subscriptions: Array<SubscriptionFact> = []
  for (const { fact, kind } of rows) {
    switch (kind) {
      case "subscription":
        subscriptions.push(fact)
        break
      case "domain":
        domains.set(`${fact.account_id} ${fact.name}`, fact)
        break
      case "suppression":
        reasons.set(`${fact.account_id} ${fact.address}`, fact.reason)
        break
      case "lease":
        leases.set(fact.id, fact)
        break
      case "account":
        accounts.set(fact.account_id, fact.record)
        break
      case "count":
        counts.set(`${fact.account_id} ${fact.counted}`, fact.count)
        break
      case "alias":
        aliases.set(`${fact.account_id} ${fact.alias}`, fact.id)
        break
      case "template":
        for (const [name, current] of CurrentTemplates.named(fact)) templates.set(`${fact.account_id} ${name}`, current)
        break
      case "clock":
        clocks.set(`${fact.account_id} ${fact.id}`, fact)
        break
      case "unsent":
        unsent.set(`${fact.account_id} ${fact.month}`, fact)
        break
      case "usage":
        used.set(`${fact.account_id} ${fact.month}`, fact.accepted)
        break
    }
  }
  return {
    account: (account) => accounts.get(Livemode.liveAccountOf(account)),
    domain: (account, name) => domains.get(`${account} ${name}`),
    suppression: (account, address) => reasons.get(`${account} ${address}`),
    acceptedIn: (account, month) => used.get(`${account} ${month}`) ?? 0,
    unsent: (account, month) => unsent.get(`${account} ${month}`) ?? UnsentMail.NONE,
    outbox: (id) => leases.get(id),
    countOf: (account, kind) => counts.get(`${account} ${kind}`) ?? 0,
    alias: (account, alias) => aliases.get(`${account} ${alias}`),
    template: (account, name) => templates.get(`${Livemode.liveAccountOf(account)} ${name}`),
    clock: (account, id) => clocks.get(`${Livemode.testAccountOf(account)} ${id}`),
    subscriptions: (account) => {
      const owner = Livemode.liveAccountOf(account)
      return subscriptions.filter((row) => row.account_id === owner)
    },
  }
}
