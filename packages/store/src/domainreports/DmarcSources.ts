import { Effect } from "effect"
import type * as DomainReports from "./DomainReports.ts"
import { Sql } from "../postgres/Sql.ts"

/** Mail of one source with one result. */
export interface Row {
  /** Null for sources that the report's limit left out. */
  readonly source: string | null
  readonly disposition: "none" | "quarantine" | "reject"
  readonly dkim: boolean
  readonly spf: boolean
  readonly messages: number
  readonly dkimDomain: string | null
  readonly spfDomain: string | null
}

/** Adds rows to those of the same day, source and result. */
export const write =
  (rowsOf: (target: DomainReports.Target) => ReadonlyArray<Row>): DomainReports.Write =>
  (sql, target, day, { reporter, verified }) => {
    const rows = merged(rowsOf(target))
    if (rows.length === 0) return Effect.void
    return sql`
      INSERT INTO dmarc_sources AS s
        (account_id, domain_id, day, verified, reporter, source, disposition, dkim_aligned, spf_aligned,
          messages, dkim_domain, spf_domain)
      SELECT ${target.account_id}, ${target.domain_id}, ${day}::date, ${verified}, ${reporter}, r.source, r.disposition, r.dkim,
        r.spf, r.messages, nullif(r.dkim_domain, ''), nullif(r.spf_domain, '')
      FROM unnest(${rows.map(({ source }) => source ?? "")}::text[], ${rows.map(({ disposition }) => disposition)}::text[],
        ${rows.map(({ dkim }) => dkim)}::boolean[], ${rows.map(({ spf }) => spf)}::boolean[],
        ${rows.map(({ messages }) => messages)}::bigint[], ${rows.map(({ dkimDomain }) => dkimDomain ?? "")}::text[],
        ${rows.map(({ spfDomain }) => spfDomain ?? "")}::text[])
        AS r(source, disposition, dkim, spf, messages, dkim_domain, spf_domain)
      ON CONFLICT (account_id, domain_id, day, verified, reporter, source, disposition, dkim_aligned, spf_aligned)
      DO UPDATE SET messages = s.messages + excluded.messages,
        dkim_domain = coalesce(excluded.dkim_domain, s.dkim_domain),
        spf_domain = coalesce(excluded.spf_domain, s.spf_domain)`
  }

/** Adds up rows of one source, which a report may have by several names of one domain. */
const merged = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const groups = Map.groupBy(rows, ({ disposition, dkim, source, spf }) => [source, disposition, dkim, spf].join(" "))
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ ...first, messages: others.reduce((sum, { messages }) => sum + messages, first.messages) }],
  )
}

export interface Span {
  readonly account_id: string
  readonly domain_id: string
  /** Days up to today that are counted. */
  readonly days: number
  readonly verified: boolean
}

export interface Counts {
  readonly messages: number
  readonly aligned: number
  readonly dkim_aligned: number
  readonly spf_aligned: number
  readonly quarantined: number
  readonly rejected: number
}

export interface Source extends Counts {
  readonly source_ip: string | null
  readonly dkim_domain: string | null
  readonly spf_domain: string | null
  readonly reporters: ReadonlyArray<string>
  readonly first_day: string
  readonly last_day: string
}

/** Names of reporters that a source, or a failure, lists. */
export const MAX_NAMED_REPORTERS = 10

/** The sources with the most mail. */
export const sources = Effect.fn("DmarcSources.sources")(function* (span: Span, limit: number) {
  const sql = yield* Sql
  const rows = yield* sql<Source>`
    SELECT nullif(source, '') AS source_ip, ${counts(sql)},
      (array_agg(dkim_domain ORDER BY messages DESC) FILTER (WHERE dkim_domain IS NOT NULL))[1] AS dkim_domain,
      (array_agg(spf_domain ORDER BY messages DESC) FILTER (WHERE spf_domain IS NOT NULL))[1] AS spf_domain,
      (array_agg(DISTINCT reporter))[1:${sql.literal(String(MAX_NAMED_REPORTERS))}] AS reporters,
      min(day)::text AS first_day, max(day)::text AS last_day
    FROM dmarc_sources WHERE ${within(sql, span)}
    GROUP BY source ORDER BY sum(messages) DESC, source LIMIT ${limit}::int`
  return rows
})

/** Counts of all sources together, and their number. */
export const totals = Effect.fn("DmarcSources.totals")(function* (span: Span) {
  const sql = yield* Sql
  const rows = yield* sql<Counts & { readonly sources: number }>`
    SELECT ${counts(sql)}, count(DISTINCT source)::int AS sources FROM dmarc_sources WHERE ${within(sql, span)}`
  return rows[0] ?? { ...NOTHING, sources: 0 }
})

const NOTHING: Counts = { messages: 0, aligned: 0, dkim_aligned: 0, spf_aligned: 0, quarantined: 0, rejected: 0 }

/** Sums are floating-point numbers, which hold every count exactly and come from the driver as numbers. */
const counts = (sql: Sql) =>
  sql.literal(`
  coalesce(sum(messages), 0)::float8 AS messages,
  coalesce(sum(messages) FILTER (WHERE dkim_aligned OR spf_aligned), 0)::float8 AS aligned,
  coalesce(sum(messages) FILTER (WHERE dkim_aligned), 0)::float8 AS dkim_aligned,
  coalesce(sum(messages) FILTER (WHERE spf_aligned), 0)::float8 AS spf_aligned,
  coalesce(sum(messages) FILTER (WHERE disposition = 'quarantine'), 0)::float8 AS quarantined,
  coalesce(sum(messages) FILTER (WHERE disposition = 'reject'), 0)::float8 AS rejected`)

/** Condition for rows of a span, also of the other tables of reports. */
export const within = (sql: Sql, { account_id, days, domain_id, verified }: Span) => sql`
  account_id = ${account_id} AND domain_id = ${domain_id} AND verified = ${verified}
  AND day > (now() AT TIME ZONE 'UTC')::date - ${days}::int`
