import type { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/domain/DomainName"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Statement } from "effect/sql"
import * as EmailLog from "../readmodels/EmailLog.ts"
import type * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailSubjects from "./EmailSubjects.ts"

export interface Query {
  readonly account_id: Id.AccountId
  readonly limit: number
  /** Any of these; empty means all. */
  readonly status?: ReadonlyArray<EmailStatus.Status>
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
  readonly from: string | null
  readonly domain: string | null
  readonly terms: ReadonlyArray<string>
  /** Part of a subject, folded. */
  readonly subject: string | null
}

/** Returns the filter of a query; undefined if no message can match. */
export const filterOf = (query: Query): Filter | undefined => {
  const { after, before, created_after, created_before, domain, from, subject = "", tags = [], to } = query
  // The domain of a message is its sender's, so with a sender it is redundant or contradictory.
  if (from !== undefined && domain !== undefined && Address.domainOf(Address.keyOf(from)) !== domain) return undefined
  const above = greatest([before, created_after === undefined ? undefined : justBelow(created_after)], "")
  const below = lowestOf([after, created_before === undefined ? undefined : lowest(created_before)], "~")
  if (above >= below) return undefined
  return {
    order: before === undefined ? "newest first" : "oldest first",
    range: { account_id: query.account_id, above, below },
    statuses: [...new Set(query.status ?? [])],
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

/** Returns the lists that an index holds in order, for everything the filter says. */
export const sourcesOf = ({ domain, from, statuses, terms }: Filter): ReadonlyArray<EmailLogSource.Source> => {
  const any = statuses.length === 0 ? EmailStatus.ALL : statuses
  const sources: Array<EmailLogSource.Source> = terms.map((term) => ({ _tag: "Terms", terms: [term] }))
  if (from !== null) sources.push({ _tag: "From", address: from, statuses: any })
  else if (domain !== null) sources.push({ _tag: "Domain", domain, statuses: any })
  else if (statuses.length > 0) sources.push({ _tag: "Status", statuses })
  return sources
}

/** Whether every message of the source matches the filter, so that reading one page of ids suffices. */
export const isExact = ({ domain, from, statuses, subject, terms }: Filter, source: EmailLogSource.Source): boolean =>
  subject === null &&
  (source._tag === "Terms"
    ? terms.length === 1 && statuses.length === 0 && domain === null && from === null
    : terms.length === 0)

/**
 * Conditions on the log's own row. They repeat what the source already guarantees, so that one statement serves every
 * source.
 */
export const conditions = (sql: PgClient.PgClient, filter: Filter): Statement.Fragment => sql`
  ${filter.statuses.length === 0 ? nothing(sql) : sql`AND l.status = ANY(${filter.statuses}::text[])`}
  ${filter.domain === null ? nothing(sql) : sql`AND l.domain = ${filter.domain}`}
  ${filter.from === null ? nothing(sql) : sql`AND l.from_address = ${filter.from}`}
  ${filter.subject === null ? nothing(sql) : sql`AND l.subject LIKE ${EmailSubjects.pattern(filter.subject)}`}`

const nothing = (sql: PgClient.PgClient) => sql.literal("")
