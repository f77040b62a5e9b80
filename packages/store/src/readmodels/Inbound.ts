import * as InboundMail from "@waybill/domain/inbound/Inbound"
import type { Applied, Forwarded, InboundStatus, Received, SenderVerdict } from "@waybill/domain/inbound/InboundState"
import * as Thread from "@waybill/domain/inbound/Thread"
import type * as Id from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import { domainToUnicode } from "node:url"
import * as ReadModel from "./ReadModel.ts"
import * as ExaminedPage from "./ExaminedPage.ts"
import * as IdKey from "../postgres/IdKey.ts"
import { Sql } from "../postgres/Sql.ts"

/** A received mail as its event says it. */
export type Arrived = Omit<Received, "_tag" | "sha256">

/** A received mail as the log has it. */
export interface InboundRecord extends Arrived {
  readonly status: InboundStatus
  readonly routes: ReadonlyArray<Applied>
  /** Emails that answer it. */
  readonly replies: ReadonlyArray<Id.EmailId>
  /** Forwards that no route asked for; absent if there are none. */
  readonly forwards?: ReadonlyArray<Forwarded>
}

export const readModel = ReadModel.make({
  name: "inbound",
  stream: InboundMail.stream,
  key: ["account_id", "id"],
  changes: ["version", "thread_id", "email_id", "message_id", "deleted", "record"],
  rows: ({ account_id, stream_id: id, version }, state: InboundMail.State) => {
    if (state._tag === "NotReceived") return []
    const { _tag, sha256, ...arrived } = state.mail
    const record: InboundRecord = {
      ...arrived,
      status: state.status,
      routes: state.routes,
      replies: state.replies,
      ...(state.forwards === undefined ? {} : { forwards: state.forwards }),
    }
    const { email_id, message_id, thread_id } = record
    const deleted = state._tag === "Deleted"
    const place = { thread_id, email_id, message_id: deleted ? null : message_id }
    return [{ account_id, id, version, ...place, deleted, record: deleted ? null : record }]
  },
})

export interface ListQuery extends ExaminedPage.PageQuery {
  readonly account_id: string
  readonly to?: string
  readonly from?: string
  readonly subject?: string
  /** Words, each a part of the subject, or of the name or the address of the sender or of a recipient, in any case. */
  readonly q?: ReadonlyArray<string>
  readonly domain?: string
  readonly email_id?: string
  readonly thread_id?: string
  readonly status?: InboundStatus
  readonly verdict?: SenderVerdict
}

export const list = Effect.fn("Inbound.list")(function* (query: ListQuery) {
  const sql = yield* Sql
  const { account_id, email_id, thread_id } = query
  return yield* ExaminedPage.read<InboundRecord>(sql, query, {
    ids: "InboundId",
    rows: sql`
      SELECT id, record FROM inbound WHERE account_id = ${account_id} AND NOT deleted
        ${email_id === undefined ? sql.literal("") : sql`AND email_id = ${email_id}`}
        ${thread_id === undefined ? sql.literal("") : sql`AND thread_id = ${thread_id}`}`,
    filter: conditionsOf(sql, query),
  })
})

/** Texts that words are searched in. Only values, because a name of a field is no hit. */
const SEARCHED = `concat_ws(' ', record ->> 'subject', record -> 'envelope' ->> 'from',
  jsonb_path_query_array(record, '$.from.*'), jsonb_path_query_array(record, '$.to[*].*'),
  jsonb_path_query_array(record, '$.cc[*].*'), record -> 'envelope' -> 'to')`

/** Conditions on the record of a mail, which no index serves. */
const conditionsOf = (sql: Sql, { domain, from, q, status, subject, to, verdict }: ListQuery) => {
  const addresses = "record -> 'envelope' -> 'to'"
  const has = (text: string, part: string) => sql`strpos(lower(${sql.literal(text)}), ${part.toLowerCase()}) > 0`
  return [
    ...(to === undefined
      ? []
      : [
          sql`EXISTS (SELECT FROM jsonb_array_elements_text(${sql.literal(addresses)}) AS t WHERE lower(t) = ${to.toLowerCase()})`,
        ]),
    ...(from === undefined ? [] : [sql`lower(record -> 'from' ->> 'address') = ANY(${spellingsOf(from)}::text[])`]),
    ...(subject === undefined ? [] : [has("record ->> 'subject'", subject)]),
    ...(domain === undefined ? [] : [sql`record ->> 'domain' = ${domain}`]),
    ...(status === undefined ? [] : [sql`record ->> 'status' = ${status}`]),
    ...(verdict === undefined
      ? []
      : [
          verdict === "none"
            ? sql`record -> 'auth' ->> 'dmarc' NOT IN ('pass', 'fail')`
            : sql`record -> 'auth' ->> 'dmarc' = ${verdict}`,
        ]),
    ...(q ?? []).map((word) => has(SEARCHED, word)),
  ]
}

/** Headers may have a domain in Unicode. */
const spellingsOf = (address: string): ReadonlyArray<string> => {
  const at = address.lastIndexOf("@") + 1
  return [address, address.slice(0, at) + domainToUnicode(address.slice(at))].map((each) => each.toLowerCase())
}

export const find = Effect.fn("Inbound.find")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: InboundRecord }>`
    SELECT record FROM inbound WHERE account_id = ${account_id} AND id = ${id} AND NOT deleted`
  return Option.fromUndefinedOr(rows[0]?.record)
})

/** Returns the mails of the account among those that a mail refers to. */
export const known = Effect.fn("Inbound.known")(function* (account_id: string, references: ReadonlyArray<string>) {
  const none: Thread.Known = { emails: new Set(), threads: new Map() }
  if (references.length === 0) return none
  const sql = yield* Sql
  const emails = references.flatMap((reference) => Thread.emailOf(reference) ?? [])
  const rows = yield* sql<{
    readonly email_id: Id.EmailId | null
    readonly message_id: string | null
    readonly thread_id: Id.ThreadId | null
  }>`
    SELECT id_of('msg', id) AS email_id, NULL AS message_id, NULL AS thread_id FROM email_log
    WHERE account_id = ${IdKey.of(account_id)}::uuid AND id = ANY(${emails.map(IdKey.of)}::uuid[])
    UNION ALL
    SELECT NULL, message_id, min(thread_id) FROM inbound
    WHERE account_id = ${account_id} AND message_id = ANY(${references}::text[]) GROUP BY message_id`
  return {
    emails: new Set(rows.flatMap(({ email_id }) => (email_id === null ? [] : [email_id]))),
    threads: new Map(
      rows.flatMap(({ message_id, thread_id }) =>
        message_id === null || thread_id === null ? [] : [[message_id, thread_id] as const],
      ),
    ),
  } satisfies Thread.Known
})
