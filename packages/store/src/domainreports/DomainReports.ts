import type { AccountId, DomainId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Duration, Effect } from "effect"
import { sendingDomains } from "../postgres/sendingDomains.ts"
import { createHash } from "node:crypto"
import * as AccountWrites from "../locks/AccountWrites.ts"
import * as Databases from "../routing/Databases.ts"
import { Sql } from "../postgres/Sql.ts"
import { type StoreUnavailable, away } from "../postgres/StoreUnavailable.ts"

/**
 * Maximum number of reports of one day about a domain. Each mailbox provider sends one or a few; anybody can send more,
 * signed by a domain of their own.
 */
export const MAX_PER_DAY = 200
/** Maximum number of reports of one day about a domain that nobody signed. */
export const MAX_UNVERIFIED_PER_DAY = 50
/** Maximum number of domains, of all accounts, that one report is recorded for. */
export const MAX_DOMAINS = 100

/** Advisory locks of domains, so that the maximum holds for all nodes together and rows are written in turns. */
const DOMAIN_LOCKS = 0x5742_4452

export type ReportKind = "dmarc" | "tls"

/** A report as its mail names it. */
export interface Heading {
  readonly kind: ReportKind
  readonly verified: boolean
  readonly reporter: string
  readonly reportId: string
  /** Domain that the report is about. */
  readonly about: string
  readonly orgName: string
  /** Milliseconds since 1970. */
  readonly begin: number
  readonly end: number
}

/** A domain of an account, as a report finds it. */
export interface Target {
  readonly account_id: AccountId
  readonly domain_id: DomainId
  readonly name: string
}

export type Outcome = "recorded" | "duplicate" | "unknown_domain" | "too_many"

/** Time limit for the transaction of one database. */
const WRITE_WITHIN = Duration.seconds(10)

/**
 * Returns the domains with these names in all accounts, and the databases that do not answer. Only those whose DNS is verified now: anybody can add the domain
 * of somebody else, and must not read its reports.
 */
export const targets = Effect.fn("DomainReports.targets")(function* (names: ReadonlyArray<string>) {
  const sql = yield* Sql
  const ofAll = sql`md5(name) IN (SELECT md5(wanted) FROM unnest(${names}::text[]) AS wanted)`
  const { missing, rows } = yield* Databases.rowsOfDomains(
    names,
    (account_ids) => sql<Target>`
    SELECT account_id, id AS domain_id, name FROM domains
    WHERE ${account_ids === undefined ? ofAll : sql`account_id = ANY(${account_ids}::text[])`}
      AND name = ANY(${names}::text[]) AND ${sendingDomains(sql)}
    ORDER BY account_id, id LIMIT ${MAX_DOMAINS}::int`,
  )
  return { found: rows.slice(0, MAX_DOMAINS), missing }
})

/** Writes the rows of a report for one domain, in the transaction that counts the report. */
export type Write = (
  sql: Sql,
  target: Target,
  day: string,
  heading: Heading,
) => Effect.Effect<unknown, StoreUnavailable>

/**
 * Counts a report once for each domain, with its rows, in one transaction per database, all of them at once. A report that was
 * counted before changes nothing, so that it can be recorded again after a failure in one of them.
 */
export const record = Effect.fn("DomainReports.record")(function* (
  heading: Heading,
  found: ReadonlyArray<Target>,
  write: Write,
) {
  const sql = yield* Sql
  if (found.length === 0) return "unknown_domain" satisfies Outcome
  const exits = yield* Effect.forEach(
    yield* Databases.group(inOrder(found)),
    ({ rows, run }) => Effect.exit(run(recordAll(sql, heading, rows, write))),
    { concurrency: "unbounded" },
  )
  const outcomes: Array<Outcome> = []
  for (const exit of exits) outcomes.push(...(yield* exit))
  return best(outcomes)
})

/** Records a report for domains of the fiber's database. */
const recordAll = (
  sql: Sql,
  heading: Heading,
  targets: ReadonlyArray<Target>,
  write: Write,
): Effect.Effect<ReadonlyArray<Outcome>, StoreUnavailable> => {
  const accounts = targets.map(({ account_id }) => account_id)
  const recording = Effect.forEach(targets, (target) => recordOne(sql, heading, target, write))
  return sql.withTransaction(Effect.andThen(AccountWrites.hold(sql, accounts), recording)).pipe(
    Effect.timeout(WRITE_WITHIN),
    // The reporter sends the report again, also after an account has moved meanwhile.
    Effect.catch((error) => Effect.fail(error._tag === "StoreUnavailable" ? error : away())),
  )
}

/** Transactions that lock in the same order do not deadlock. */
const inOrder = (found: ReadonlyArray<Target>) =>
  found.toSorted((one, other) => (one.domain_id < other.domain_id ? -1 : 1))

const best = (outcomes: ReadonlyArray<Outcome>): Outcome =>
  (["recorded", "duplicate"] as const).find((outcome) => outcomes.includes(outcome)) ?? "too_many"

const recordOne = Effect.fnUntraced(function* (sql: Sql, heading: Heading, target: Target, write: Write) {
  const { account_id, domain_id } = target
  const { begin, end, kind, orgName, reporter, verified } = heading
  const hash = hashOf(heading)
  const day = Timestamp.fromMillis(begin).slice(0, 10)
  const most = verified ? MAX_PER_DAY : MAX_UNVERIFIED_PER_DAY
  yield* sql`SELECT 1 AS taken FROM (SELECT pg_advisory_xact_lock(${DOMAIN_LOCKS}::int, hashtext(${domain_id}))::text) AS t, event_position`
  const [state] = yield* sql<{ readonly known: boolean; readonly full: boolean }>`
    SELECT coalesce(bool_or(hash = ${hash}), false) AS known,
      count(*) FILTER (WHERE day = ${day}::date) >= ${most}::int AS full
    FROM domain_reports
    WHERE account_id = ${account_id} AND domain_id = ${domain_id} AND kind = ${kind} AND verified = ${verified}`
  if (state?.known === true) return "duplicate"
  if (state?.full === true) return "too_many"
  yield* sql`
    INSERT INTO domain_reports
      (account_id, domain_id, kind, verified, reporter, hash, org_name, day, began_at, ended_at)
    VALUES (${account_id}, ${domain_id}, ${kind}, ${verified}, ${reporter}, ${hash}, ${orgName}, ${day}::date,
      to_timestamp(${begin / 1000}::float8), to_timestamp(${end / 1000}::float8))`
  yield* write(sql, target, day, heading)
  return "recorded"
})

const hashOf = ({ about, reporter, reportId }: Heading): Buffer =>
  createHash("sha256")
    .update(JSON.stringify([reporter, reportId, about]))
    .digest()

/** Maximum number of rows that one statement of the periodic task removes. */
const BATCH_ROWS = 10_000

const TABLES = ["dmarc_sources", "dmarc_overrides", "tls_results", "domain_reports"] as const

/** Removes what is older than the given number of days or belongs to a removed domain. Returns the number of rows. */
export const expire = Effect.fn("DomainReports.expire")(function* (days: number) {
  const sql = yield* Sql
  let removed = 0
  for (const table of TABLES)
    for (const condition of [sql`r.day < (now() AT TIME ZONE 'UTC')::date - ${days}::int`, ofRemoved(sql)]) {
      let last = BATCH_ROWS
      while (last === BATCH_ROWS) {
        const rows = yield* sql`
          DELETE FROM ${sql(table)} WHERE ctid = ANY(ARRAY(
            SELECT r.ctid FROM ${sql(table)} r WHERE ${condition} LIMIT ${BATCH_ROWS}::int)) RETURNING 1 AS removed`
        last = rows.length
        removed += last
      }
    }
  return removed
})

const ofRemoved = (sql: Sql) => sql`
  NOT EXISTS (SELECT 1 FROM domains d WHERE d.account_id = r.account_id AND d.id = r.domain_id AND NOT d.removed)`
