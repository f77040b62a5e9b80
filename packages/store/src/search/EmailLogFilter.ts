import * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/values/DomainName"
import type * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type * as Labels from "@waybill/domain/email/Labels"
import type { MailboxProvider } from "@waybill/domain/search/MailboxProvider"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Statement } from "effect/sql"
import * as IdKey from "../postgres/IdKey.ts"
import * as EmailCodes from "../readmodels/emails/EmailCodes.ts"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import * as EmailLogPart from "./EmailLogPart.ts"
import type * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailTerms from "./EmailTerms.ts"
import * as EmailWords from "./EmailWords.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as TermKey from "../postgres/TermKey.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Statuses that a search knows; "scheduled" is queued with a scheduled time in the future. */
export type SearchedStatus = EmailStatus.Status | "scheduled"

export interface Query {
  readonly account_id: Id.AccountId
  readonly limit: number
  /** Any of these; empty means all. */
  readonly status?: ReadonlyArray<SearchedStatus>
  /** Any of these for any recipient; empty means all. */
  readonly recipient_status?: ReadonlyArray<EmailStatus.Status>
  /** Any of these codes, such as `550`, or classes of codes, such as `5xx`, for any recipient; empty means all. */
  readonly code?: ReadonlyArray<string>
  /** Any of these providers of mailboxes for any recipient; empty means all. */
  readonly provider?: ReadonlyArray<MailboxProvider>
  /** Messages older than this id (`after`), or newer than this id (`before`); never both. */
  readonly after?: string
  readonly before?: string
  readonly to?: Address.Address
  readonly from?: Address.Address
  /** Part of the subject, in any case. */
  readonly subject?: string
  /** Part of the address of a recipient, as `RecipientPart` reads it. */
  readonly recipient?: string
  /** Each is a part of an address of a recipient or of the sender, of the subject or of a tag, or the beginning of the id. */
  readonly words?: ReadonlyArray<string>
  readonly api_key_id?: Id.ApiKeyId
  /** The only message that may match. */
  readonly id?: Id.EmailId
  /** Every one of these. */
  readonly tags?: ReadonlyArray<string>
  /** Every one of these pairs. */
  readonly metadata?: Labels.Metadata
  /** The template that the message was made of. */
  readonly template?: Id.TemplateId
  readonly domain?: DomainName.DomainName
  /** Earliest time, inclusive. */
  readonly created_after?: Timestamp.Timestamp
  /** Latest time, exclusive. */
  readonly created_before?: Timestamp.Timestamp
  /** Times of mail that waits for them: the earliest, inclusive, and the latest, exclusive. */
  readonly scheduled_after?: Timestamp.Timestamp
  readonly scheduled_before?: Timestamp.Timestamp
}

/** A query in terms of the tables. */
export interface Filter {
  readonly order: EmailLogSource.Order
  readonly range: EmailLogSource.Range
  readonly statuses: ReadonlyArray<EmailStatus.Status>
  /** Time after which scheduled messages match too; null if they are not searched. */
  readonly scheduledAfter: Timestamp.Timestamp | null
  /** Times of scheduled messages, if only those match. */
  readonly due: Due | null
  readonly recipientStatuses: ReadonlyArray<EmailStatus.Status>
  readonly codes: ReadonlyArray<ReplyCode.CodeRange>
  readonly from: Address.Address | null
  readonly domain: DomainName.DomainName | null
  readonly terms: ReadonlyArray<Term>
  readonly parts: ReadonlyArray<EmailWords.Part>
  readonly apiKey: Id.ApiKeyId | null
}

/** Times from the first, inclusive, to the last, exclusive. */
interface Due {
  readonly from: string
  readonly to: string | undefined
}

/** A recipient, a tag, a pair of metadata or a template. */
export interface Term {
  readonly text: string
  readonly key: TermKey.TermKey
  /** Column of the log's row that may have the key; `null` if only the table of further terms may. */
  readonly column: "to_key" | "tag_key" | null
}

const term = (text: string, column: Term["column"]): Term => ({ text, key: TermKey.of(text), column })

/** Returns the filter of a query; undefined if no message can match. */
export const filterOf = (query: Query, now: Timestamp.Timestamp): Filter | undefined => {
  const {
    after,
    before,
    created_after,
    created_before,
    domain,
    from,
    id,
    metadata = {},
    tags = [],
    template,
    to,
  } = query
  const above = highest([
    before && IdKey.of(before),
    created_after && IdKey.beside(lowest(created_after), -1),
    id && IdKey.beside(IdKey.of(id), -1),
  ])
  const below = lowestOf([
    after && IdKey.of(after),
    created_before && lowest(created_before),
    id && IdKey.beside(IdKey.of(id), 1),
  ])
  if (above >= below) return undefined
  const statuses = new Set(query.status ?? [])
  return {
    order: before === undefined ? "newest first" : "oldest first",
    range: { account_id: query.account_id, account: IdKey.of(query.account_id), above, below },
    statuses: [...statuses].filter((status) => status !== "scheduled"),
    scheduledAfter: statuses.has("scheduled") && !statuses.has("queued") ? now : null,
    due:
      query.scheduled_after === undefined && query.scheduled_before === undefined
        ? null
        : { from: query.scheduled_after ?? "", to: query.scheduled_before },
    recipientStatuses: [...new Set(query.recipient_status ?? [])],
    codes: [...new Set(query.code ?? [])].map(ReplyCode.rangeOf),
    from: from === undefined ? null : Address.keyOf(from),
    // A forward has its author as sender, and the domain that answers for it.
    domain: domain ?? null,
    terms: [
      ...(to === undefined ? [] : [term(EmailLog.recipientTerm(to), "to_key")]),
      ...[...new Set(tags)].map((tag) => term(EmailLog.tagTerm(tag), "tag_key")),
      ...Object.entries(metadata).map(([name, value]) => term(EmailLog.metadataTerm(name, value), null)),
      ...(template === undefined ? [] : [term(EmailLog.templateTerm(template), null)]),
    ],
    parts: partsOf(query),
    apiKey: query.api_key_id ?? null,
  }
}

const partsOf = ({ provider = [], recipient, subject, words = [] }: Query): ReadonlyArray<EmailWords.Part> =>
  [
    ...(subject === undefined ? [] : [EmailWords.part(subject, "subject")]),
    ...(provider.length === 0 ? [] : [EmailWords.atProviders(provider)]),
    ...(recipient === undefined ? [] : [EmailWords.ofRecipient(recipient)]),
    ...words.map((word) => EmailWords.part(word, "anywhere")),
  ].filter(({ folded }) => folded !== "")

/** Returns the lowest key of a time. */
const lowest = (at: Timestamp.Timestamp): IdKey.IdKey => IdKey.of(Id.lowest("EmailId", Timestamp.toMillis(at)))
const highest = (keys: ReadonlyArray<IdKey.IdKey | undefined>): IdKey.IdKey =>
  keys.reduce<IdKey.IdKey>((a, b) => (b !== undefined && b > a ? b : a), IdKey.LOWEST)
const lowestOf = (keys: ReadonlyArray<IdKey.IdKey | undefined>): IdKey.IdKey =>
  keys.reduce<IdKey.IdKey>((a, b) => (b !== undefined && b < a ? b : a), IdKey.HIGHEST)

/** Whether the values of facets have to be known before the lists of the filter are. */
export const needsFacets = ({ due, recipientStatuses, scheduledAfter }: Filter): boolean =>
  recipientStatuses.length > 0 || scheduledAfter !== null || due !== null

/** Facts of the database from which the lists of a filter follow. */
export interface Known {
  readonly facets: ReadonlyArray<EmailFacets.Facets>
  /** Reply codes of messages; empty if none is searched. */
  readonly codes: ReadonlyArray<number>
  /** Messages of the key that the follower may not have read; undefined if they are too many to list. */
  readonly unread: ReadonlyArray<IdKey.IdKey> | undefined
}

type Statuses = ReadonlyArray<EmailStatus.Status>

/** Whether there are lists of messages with these statuses. Delivered messages are nearly all, so that no index lists them. */
const areListed = (statuses: Statuses): statuses is ReadonlyArray<Exclude<EmailStatus.Status, "delivered">> =>
  !statuses.includes("delivered")

/** Returns the lists that an index holds in order, for everything the filter says except parts of texts. */
export const sourcesOf = (
  { apiKey, codes, domain, due, from, recipientStatuses, scheduledAfter, statuses, terms }: Filter,
  { facets, unread, ...known }: Known,
): ReadonlyArray<EmailLogSource.Source> => {
  const sources: Array<EmailLogSource.Source> = terms.map(({ text }) => ({
    _tag: "Terms",
    terms: EmailTerms.of([text]),
    unread: [],
  }))
  if (apiKey !== null && unread !== undefined) sources.push({ _tag: "Key", apiKey: IdKey.of(apiKey), unread })
  if (recipientStatuses.length > 0 && areListed(recipientStatuses))
    sources.push({
      _tag: "Status",
      statuses: recipientStatuses,
      facets: EmailFacets.withRecipients(facets, recipientStatuses),
    })
  if (codes.length > 0) sources.push({ _tag: "Code", codes: EmailCodes.within(known.codes, codes) })
  if (from !== null) sources.push({ _tag: "From", address: EmailLog.fromKey(from) })
  else if (domain !== null) sources.push({ _tag: "Domain", domain: EmailLog.domainKey(domain) })
  if (due !== null) sources.push({ _tag: "Status", statuses: [], facets: EmailFacets.withSchedule(facets) })
  const isScheduled = scheduledAfter !== null
  if ((statuses.length > 0 || isScheduled) && areListed(statuses))
    sources.push({ _tag: "Status", statuses, facets: isScheduled ? EmailFacets.withSchedule(facets) : [] })
  return sources
}

/** Whether messages can be counted by the keys of what is searched: only a history has its scheduled time, and several codes. */
export const isByKeys = ({ due, scheduledAfter }: Filter, { codes }: Known): boolean =>
  due === null && scheduledAfter === null && !codes.includes(EmailCodes.SEVERAL)

/** The first events, if they tell messages that may have the parts. */
export const acceptedOf = ({ apiKey, parts }: Filter): EmailLogSource.Source | undefined => {
  const isTold = parts.some(EmailLogPart.isAsItIs) && parts.every(({ ids }) => ids.length === 0)
  return apiKey === null && isTold ? { _tag: "Accepted", parts } : undefined
}

/** Whether every message of the only source matches the filter, so that reading one page of ids suffices. */
export const isExact = ({
  apiKey,
  codes,
  domain,
  due,
  from,
  recipientStatuses,
  scheduledAfter,
  statuses,
  parts,
  terms,
}: Filter): boolean => {
  const lists = [from !== null, domain !== null, statuses.length > 0, recipientStatuses.length > 0]
  // Messages that are queued are among those that wait for delivery, and delivered ones among all.
  const areExact = [...statuses, ...recipientStatuses].every(EmailFacets.isListed)
  const sources = terms.length + lists.filter((list) => list).length
  return (
    parts.length === 0 &&
    codes.length === 0 &&
    apiKey === null &&
    scheduledAfter === null &&
    due === null &&
    areExact &&
    sources <= 1
  )
}

/** Returns a join with the first event of a message, `accepted`, if the conditions need what only the event says. */
export const acceptedJoin = (sql: Sql, { apiKey, parts, range }: Filter): Statement.Fragment =>
  apiKey === null && parts.every(({ where }) => where === "subject")
    ? nothing(sql)
    : // With a LIMIT, no plan can begin with all events of the account.
      sql`CROSS JOIN LATERAL (SELECT e.data, e.meta, e.packed FROM events e
        WHERE e.account_id = ${range.account_id} AND e.stream_id = id_of('msg', l.id) AND e.version = 1 LIMIT 1) AS accepted`

/**
 * Conditions on the log's own row and the first event. They repeat what the source already guarantees, so that one statement serves every
 * source.
 */
export const conditions = (sql: Sql, filter: Filter): Statement.Fragment => sql`
  ${ownStatus(sql, filter)}
  ${filter.due === null ? nothing(sql) : sql`AND ${isScheduled(sql)}`}
  ${recipientStatus(sql, filter)}
  ${code(sql, filter)}
  ${filter.domain === null ? nothing(sql) : sql`AND l.domain_key = ${EmailLog.domainKey(filter.domain)}::int`}
  ${filter.from === null ? nothing(sql) : sql`AND l.from_key = ${EmailLog.fromKey(filter.from)}::bigint`}
  ${filter.apiKey === null ? nothing(sql) : sql`AND ${isOfKey(sql, filter.apiKey)}`}
  ${sql.join(" ", false)(filter.parts.map((part) => sql`AND (${EmailLogPart.has(sql, part)})`))}`

/** Whether a message was accepted from a key, which is usually the actor if its event is packed. */
export const isOfKey = (sql: Sql, apiKey: Id.ApiKeyId): Statement.Fragment => sql`coalesce(
  ${PackedSql.field(sql, "accepted", "EmailQueued", "api_key_id")},
  CASE WHEN accepted.packed IS NOT NULL THEN ${PackedSql.metaField(sql, "accepted", "actor")} END) = ${apiKey}`

const nothing = (sql: Sql) => sql.literal("")

// The scheduled time is compared when the message is read.
const isScheduled = (sql: Sql) => sql`l.facets & ${EmailFacets.SCHEDULED}::int <> 0`

const ownStatus = (sql: Sql, { scheduledAfter, statuses }: Filter): Statement.Fragment => {
  const isOneOf = EmailFacets.hasStatus(sql, "l", statuses)
  if (scheduledAfter === null) return statuses.length === 0 ? nothing(sql) : sql`AND ${isOneOf}`
  return sql`AND (${isOneOf} OR ${isScheduled(sql)})`
}

const recipientStatus = (sql: Sql, { recipientStatuses }: Filter): Statement.Fragment =>
  recipientStatuses.length === 0 ? nothing(sql) : sql`AND ${EmailFacets.haveRecipient(sql, "l", recipientStatuses)}`

const code = (sql: Sql, { codes }: Filter): Statement.Fragment => {
  if (codes.length === 0) return nothing(sql)
  // Which of several codes a message has is compared when it is read.
  const ranges = codes.map(({ from, to }) => sql` OR l.code BETWEEN ${from}::smallint AND ${to}::smallint`)
  return sql`AND (l.code = ${EmailCodes.SEVERAL}::smallint${sql.join("", false)(ranges)})`
}
