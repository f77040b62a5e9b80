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
  /** Part of a subject, folded. */
  readonly subject: string | null
}

/** Returns the filter of a query; undefined if no message can match. */
export const filterOf = (query: Query, now: Timestamp.Timestamp): Filter | undefined => {
  const { after, before, created_after, created_before, domain, from, subject = "", tags = [], to } = query
  // The domain of a message is its sender's, so with a sender it is redundant or contradictory.
  if (from !== undefined && domain !== undefined && Address.domainOf(Address.keyOf(from)) !== domain) return undefined
  const above = greatest([before, created_after === undefined ? undefined : justBelow(created_after)], "")
  const below = lowestOf([after, created_before === undefined ? undefined : lowest(created_before)], "~")
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
    subject: subject === "" ? null : EmailSubjects.fold(subject),
  }
}

const lowest = (at: Timestamp.Timestamp): string => Id.lowest("EmailId", Timestamp.toMillis(at))
/** Ids have one length, so a prefix sorts before every id that begins with it. */
const justBelow = (at: Timestamp.Timestamp): string => lowest(at).slice(0, -1)
const greatest = (ids: ReadonlyArray<string | undefined>, none: string): string =>
  ids.reduce<string>((a, b) => (b !== undefined && b > a ? b : a), none)
const lowestOf = (ids: ReadonlyArray<string | undefined>, none: string): string =>
  ids.reduce<string>((a, b) => (b !== undefined && b < a ? b : a), none)

/** Whether the values of facets have to be known before the lists of the filter are. */
export const needsFacets = ({ recipientStatuses, scheduledAfter }: Filter): boolean =>
  recipientStatuses.length > 0 || scheduledAfter !== null

/** Returns the lists that an index holds in order, for everything the filter says. */
export const sourcesOf = (
  { domain, from, recipientStatuses, scheduledAfter, statuses, terms }: Filter,
  facets: ReadonlyArray<EmailFacets.Facets>,
): ReadonlyArray<EmailLogSource.Source> => {
  const isScheduled = scheduledAfter !== null
  const own = isScheduled ? [...statuses, "queued" as const] : statuses
  const any = own.length === 0 ? EmailStatus.ALL : own
  const sources: Array<EmailLogSource.Source> = terms.map((term) => ({ _tag: "Terms", terms: [term] }))
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
  domain,
  from,
  recipientStatuses,
  scheduledAfter,
  statuses,
  subject,
  terms,
}: Filter): boolean => {
  // The lists of a sender or a domain are divided by status.
  const lists = from !== null || domain !== null || statuses.length > 0 ? 1 : 0
  const recipients = recipientStatuses.length > 0 ? 1 : 0
  return subject === null && scheduledAfter === null && terms.length + lists + recipients <= 1
}

/**
 * Conditions on the log's own row. They repeat what the source already guarantees, so that one statement serves every
 * source.
 */
export const conditions = (sql: PgClient.PgClient, filter: Filter): Statement.Fragment => sql`
  ${ownStatus(sql, filter)}
  ${recipientStatus(sql, filter)}
  ${filter.domain === null ? nothing(sql) : sql`AND l.domain = ${filter.domain}`}
  ${filter.from === null ? nothing(sql) : sql`AND l.from_address = ${filter.from}`}
  ${filter.subject === null ? nothing(sql) : sql`AND l.subject LIKE ${EmailSubjects.pattern(filter.subject)}`}`

const nothing = (sql: PgClient.PgClient) => sql.literal("")

const ownStatus = (sql: PgClient.PgClient, { scheduledAfter, statuses }: Filter): Statement.Fragment => {
  const isOneOf = sql`l.status = ANY(${statuses}::text[])`
  if (scheduledAfter === null) return statuses.length === 0 ? nothing(sql) : sql`AND ${isOneOf}`
  return sql`AND (${isOneOf} OR (CASE WHEN l.facets & ${EmailFacets.SCHEDULED}::int <> 0
    THEN (l.record ->> 'scheduled_at')::timestamptz > ${scheduledAfter}::timestamptz END))`
}

const recipientStatus = (sql: PgClient.PgClient, { recipientStatuses }: Filter): Statement.Fragment =>
  recipientStatuses.length === 0
    ? nothing(sql)
    : sql`AND (l.status = ANY(${recipientStatuses}::text[]) OR l.facets & ${EmailFacets.any(recipientStatuses)}::int <> 0)`
