import type { AcceptedEmail } from "@waybill/domain/email/EmailState"
import type * as EmailFilter from "@waybill/domain/search/EmailFilter"
import type * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Statement } from "effect/sql"
import * as IdKey from "../postgres/IdKey.ts"
import type { Sql } from "../postgres/Sql.ts"
import * as EmailCodes from "../readmodels/emails/EmailCodes.ts"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import * as EmailLogCriteria from "./EmailLogCriteria.ts"
import * as EmailLogPart from "./EmailLogPart.ts"
import type * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailTerms from "./EmailTerms.ts"
import * as EmailWords from "./EmailWords.ts"
import * as OneRecipient from "./OneRecipient.ts"

/** A page of the emails that have all filters. */
export interface Query extends EmailFilter.Query {
  readonly account_id: Id.AccountId
  readonly limit: number
  /** Messages older than this id (`after`), or newer than this id (`before`); never both. */
  readonly after?: string
  readonly before?: string
  /** Each is a part of an address of a recipient or of the sender, of the subject or of a tag, or the beginning of the id. */
  readonly words?: ReadonlyArray<string>
}

/** A query in terms of the tables. */
export interface Filter {
  readonly order: EmailLogSource.Order
  readonly range: EmailLogSource.Range
  readonly terms: ReadonlyArray<EmailLogCriteria.Term>
  readonly parts: ReadonlyArray<EmailWords.Part>
  readonly criteria: ReadonlyArray<EmailLogCriteria.Criterion>
}

/** Returns the filter of a query; undefined if no message can match. */
export const filterOf = (query: Query, now: Timestamp.Timestamp): Filter | undefined => {
  const { account_id, after, before, words = [] } = query
  const meanings = EmailLogCriteria.of(query, now)
  const above = highest([before && IdKey.of(before), ...meanings.map((each) => each.above)])
  const below = lowest([after && IdKey.of(after), ...meanings.map((each) => each.below)])
  if (above >= below) return undefined
  const parts = [
    ...meanings.flatMap(({ part = [] }) => part),
    ...words.map((word) => EmailWords.part(word, "anywhere")),
  ]
  return {
    order: before === undefined ? "newest first" : "oldest first",
    range: { account_id, account: IdKey.of(account_id), above, below },
    terms: meanings.flatMap(({ terms = [] }) => terms),
    parts: parts.filter(({ folded }) => folded !== ""),
    criteria: [...meanings.flatMap(({ criterion = [] }) => criterion), ...OneRecipient.criteriaOf(query)],
  }
}

const highest = (keys: ReadonlyArray<IdKey.IdKey | undefined>): IdKey.IdKey =>
  keys.reduce<IdKey.IdKey>((a, b) => (b !== undefined && b > a ? b : a), IdKey.LOWEST)
const lowest = (keys: ReadonlyArray<IdKey.IdKey | undefined>): IdKey.IdKey =>
  keys.reduce<IdKey.IdKey>((a, b) => (b !== undefined && b < a ? b : a), IdKey.HIGHEST)

/** Returns the lists that an index holds in order, for everything the filter says except parts of texts. */
export const sourcesOf = (
  { criteria, terms }: Filter,
  known: EmailLogCriteria.Known,
): ReadonlyArray<EmailLogSource.Source> => [
  ...terms.map(({ text }) => ({ _tag: "Terms" as const, terms: EmailTerms.of([text]), unread: [] })),
  ...criteria.flatMap(({ list }) => list?.(known) ?? []),
]

/** Whether messages can be counted by the keys of what is searched. */
export const isByKeys = ({ criteria }: Filter, { codes }: EmailLogCriteria.Known): boolean =>
  criteria.every(({ isOfHistory }) => isOfHistory !== true) && !codes.includes(EmailCodes.SEVERAL)

/** The first events, if they tell messages that may have the parts. */
export const acceptedOf = ({ criteria, parts }: Filter): EmailLogSource.Source | undefined => {
  const isTold = parts.some(EmailLogPart.isAsItIs) && parts.every(({ ids }) => ids.length === 0)
  return isTold && criteria.every(({ isOfEvent }) => isOfEvent !== true) ? { _tag: "Accepted", parts } : undefined
}

/** Whether every message of the only source matches the filter, so that reading one page of ids suffices. */
export const isExact = ({ criteria, parts, terms }: Filter): boolean =>
  parts.length === 0 && terms.length + criteria.length <= 1 && criteria.every((each) => each.isExact === true)

/** Returns a join with the first event of a message, `accepted`, if the conditions need what only the event says. */
export const acceptedJoin = (sql: Sql, { criteria, parts, range }: Filter): Statement.Fragment =>
  criteria.some(({ isOfEvent }) => isOfEvent) || parts.some(({ where }) => where !== "subject")
    ? // With a LIMIT, no plan can begin with all events of the account.
      sql`CROSS JOIN LATERAL (SELECT e.data, e.meta, e.packed FROM events e
        WHERE e.account_id = ${range.account_id} AND e.stream_id = id_of('msg', l.id) AND e.version = 1 LIMIT 1) AS accepted`
    : sql.literal("")

/**
 * Conditions on the log's own row and the first event. They repeat what the source already guarantees, so that one statement serves every
 * source.
 */
export const conditions = (sql: Sql, { criteria, parts }: Filter): Statement.Fragment =>
  sql.join(
    " ",
    false,
  )([
    // Conditions on the row stand before those on its event.
    ...criteria.toReversed().map(({ where }) => sql`AND ${where(sql)}`),
    ...parts.map((part) => sql`AND (${EmailLogPart.has(sql, part)})`),
  ])

/**
 * Whether a message that was found by its keys has the texts and reply codes of the filter. Different texts may have the same key, by
 * chance or because somebody has computed two such texts. `status` is the number in the row.
 */
export const matches = ({ criteria, parts, terms }: Filter, status: number, message: AcceptedEmail): boolean =>
  criteria.every((each) => each.matches === undefined || each.matches(message, status)) &&
  hasTerms(terms, message) &&
  parts.every((part) => EmailLogPart.isIn(message, part))

const hasTerms = (terms: Filter["terms"], message: AcceptedEmail): boolean => {
  if (terms.length === 0) return true
  const own = new Set(EmailLog.termsOf(message))
  return terms.every(({ text }) => own.has(text))
}
