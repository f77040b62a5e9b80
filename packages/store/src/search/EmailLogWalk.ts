import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as EmailLogRecord from "../readmodels/EmailLogRecord.ts"
import * as IdKey from "../postgres/IdKey.ts"
import type * as EmailLogChoice from "./EmailLogChoice.ts"
import * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailLogRecheck from "./EmailLogRecheck.ts"
import * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailTerms from "./EmailTerms.ts"

export interface MatchingMessage {
  readonly id: string
  readonly record: EmailLogRecord.EmailLogRecord
}

interface WalkedRow {
  readonly examined: number
  readonly last: string | null
  readonly id: string | null
  /** Number of its status. */
  readonly status: number | null
  readonly history: EmailLogRecord.History
}

/** Whether every message of the source has the term, up to terms with the same key. */
const guarantees = (source: EmailLogSource.Source, term: EmailLogFilter.Term): boolean =>
  source._tag === "Common"
    ? source.sources.some((each) => guarantees(each, term))
    : source._tag === "Terms" && source.unreadAbove === null && EmailTerms.areOnly(source.terms, term.key)

/** Condition for a row `l` that has the term, in the row itself or in the table of further terms. */
const hasTerm = (sql: PgClient.PgClient, account: IdKey.IdKey, { column, key }: EmailLogFilter.Term) =>
  // A subquery with a LIMIT is answered by the index for each row, and never by reading the whole list of the term.
  sql`AND (l.${sql.literal(column)} = ${key}::bigint OR (
    SELECT true FROM email_log_terms t
    WHERE t.account_id = ${account}::uuid AND t.term = ${key}::bigint AND t.email_id = l.id LIMIT 1))`

/**
 * Reads the next ids of the source, and the messages that match with their histories. Each message is read by its key in a
 * LATERAL with its own LIMIT, so that no plan reads a whole table.
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
  const terms = filter.terms.filter((term) => !guarantees(source, term))
  const streamId = sql`id_of('msg', matching.id)`
  return sql<WalkedRow>`
    WITH walked AS MATERIALIZED (${EmailLogSource.ids(sql, source, range, filter.order, chunk)})
    SELECT span.examined, span.last, matching.id, matching.status,
      CASE WHEN matching.id IS NOT NULL THEN ${EmailLogRecord.history(sql, sql`${range.account_id}`, streamId)} END AS history
    FROM (SELECT (SELECT count(*)::int FROM walked) AS examined,
      (SELECT id FROM walked ORDER BY id ${sql.literal(newestFirst ? "ASC" : "DESC")} LIMIT 1) AS last) AS span
    LEFT JOIN LATERAL (
      SELECT message.id, message.status FROM walked
      CROSS JOIN LATERAL (
        SELECT l.id, l.status FROM email_log l ${EmailLogFilter.acceptedJoin(sql, filter)}
        WHERE l.account_id = ${range.account}::uuid AND l.id = walked.id ${EmailLogFilter.conditions(sql, filter)}
          ${sql.join(" ", false)(terms.map((term) => hasTerm(sql, range.account, term)))} LIMIT 1
      ) AS message
      ORDER BY message.id ${direction} LIMIT ${maxMatches}::int
    ) AS matching ON true
    ORDER BY matching.id ${direction}`
}

/** Messages of a step, and how far it has come. */
interface Step {
  readonly rows: ReadonlyArray<MatchingMessage>
  /** Number of ids read from the source. */
  readonly examined: number
  /** Whether the source has no further ids. */
  readonly isEnd: boolean
  /** Key from which the next step continues. */
  readonly last: IdKey.IdKey
}

export const walk = Effect.fnUntraced(function* (...of: Parameters<typeof statement>) {
  const [, filter, , , chunk, maxMatches] = of
  const found = yield* statement(...of)
  const matches = found.flatMap(({ history, id, status }) =>
    id === null ? [] : [{ key: IdKey.fromUuid(id), status: status ?? 0, history }],
  )
  const rows = matches.flatMap(({ history, key, status }): ReadonlyArray<MatchingMessage> => {
    const id = IdKey.idOf("EmailId", key)
    const message = EmailLogRecord.messageOf(id, history)
    if (message === undefined || !EmailLogRecheck.matches(filter, status, message)) return []
    return [{ id, record: EmailLogRecord.of(message, history?.length ?? 0) }]
  })
  const examined = found[0]?.examined ?? 0
  // If some matches had only the keys of what is searched, there may be others after the last one that was read.
  const isCut = matches.length === maxMatches && rows.length < maxMatches
  return {
    rows,
    examined,
    isEnd: examined < chunk && !isCut,
    last: (isCut ? matches.at(-1)?.key : undefined) ?? IdKey.fromUuid(found[0]?.last ?? IdKey.LOWEST),
  } satisfies Step
})

/** Reads a range of several lists to its end. */
export const walkCommon = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  filter: EmailLogFilter.Filter,
  { examined, isEnd, last, range, source }: EmailLogChoice.Common,
  maxMatches: number,
) {
  const step = yield* walk(sql, filter, source, range, EmailLogSource.MAX_ENTRIES, maxMatches)
  return step.isEnd ? { ...step, examined, isEnd, last } : step
})
