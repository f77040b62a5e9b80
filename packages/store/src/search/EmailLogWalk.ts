import { Effect } from "effect"
import * as EmailLogRecord from "../readmodels/emails/EmailLogRecord.ts"
import * as IdKey from "../postgres/IdKey.ts"
import type * as EmailLogCriteria from "./EmailLogCriteria.ts"
import * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailTerms from "./EmailTerms.ts"
import type { Sql } from "../postgres/Sql.ts"

export interface MatchingMessage {
  readonly id: string
  /** Undefined if messages are only counted. */
  readonly record: EmailLogRecord.EmailLogRecord | undefined
}

interface WalkedRow {
  readonly examined: number
  readonly last: string | null
  readonly id: string | null
  /** Number of its status. */
  readonly status: number | null
  readonly bytes: number | null
  /** Null of messages that the page has no more bytes for. */
  readonly history: EmailLogRecord.History
}

/** How much a step may find. It finds one message at least, however many bytes it has. */
export interface Room {
  readonly messages: number
  readonly bytes: number
  /** Whether messages are counted by the keys of what is searched, without their histories. */
  readonly isCount: boolean
}

/** Whether every message of the source has the term, up to terms with the same key. */
const guarantees = (source: EmailLogSource.Source, term: EmailLogCriteria.Term): boolean =>
  source._tag === "Common"
    ? source.sources.some((each) => guarantees(each, term))
    : source._tag === "Terms" && source.unread.length === 0 && EmailTerms.areOnly(source.terms, term.key)

/** Condition for a row `l` that has the term, in the row itself or in the table of further terms. */
const hasTerm = (sql: Sql, account: IdKey.IdKey, { column, key }: EmailLogCriteria.Term) =>
  // A subquery with a LIMIT is answered by the index for each row, and never by reading the whole list of the term.
  sql`AND (${column === null ? sql.literal("") : sql`l.${sql.literal(column)} = ${key}::bigint OR`} (
    SELECT true FROM email_log_terms t
    WHERE t.account_id = ${account}::uuid AND t.term = ${key}::bigint AND t.email_id = l.id LIMIT 1))`

/**
 * Reads the next ids of the source, and the messages that match with their histories. Each message is read by its key in a
 * LATERAL with its own LIMIT, so that no plan reads a whole table.
 */
export const statement = (
  sql: Sql,
  filter: EmailLogFilter.Filter,
  source: EmailLogSource.Source,
  range: EmailLogSource.Range,
  chunk: number,
  room: Room,
) => {
  const newestFirst = filter.order === "newest first"
  const direction = sql.literal(newestFirst ? "DESC" : "ASC")
  const terms = filter.terms.filter((term) => !guarantees(source, term))
  const history = room.isCount
    ? sql.literal("'{}'::text[]")
    : EmailLogRecord.history(sql, sql`${range.account_id}`, sql`id_of('msg', message.id)`)
  return sql<WalkedRow>`
    WITH walked AS MATERIALIZED (${EmailLogSource.ids(sql, source, range, filter.order, chunk)})
    SELECT span.examined, span.last, measured.id, measured.status, measured.bytes,
      CASE WHEN coalesce(measured.bytes_before, 0) < ${room.bytes}::int THEN measured.history END AS history
    FROM (SELECT (SELECT count(*)::int FROM walked) AS examined,
      (SELECT id FROM walked ORDER BY id ${sql.literal(newestFirst ? "ASC" : "DESC")} LIMIT 1) AS last) AS span
    LEFT JOIN LATERAL (
      SELECT matching.*, pg_column_size(matching.history) AS bytes, sum(pg_column_size(matching.history)) OVER (
        ORDER BY matching.id ${direction} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (SELECT message.id, message.status, ${history} AS history
      FROM walked CROSS JOIN LATERAL (
        SELECT l.id, l.status FROM email_log l ${EmailLogFilter.acceptedJoin(sql, filter)}
        WHERE l.account_id = ${range.account}::uuid AND l.id = walked.id ${EmailLogFilter.conditions(sql, filter)}
          ${sql.join(" ", false)(terms.map((term) => hasTerm(sql, range.account, term)))} LIMIT 1
      ) AS message
      ORDER BY message.id ${direction} LIMIT ${room.messages}::int) AS matching
    ) AS measured ON true
    ORDER BY measured.id ${direction}`
}

/** Messages of a step, and how far it has come. */
export interface Walked {
  readonly rows: ReadonlyArray<MatchingMessage>
  /** Number of ids read from the source. */
  readonly examined: number
  /** Whether the source has no further ids. */
  readonly isEnd: boolean
  readonly bytes: number
  /** Whether the page has no more bytes. */
  readonly isFull: boolean
  /** Key from which the next step continues. */
  readonly last: IdKey.IdKey
}

export const walk = Effect.fnUntraced(function* (...of: Parameters<typeof statement>) {
  const [, filter, , , chunk, room] = of
  const found = yield* statement(...of)
  const matches = found.flatMap(({ bytes, history, id, status }) =>
    id === null || history === null
      ? []
      : [{ key: IdKey.fromUuid(id), status: status ?? 0, bytes: bytes ?? 0, history }],
  )
  const rows = matches.flatMap(({ history, key, status }): ReadonlyArray<MatchingMessage> => {
    const id = IdKey.idOf("EmailId", key)
    if (room.isCount) return [{ id, record: undefined }]
    const message = EmailLogRecord.messageOf(id, history)
    if (message === undefined || !EmailLogFilter.matches(filter, status, message)) return []
    return [{ id, record: EmailLogRecord.of(message, history?.length ?? 0) }]
  })
  const examined = found[0]?.examined ?? 0
  const bytes = matches.reduce((sum, match) => sum + match.bytes, 0)
  const isWhole = found.every(({ history, id }) => id === null || history !== null)
  // If some matches had only the keys of what is searched, there may be others after the last one that was read.
  const isCut = !isWhole || (matches.length === room.messages && rows.length < room.messages)
  return {
    rows,
    examined,
    bytes,
    isFull: bytes >= room.bytes,
    isEnd: examined < chunk && !isCut,
    last: (isCut ? matches.at(-1)?.key : undefined) ?? IdKey.fromUuid(found[0]?.last ?? IdKey.LOWEST),
  } satisfies Walked
})
