import type * as DmarcReason from "@waybill/domain/domain/DmarcReason"
import { Effect } from "effect"
import * as DmarcSources from "./DmarcSources.ts"
import type * as DomainReports from "./DomainReports.ts"
import { Sql } from "../postgres/Sql.ts"

/** Mail to which receivers did not apply the policy, for one reason. */
export interface Override {
  readonly reason: DmarcReason.Reason
  readonly messages: number
  /** Words of a reporter. */
  readonly comment: string | null
}

/** The overrides of one source of a report; null for sources that the report's limit left out. */
export interface OfSource {
  readonly source: string | null
  readonly overrides: ReadonlyArray<Override>
}

/** Adds overrides to those of the same day, source and reason. */
export const write =
  (rowsOf: (target: DomainReports.Target) => ReadonlyArray<OfSource>): DomainReports.Write =>
  (sql, target, day, { reporter, verified }) => {
    const rows = merged(rowsOf(target))
    if (rows.length === 0) return Effect.void
    return sql`
      INSERT INTO dmarc_overrides AS o
        (account_id, domain_id, day, verified, reporter, source, reason, messages, comment)
      SELECT ${target.account_id}, ${target.domain_id}, ${day}::date, ${verified}, ${reporter}, r.source, r.reason,
        r.messages, nullif(r.comment, '')
      FROM unnest(${rows.map(({ source }) => source)}::text[], ${rows.map(({ reason }) => reason)}::text[],
        ${rows.map(({ messages }) => messages)}::bigint[], ${rows.map(({ comment }) => comment ?? "")}::text[])
        AS r(source, reason, messages, comment)
      ON CONFLICT (account_id, domain_id, day, verified, reporter, source, reason)
      DO UPDATE SET messages = o.messages + excluded.messages, comment = coalesce(excluded.comment, o.comment)`
  }

/** Adds up overrides of one source, which a report may have with several results. */
const merged = (rows: ReadonlyArray<OfSource>) => {
  const each = rows.flatMap(({ overrides, source }) => overrides.map((one) => ({ ...one, source: source ?? "" })))
  return [...Map.groupBy(each, ({ reason, source }) => `${source} ${reason}`).values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [
          {
            ...first,
            messages: others.reduce((sum, { messages }) => sum + messages, first.messages),
            comment: first.comment ?? others.find(({ comment }) => comment !== null)?.comment ?? null,
          },
        ],
  )
}

/** Overrides of all sources together, those of the most mail first. */
export const totals = Effect.fn("DmarcOverrides.totals")(function* (span: DmarcSources.Span) {
  const sql = yield* Sql
  return yield* sql<Override>`
    SELECT ${columns(sql)} FROM dmarc_overrides WHERE ${DmarcSources.within(sql, span)}
    GROUP BY reason ORDER BY sum(messages) DESC, reason`
})

/** Overrides of these sources, each with its source, those of the most mail first. */
export const ofSources = Effect.fn("DmarcOverrides.ofSources")(function* (
  span: DmarcSources.Span,
  sources: ReadonlyArray<string | null>,
) {
  const sql = yield* Sql
  return yield* sql<Override & { readonly source_ip: string | null }>`
    SELECT nullif(source, '') AS source_ip, ${columns(sql)} FROM dmarc_overrides
    WHERE ${DmarcSources.within(sql, span)} AND source = ANY(${sources.map((source) => source ?? "")}::text[])
    GROUP BY source, reason ORDER BY sum(messages) DESC, reason`
})

const columns = (sql: Sql) =>
  sql.literal(`
  reason, sum(messages)::float8 AS messages,
  (array_agg(comment ORDER BY messages DESC) FILTER (WHERE comment IS NOT NULL))[1] AS comment`)
