import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as EmailLogRecord from "../readmodels/EmailLogRecord.ts"
import * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailLogSource from "./EmailLogSource.ts"

export interface MatchingMessage {
  readonly id: string
  readonly record: EmailLogRecord.EmailLogRecord
}

interface WalkedRow {
  readonly examined: number
  readonly last: string | null
  readonly id: string | null
  readonly history: EmailLogRecord.History
}

/**
 * Reads the next ids of the source, and the messages that match with their histories. Terms are checked before the message is read, each by
 * its key in a LATERAL with its own LIMIT, so that no plan reads a whole table.
 */
export const statement = (
  sql: PgClient.PgClient,
  filter: EmailLogFilter.Filter,
  source: EmailLogSource.Source,
  range: EmailLogSource.Range,
  chunk: number,
  maxMatches: number,
) => {
  const newestFirst = filter.order === "newest first"
  const direction = sql.literal(newestFirst ? "DESC" : "ASC")
  // A source of this one term guarantees it; a source of several terms guarantees none of them.
  const terms = filter.terms.filter(
    (term) =>
      source._tag !== "Terms" || source.terms.length > 1 || source.unreadAbove !== null || source.terms[0] !== term,
  )
  const lookUps = terms.map(
    (term, nth) => sql`CROSS JOIN LATERAL (
      SELECT 1 FROM email_log_terms
      WHERE account_id = ${range.account_id} AND term = ${term} AND email_id = walked.id LIMIT 1) AS ${sql.literal(`has_${nth}`)}`,
  )
  return sql<WalkedRow>`
    WITH walked AS MATERIALIZED (${EmailLogSource.ids(sql, source, range, filter.order, chunk)})
    SELECT span.examined, span.last, matching.id,
      CASE WHEN matching.id IS NOT NULL THEN ${EmailLogRecord.history(sql, sql`${range.account_id}`, sql`matching.id`)} END AS history
    FROM (SELECT count(*)::int AS examined, ${sql.literal(newestFirst ? "min(id)" : "max(id)")} AS last FROM walked) AS span
    LEFT JOIN LATERAL (
      SELECT message.id FROM walked ${sql.join(" ", false)(lookUps)}
      CROSS JOIN LATERAL (
        SELECT l.id FROM email_log l ${EmailLogFilter.acceptedJoin(sql, filter)}
        WHERE l.account_id = ${range.account_id} AND l.id = walked.id ${EmailLogFilter.conditions(sql, filter)} LIMIT 1
      ) AS message
      ORDER BY message.id ${direction} LIMIT ${maxMatches}::int
    ) AS matching ON true
    ORDER BY matching.id ${direction}`
}

export const walk = Effect.fnUntraced(function* (...args: Parameters<typeof statement>) {
  const rows = yield* statement(...args)
  return {
    examined: rows[0]?.examined ?? 0,
    last: rows[0]?.last ?? "",
    rows: rows.flatMap(({ history, id }): ReadonlyArray<MatchingMessage> => {
      const record = id === null ? undefined : EmailLogRecord.fold(id, history)
      return id === null || record === undefined ? [] : [{ id, record }]
    }),
  }
})
