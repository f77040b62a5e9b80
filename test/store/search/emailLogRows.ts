import { PgTypes } from "@effect/sql-pg"
import type { Address } from "@waybill/domain/values/Address"
import type { DomainName } from "@waybill/domain/values/DomainName"
import type { Status } from "@waybill/domain/email/EmailStatus"
import type * as Labels from "@waybill/domain/email/Labels"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Email from "@waybill/domain/email/Email"
import * as RecordedEvents from "@waybill/store/log/RecordedEvents"
import * as EmailLog from "@waybill/store/readmodels/emails/EmailLog"
import * as TermKey from "@waybill/store/postgres/TermKey"
import * as EmailFacets from "@waybill/store/readmodels/emails/EmailFacets"
import * as EmailSubjects from "@waybill/store/readmodels/emails/EmailSubjects"
import * as EmailWords from "@waybill/store/search/EmailWords"
import { Effect } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { queued } from "../../support/history.ts"

export const BEGAN_MS = Date.UTC(2026, 0, 1)
export const STEP_MS = 60_000

export interface Message {
  readonly id: Id.EmailId
  readonly status: Status
  readonly domain: DomainName
  readonly from: Address
  readonly to: ReadonlyArray<Address>
  readonly subject: string
  readonly tags: ReadonlyArray<string>
  /** Absent of most messages, as of those from before there was metadata. */
  readonly metadata?: Labels.Metadata
  readonly created_at: Timestamp.Timestamp
  readonly api_key_id: Id.ApiKeyId
  /** Statuses of the recipients, of which `status` is the message's. */
  readonly recipients: ReadonlyArray<{ readonly status: Status }>
  readonly scheduled_at: Timestamp.Timestamp | null
}

export const account = (nth: number): Id.AccountId => Id.make("AccountId", BEGAN_MS + nth, new Uint8Array(10))

export const emailId = (nth: number): Id.EmailId =>
  Id.make(
    "EmailId",
    BEGAN_MS + nth * STEP_MS,
    Uint8Array.from({ length: 10 }, (_, i) => (nth * 31 + i * 7) & 0xff),
  )

const pick = <A>(list: ReadonlyArray<A>, nth: number): A => {
  const found = list[nth % list.length]
  if (found === undefined) throw new Error("nothing to pick from")
  return found
}

const STATUSES: ReadonlyArray<Status> = ["delivered", "delivered", "delivered", "bounced", "deferred", "queued"]
const DOMAINS = ["acme.test", "acme.test", "other.test", "rare.test"].map((name) => name as DomainName)
const SUBJECTS = [
  "Your receipt",
  "Ihre Quittung – Grüße",
  "Заказ отправлен",
  "領収書のお知らせ",
  "50% off_today \\o/",
  "ΟΔΟΣ 12",
]

/** Domains of some recipients: those of two providers, and one that only begins so. */
const AT: Readonly<Record<number, string>> = { 37: "gmail.com.example", 38: "Hotmail.co.uk", 39: "gmail.com" }

/**
 * Returns messages whose fields vary independently, so that any two filters match some messages together and some only
 * singly.
 */
export const message = (nth: number): Message => {
  const status = nth % 211 === 5 ? "complained" : pick(STATUSES, Math.imul(nth, 0x9e37_79b1) >>> 9)
  const domain = pick(DOMAINS, Math.imul(nth, 7) >>> 3)
  return {
    id: emailId(nth),
    status,
    recipients: [
      status,
      ...(nth % 13 === 0 ? [status === "bounced" ? ("failed" as const) : ("bounced" as const)] : []),
      ...(nth % 401 === 7 ? ["canceled" as const] : []),
    ].map((each) => ({ status: each })),
    scheduled_at: nth % 7 < 4 ? null : Timestamp.Timestamp.make(`${nth % 7 < 6 ? 2026 : 2126}-01-01T00:00:00.000Z`),
    domain,
    from: `${pick(["hello", "billing"], nth)}@${domain}` as Address,
    to: [`user${nth % 40}@${AT[nth % 40] ?? "example.org"}`, ...(nth % 9 === 0 ? ["Team@Example.ORG"] : [])].map(
      (to) => to as Address,
    ),
    subject: nth % 4 === 0 ? `Order #${nth} of ${nth % 13}` : pick(SUBJECTS, Math.imul(nth, 0x85eb_ca6b) >>> 7),
    tags: [
      ...(nth % 3 === 0 ? ["receipt"] : []),
      ...(nth % 5 < 2 ? ["spring"] : []),
      ...(nth % 97 === 1 ? ["rare"] : []),
    ],
    ...(nth % 4 === 0 ? { metadata: { order: String(nth), plan: nth % 8 === 0 ? "pro" : "free", receipt: "" } } : {}),
    created_at: Timestamp.fromMillis(BEGAN_MS + nth * STEP_MS),
    api_key_id: apiKeyId(nth % 300 === 11 ? 2 : nth % 3 === 0 ? 1 : 0),
  }
}

export const apiKeyId = (nth: number): Id.ApiKeyId => Id.make("ApiKeyId", BEGAN_MS + nth, new Uint8Array(10))

/** Returns the acceptance event of a message. */
const eventOf = (
  account_id: string,
  { created_at, domain, from, id, metadata, scheduled_at, subject, tags, to, ...rest }: Message,
) => ({
  account_id,
  stream_id: id,
  stream: "email",
  version: 1,
  type: "EmailQueued",
  data: {
    ...RecordedEvents.encode(Email, queued(id)),
    from: { address: from },
    to: to.map((address) => ({ address })),
    subject,
    tags,
    ...(metadata === undefined ? {} : { metadata }),
    domain,
    scheduled_at,
    api_key_id: rest.api_key_id,
    created_at,
  },
  meta: { schema_version: 1, actor: { type: "system" as const, id: null }, request_id: null, address: null },
  recorded_at: created_at,
})

/** Lets the follower of a search read messages, as it does from the log. */
export const follow = Effect.fnUntraced(function* (account_id: string, messages: ReadonlyArray<Message>) {
  const sql = yield* Sql
  const events = messages.map((each) => ({ ...eventOf(account_id, each), position: 0n, event_id: "" }))
  yield* EmailWords.follower.count(sql, events as unknown as Parameters<typeof EmailWords.follower.count>[1])
  yield* sql`
    UPDATE followers SET position = coalesce((
      SELECT position FROM events WHERE account_id = ${account_id} AND stream_id = ${messages.at(-1)?.id ?? ""}), position)
    WHERE name = ${EmailWords.follower.name}`
})

/** Writes rows as a commit would. */
export const write = Effect.fnUntraced(function* (account_id: Id.AccountId, messages: ReadonlyArray<Message>) {
  const sql = yield* Sql
  const rows = messages.map(({ domain, from, id, recipients, scheduled_at, status, subject, tags, to }) => ({
    account_id,
    id,
    from_key: EmailLog.fromKey(from),
    subject_key: EmailSubjects.keyOf(subject),
    to_key: TermKey.lowestOf(to, (address) => TermKey.of(EmailLog.recipientTerm(address))) ?? 0n,
    tag_key: TermKey.lowestOf(tags, (tag) => TermKey.of(EmailLog.tagTerm(tag))) ?? null,
    domain_key: EmailLog.domainKey(domain),
    version: 1,
    status: EmailFacets.numberOf(status),
    listed: EmailFacets.listedAs(status),
    facets: EmailFacets.of({ recipients, scheduled_at }),
    code: 0,
  }))
  const terms = messages.flatMap(({ id, metadata = {}, tags, to }, nth) =>
    keysOf([
      ...to.map(EmailLog.recipientTerm),
      ...tags.map(EmailLog.tagTerm),
      ...Object.entries(metadata).map(([name, value]) => EmailLog.metadataTerm(name, value)),
    ])
      .filter((key) => key !== rows[nth]?.to_key && key !== rows[nth]?.tag_key)
      .map((term) => ({ account_id, term, email_id: id })),
  )
  const subjects = messages.map(({ subject }) => EmailSubjects.row(account_id, subject))
  const events = messages.map((each) => ({ ...eventOf(account_id, each), event_id: `evt_${each.id}` }))
  yield* sql`
    INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
    SELECT nextval('event_position'), account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at
    FROM jsonb_populate_recordset(NULL::events, ${PgTypes.jsonb(events)})`
  yield* EmailLog.readModel.upsert(sql, rows)
  yield* EmailLog.terms.upsert(sql, terms)
  yield* EmailSubjects.readModel.upsert(sql, subjects)
  // What waits for delivery has a row in the outbox.
  const waiting = messages.filter(({ recipients }) =>
    recipients.some(({ status }) => status === "queued" || status === "deferred"),
  )
  yield* sql`
    INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload)
    SELECT id, ${account_id}, 'delivery', id, now(), CASE WHEN deferred THEN '{"deferred": true}' ELSE '{}' END::jsonb
    FROM unnest(${waiting.map(({ id }) => id)}::text[], ${waiting.map(({ status }) => status === "deferred")}::boolean[])
      AS waiting(id, deferred)
    ON CONFLICT DO NOTHING`
})

const keysOf = (terms: ReadonlyArray<string>): ReadonlyArray<TermKey.TermKey> => terms.map(TermKey.of)
