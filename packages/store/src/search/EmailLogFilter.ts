import type { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/domain/DomainName"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Statement } from "effect/sql"
import * as EmailLog from "../readmodels/EmailLog.ts"
import * as EmailFacets from "./EmailFacets.ts"
import type * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailSubjects from "./EmailSubjects.ts"
import * as EmailWords from "./EmailWords.ts"
import * as PackedSql from "../packed/PackedSql.ts"

/** Statuses that a search knows; "scheduled" is queued with a scheduled time in the future. */
export type SearchedStatus = EmailStatus.Status | "scheduled"

export interface Query {
  readonly account_id: Id.AccountId
  readonly limit: number
  /** Any of these; empty means all. */
  readonly status?: ReadonlyArray<SearchedStatus>
  /** Any of these for any recipient; empty means all. */
  readonly recipient_status?: ReadonlyArray<EmailStatus.Status>
  /** Messages older than this id (`after`), or newer than this id (`before`); never both. */
  readonly after?: string
  readonly before?: string
  readonly to?: Address.Address
  readonly from?: Address.Address
  /** Part of the subject, in any case. */
  readonly subject?: string
  /** Part of the address of a recipient. */
  readonly recipient?: string
  /** Each is a part of a recipient's address, of the subject or of a tag. */
  readonly words?: ReadonlyArray<string>
  readonly api_key_id?: Id.ApiKeyId
  /** The only message that may match. */
  readonly id?: Id.EmailId
  /** Every one of these. */
  readonly tags?: ReadonlyArray<string>
  readonly domain?: DomainName.DomainName
  /** Earliest time, inclusive. */
  readonly created_after?: Timestamp.Timestamp
  /** Latest time, exclusive. */
  readonly created_before?: Timestamp.Timestamp
}

/** A query in terms of the tables. */
export interface Filter {
  readonly order: EmailLogSource.Order
  readonly range: EmailLogSource.Range
  readonly statuses: ReadonlyArray<EmailStatus.Status>
  /** Time after which scheduled messages match too; null if they are not searched. */
  readonly scheduledAfter: Timestamp.Timestamp | null
  readonly recipientStatuses: ReadonlyArray<EmailStatus.Status>
  readonly from: string | null
  readonly domain: string | null
  readonly terms: ReadonlyArray<string>
  readonly parts: ReadonlyArray<EmailWords.Part>
  readonly apiKey: string | null
}

/** Returns the filter of a query; undefined if no message can match. */
export const filterOf = (query: Query, now: Timestamp.Timestamp): Filter | undefined => {
  const { after, before, created_after, created_before, domain, from, id, tags = [], to } = query
  // The domain of a message is its sender's, so with a sender it is redundant or contradictory.
  if (from !== undefined && domain !== undefined && Address.domainOf(Address.keyOf(from)) !== domain) return undefined
  const above = greatest([before, created_after && justBelow(created_after), id && beside(id, -1)], "")
  const below = lowestOf([after, created_before && lowest(created_before), id && beside(id, 1)], "~")
  if (above >= below) return undefined
  const statuses = new Set(query.status ?? [])
  return {
    order: before === undefined ? "newest first" : "oldest first",
    range: { account_id: query.account_id, above, below },
    statuses: [...statuses].filter((status) => status !== "scheduled"),
    scheduledAfter: statuses.has("scheduled") && !statuses.has("queued") ? now : null,
    recipientStatuses: [...new Set(query.recipient_status ?? [])],
    from: from === undefined ? null : Address.keyOf(from),
    domain: from === undefined ? (domain ?? null) : null,
    terms: [...(to === undefined ? [] : [EmailLog.recipientTerm(to)]), ...[...new Set(tags)].map(EmailLog.tagTerm)],
    parts: partsOf(query),
    apiKey: query.api_key_id ?? null,
  }
}

const partsOf = ({ recipient, subject, words = [] }: Query): ReadonlyArray<EmailWords.Part> =>
  [
    ...(subject === undefined ? [] : [EmailWords.part(subject, "subject")]),
    ...(recipient === undefined ? [] : [EmailWords.part(recipient, "recipient")]),
    ...words.map((word) => EmailWords.part(word, "anywhere")),
  ].filter(({ folded }) => folded !== "")

const lowest = (at: Timestamp.Timestamp): string => Id.lowest("EmailId", Timestamp.toMillis(at))
/** Ids have one length, so a prefix sorts before every id that begins with it. */
const justBelow = (at: Timestamp.Timestamp): string => lowest(at).slice(0, -1)
/** Returns a bound next to an id, with no other id in between. */
const beside = (id: string, direction: -1 | 1): string =>
  direction === 1 ? `${id}~` : `${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) - 1)}~`
const greatest = (ids: ReadonlyArray<string | undefined>, none: string): string =>
  ids.reduce<string>((a, b) => (b !== undefined && b > a ? b : a), none)
const lowestOf = (ids: ReadonlyArray<string | undefined>, none: string): string =>
  ids.reduce<string>((a, b) => (b !== undefined && b < a ? b : a), none)

/** Whether the values of facets have to be known before the lists of the filter are. */
export const needsFacets = ({ recipientStatuses, scheduledAfter }: Filter): boolean =>
  recipientStatuses.length > 0 || scheduledAfter !== null

/** Whether a list of the filter has only the messages that the follower has read. */
export const needsUnread = ({ apiKey, parts }: Filter): boolean => apiKey !== null || parts.some(EmailWords.isFollowed)

/** Facts of the database from which the lists of a filter follow. */
export interface Known {
  readonly facets: ReadonlyArray<EmailFacets.Facets>
  /** Id above which the follower may not have read messages. */
  readonly unreadAbove: string
}

/** Returns the lists that an index holds in order, for everything the filter says except parts of texts. */
export const sourcesOf = (
  { apiKey, domain, from, recipientStatuses, scheduledAfter, statuses, terms }: Filter,
  { facets, unreadAbove }: Known,
): ReadonlyArray<EmailLogSource.Source> => {
  const isScheduled = scheduledAfter !== null
  const own = isScheduled ? [...statuses, "queued" as const] : statuses
  const any = own.length === 0 ? EmailStatus.ALL : own
  const sources: Array<EmailLogSource.Source> = terms.map((term) => ({
    _tag: "Terms",
    terms: [term],
    unreadAbove: null,
  }))
  if (apiKey !== null) sources.push({ _tag: "Key", apiKey, unreadAbove })
  if (recipientStatuses.length > 0)
    sources.push({
      _tag: "Status",
      statuses: recipientStatuses,
      facets: EmailFacets.withRecipients(facets, recipientStatuses),
    })
  if (from !== null) sources.push({ _tag: "From", address: from, statuses: any })
  else if (domain !== null) sources.push({ _tag: "Domain", domain, statuses: any })
  else if (own.length > 0)
    sources.push({ _tag: "Status", statuses, facets: isScheduled ? EmailFacets.withSchedule(facets) : [] })
  return sources
}

/** Whether every message of the only source matches the filter, so that reading one page of ids suffices. */
export const isExact = ({
  apiKey,
  domain,
  from,
  recipientStatuses,
  scheduledAfter,
  statuses,
  parts,
  terms,
}: Filter): boolean => {
  // The lists of a sender or a domain are divided by status.
  const lists = from !== null || domain !== null || statuses.length > 0 ? 1 : 0
  const recipients = recipientStatuses.length > 0 ? 1 : 0
  return parts.length === 0 && apiKey === null && scheduledAfter === null && terms.length + lists + recipients <= 1
}

/** Returns a join with the first event of a message, `accepted`, if the conditions need what only the event says. */
export const acceptedJoin = (sql: PgClient.PgClient, { apiKey, parts }: Filter): Statement.Fragment =>
  apiKey === null && parts.every(({ where }) => where === "subject")
    ? nothing(sql)
    : sql`JOIN events accepted ON accepted.account_id = l.account_id AND accepted.stream_id = l.id AND accepted.version = 1`

/**
 * Conditions on the log's own row and the first event. They repeat what the source already guarantees, so that one statement serves every
 * source.
 */
export const conditions = (sql: PgClient.PgClient, filter: Filter): Statement.Fragment => sql`
  ${ownStatus(sql, filter)}
  ${recipientStatus(sql, filter)}
  ${filter.domain === null ? nothing(sql) : sql`AND l.domain = ${filter.domain}`}
  ${filter.from === null ? nothing(sql) : sql`AND l.from_address = ${filter.from}`}
  ${filter.apiKey === null ? nothing(sql) : sql`AND ${acceptedBy(sql)} = ${filter.apiKey}`}
  ${sql.join(" ", false)(filter.parts.map((part) => sql`AND (${hasPart(sql, part)})`))}`

/** The key that a message was accepted from. Packed, it is usually the actor. */
const acceptedBy = (sql: PgClient.PgClient): Statement.Fragment => sql`coalesce(
  ${PackedSql.field(sql, "accepted", "EmailQueued", "api_key_id")},
  CASE WHEN accepted.packed IS NOT NULL THEN ${PackedSql.metaField(sql, "accepted", "actor")} END)`

const RECIPIENTS = ["to", "cc", "bcc"]

const hasPart = (sql: PgClient.PgClient, { folded, lower, where }: EmailWords.Part): Statement.Fragment => {
  const inSubject = sql`l.subject LIKE ${EmailSubjects.pattern(folded)}`
  if (where === "subject") return inSubject
  const mailboxes = RECIPIENTS.map(
    (kind) => sql`SELECT ${PackedSql.items(sql, "accepted", "EmailQueued", kind)} AS mailbox`,
  )
  const inRecipient = sql`EXISTS (SELECT FROM (${sql.join(" UNION ALL ", false)(mailboxes)}) AS r
    WHERE lower(mailbox_address(r.mailbox) COLLATE "C") LIKE ${EmailSubjects.pattern(lower)})`
  if (where === "recipient") return inRecipient
  return sql`${inSubject} OR ${inRecipient} OR EXISTS (SELECT FROM ${PackedSql.items(sql, "accepted", "EmailQueued", "tags")} AS tag
    WHERE lower(tag #>> '{}' COLLATE "C") LIKE ${EmailSubjects.pattern(lower)})`
}

const nothing = (sql: PgClient.PgClient) => sql.literal("")

const ownStatus = (sql: PgClient.PgClient, { scheduledAfter, statuses }: Filter): Statement.Fragment => {
  const isOneOf = sql`l.status = ANY(${statuses}::text[])`
  if (scheduledAfter === null) return statuses.length === 0 ? nothing(sql) : sql`AND ${isOneOf}`
  return sql`AND (${isOneOf} OR (CASE WHEN l.facets & ${EmailFacets.SCHEDULED}::int <> 0
    THEN l.scheduled_at > ${scheduledAfter}::timestamptz END))`
}

const recipientStatus = (sql: PgClient.PgClient, { recipientStatuses }: Filter): Statement.Fragment =>
  recipientStatuses.length === 0 ? nothing(sql) : sql`AND ${EmailFacets.haveRecipient(sql, "l", recipientStatuses)}`
