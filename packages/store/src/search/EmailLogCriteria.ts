import type { AcceptedEmail } from "@waybill/domain/email/EmailState"
import type * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Statement } from "effect/sql"
import * as PackedSql from "../packed/PackedSql.ts"
import * as IdKey from "../postgres/IdKey.ts"
import type { Sql } from "../postgres/Sql.ts"
import * as TermKey from "../postgres/TermKey.ts"
import * as EmailCodes from "../readmodels/emails/EmailCodes.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import type * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailTerms from "./EmailTerms.ts"
import * as EmailWords from "./EmailWords.ts"

/** Facts of the database from which the lists of filters follow. */
export interface Known {
  readonly facets: ReadonlyArray<EmailFacets.Facets>
  /** Reply codes of messages; empty if none is searched. */
  readonly codes: ReadonlyArray<number>
  /** Messages of the key that the follower may not have read; undefined if they are too many to list. */
  readonly unread: ReadonlyArray<IdKey.IdKey> | undefined
}

/** A condition that a message has to meet. */
export interface Criterion {
  /** SQL of a row `l` of the log, or of the first event of its message, `accepted`. */
  readonly where: (sql: Sql) => Statement.Fragment
  /** Whether it is SQL of the first event. */
  readonly isOfEvent?: boolean
  /** Fact that has to be known before the list is. */
  readonly needs?: keyof Known | undefined
  /** The messages that may meet it, if an index lists them in order. */
  readonly list?: (known: Known) => EmailLogSource.Source | undefined
  /** Whether all messages of the list meet it. */
  readonly isExact?: boolean
  /** Whether only the history of a message tells, so that messages cannot be counted by their rows. */
  readonly isOfHistory?: boolean
  /** Compares what the row tells only by a key, which different values may have. `status` is the number in the row. */
  readonly matches?: ((message: AcceptedEmail, status: number) => boolean) | undefined
}

/** A recipient, a tag, a pair of metadata or a template. */
export interface Term {
  readonly text: string
  readonly key: TermKey.TermKey
  /** Column of the log's row that may have the key; `null` if only the table of further terms may. */
  readonly column: "to_key" | "tag_key" | null
}

/** The meaning of a filter: ids between two others, terms, a part of a text, or something else. */
interface Meaning {
  readonly above?: IdKey.IdKey
  readonly below?: IdKey.IdKey
  readonly terms?: ReadonlyArray<Term>
  readonly part?: EmailWords.Part
  readonly criterion?: Criterion
}

const term = (text: string, column: Term["column"]): Term => ({ text, key: TermKey.of(text), column })

/** Returns the lowest key of a time. */
const lowest = (at: Timestamp.Timestamp): IdKey.IdKey => IdKey.of(Id.lowest("EmailId", Timestamp.toMillis(at)))

type Statuses = ReadonlyArray<EmailStatus.Status>

/** Whether there are lists of messages with these statuses. Delivered messages are nearly all, so that no index lists them. */
const areListed = (statuses: Statuses): statuses is ReadonlyArray<Exclude<EmailStatus.Status, "delivered">> =>
  !statuses.includes("delivered")

// The scheduled time is compared when the message is read.
const isScheduled = (sql: Sql) => sql`l.facets & ${EmailFacets.SCHEDULED}::int <> 0`

/** Mail that waits for a time from the first, inclusive, to the last, exclusive. */
const due = (from: string, to: string | undefined): Meaning => ({
  criterion: {
    where: isScheduled,
    needs: "facets",
    list: ({ facets }) => ({ _tag: "Status", statuses: [], facets: EmailFacets.withSchedule(facets) }),
    isOfHistory: true,
    matches: ({ scheduled_at: at }) => at !== null && at >= from && (to === undefined || at < to),
  },
})

const ofStatus = (own: Statuses): Criterion => ({
  where: (sql) => EmailFacets.hasStatus(sql, "l", own),
  list: () => (areListed(own) ? { _tag: "Status", statuses: own, facets: [] } : undefined),
  // Messages that are queued are among those that wait for delivery, and delivered ones among all.
  isExact: own.every(EmailFacets.isListed),
})

/** Mail with one of the statuses, or queued for a time after another. */
const ofStatusOrScheduled = (own: Statuses, after: string): Criterion => ({
  where: (sql) => sql`(${EmailFacets.hasStatus(sql, "l", own)} OR ${isScheduled(sql)})`,
  needs: "facets",
  list: ({ facets }) =>
    areListed(own) ? { _tag: "Status", statuses: own, facets: EmailFacets.withSchedule(facets) } : undefined,
  isOfHistory: true,
  matches: ({ scheduled_at: at }, status) =>
    own.some((each) => EmailFacets.numberOf(each) === status) || (at !== null && at > after),
})

/** How each filter is searched. Of lists as rare as each other, that of the first filter here is read. */
const FILTERS: {
  readonly [N in EmailFilter.Name]: (
    value: EmailFilter.ValueOf<N>,
    others: EmailFilter.Query,
    now: Timestamp.Timestamp,
  ) => Meaning
} = {
  message_id: (id) => ({ above: IdKey.beside(IdKey.of(id), -1), below: IdKey.beside(IdKey.of(id), 1) }),
  created_after: (at) => ({ above: IdKey.beside(lowest(at), -1) }),
  created_before: (at) => ({ below: lowest(at) }),
  to: (address) => ({ terms: [term(EmailLog.recipientTerm(address), "to_key")] }),
  tag: (tags) => ({ terms: [...new Set(tags)].map((tag) => term(EmailLog.tagTerm(tag), "tag_key")) }),
  metadata: (pairs) => ({
    terms: Object.entries(pairs).map(([name, value]) => term(EmailLog.metadataTerm(name, value), null)),
  }),
  template: (id) => ({ terms: [term(EmailLog.templateTerm(id), null)] }),
  subject: (text) => ({ part: EmailWords.part(text, "subject") }),
  provider: (providers) => (providers.length === 0 ? {} : { part: EmailWords.atProviders(providers) }),
  recipient: (text) => ({ part: EmailWords.ofRecipient(text) }),
  // The key is usually the actor if the event is packed.
  api_key_id: (id) => ({
    criterion: {
      where: (sql) => sql`coalesce(
        ${PackedSql.field(sql, "accepted", "EmailQueued", "api_key_id")},
        CASE WHEN accepted.packed IS NOT NULL THEN ${PackedSql.metaField(sql, "accepted", "actor")} END) = ${id}`,
      isOfEvent: true,
      needs: "unread",
      list: ({ unread }) => unread && { _tag: "Key", apiKey: IdKey.of(id), unread },
    },
  }),
  recipient_status: (values) => {
    const statuses = [...new Set(values)]
    if (statuses.length === 0) return {}
    const list = ({ facets }: Known): EmailLogSource.Source | undefined =>
      areListed(statuses)
        ? { _tag: "Status", statuses, facets: EmailFacets.withRecipients(facets, statuses) }
        : undefined
    const where = (sql: Sql) => EmailFacets.haveRecipient(sql, "l", statuses)
    return { criterion: { where, needs: "facets", list, isExact: statuses.every(EmailFacets.isListed) } }
  },
  code: (codes) => {
    const ranges = [...new Set(codes)].map(ReplyCode.rangeOf)
    if (ranges.length === 0) return {}
    return {
      criterion: {
        // Which of several codes a message has is compared when it is read.
        where: (sql) => {
          const isIn = ranges.map(({ from, to }) => sql` OR l.code BETWEEN ${from}::smallint AND ${to}::smallint`)
          return sql`(l.code = ${EmailCodes.SEVERAL}::smallint${sql.join("", false)(isIn)})`
        },
        needs: "codes",
        list: (known) => ({ _tag: "Code", codes: EmailCodes.within(known.codes, ranges) }),
        matches: ({ recipients }) => ReplyCode.haveRecipient(recipients, ranges),
      },
    }
  },
  from: (address) => ({
    criterion: {
      where: (sql) => sql`l.from_key = ${EmailLog.fromKey(address)}::bigint`,
      list: () => ({ _tag: "Terms", terms: EmailTerms.of([EmailLog.senderTerm(address)]), unread: [] }),
      isExact: true,
      matches: ({ accepted }) => Address.keyOf(accepted.from.address) === Address.keyOf(address),
    },
  }),
  // A forward has its author as sender, and the domain that answers for it.
  domain: (domain, { from }) => ({
    criterion: {
      where: (sql) => sql`l.domain_key = ${EmailLog.domainKey(domain)}::int`,
      list: () => (from === undefined ? { _tag: "Domain", domain: EmailLog.domainKey(domain) } : undefined),
      isExact: true,
      matches: ({ accepted }) => accepted.domain === domain,
    },
  }),
  scheduled_after: (from, { scheduled_before }) => due(from, scheduled_before),
  scheduled_before: (to, { scheduled_after }) => (scheduled_after === undefined ? due("", to) : {}),
  status: (values, _, now) => {
    const own = [...new Set(values)].filter((status) => status !== "scheduled")
    if (values.includes("scheduled") && !own.includes("queued")) return { criterion: ofStatusOrScheduled(own, now) }
    return own.length === 0 ? {} : { criterion: ofStatus(own) }
  },
}

const meaningOf = <N extends EmailFilter.Name>(name: N, query: EmailFilter.Query, now: Timestamp.Timestamp) => {
  const value: EmailFilter.ValueOf<N> | undefined = query[name]
  return value === undefined ? [] : [FILTERS[name](value, query, now)]
}

/** Returns what the filters of a query ask for. */
export const of = (query: EmailFilter.Query, now: Timestamp.Timestamp): ReadonlyArray<Meaning> =>
  (Object.keys(FILTERS) as ReadonlyArray<EmailFilter.Name>).flatMap((name) => meaningOf(name, query, now))
