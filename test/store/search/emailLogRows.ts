import { PgClient } from "@effect/sql-pg"
import type { Address } from "@waybill/domain/values/Address"
import type { DomainName } from "@waybill/domain/domain/DomainName"
import type { Status } from "@waybill/domain/email/EmailStatus"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmailLog from "@waybill/store/readmodels/EmailLog"
import * as EmailFacets from "@waybill/store/search/EmailFacets"
import * as EmailSubjects from "@waybill/store/search/EmailSubjects"
import { Effect } from "effect"

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
  readonly created_at: Timestamp.Timestamp
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
    to: [`user${nth % 40}@example.org`, ...(nth % 9 === 0 ? ["Team@Example.ORG"] : [])].map((to) => to as Address),
    subject: nth % 4 === 0 ? `Order #${nth} of ${nth % 13}` : pick(SUBJECTS, Math.imul(nth, 0x85eb_ca6b) >>> 7),
    tags: [
      ...(nth % 3 === 0 ? ["receipt"] : []),
      ...(nth % 5 < 2 ? ["spring"] : []),
      ...(nth % 97 === 1 ? ["rare"] : []),
    ],
    created_at: Timestamp.fromMillis(BEGAN_MS + nth * STEP_MS),
  }
}

/** Writes rows as a commit would. */
export const write = Effect.fnUntraced(function* (account_id: string, messages: ReadonlyArray<Message>) {
  const sql = yield* PgClient.PgClient
  const rows = messages.map(
    ({ created_at, domain, from, id, recipients, scheduled_at, status, subject, tags, to }) => ({
      account_id,
      id,
      version: 1,
      status,
      facets: EmailFacets.of({ recipients, scheduled_at }),
      domain,
      from_address: from,
      subject: EmailSubjects.fold(subject),
      record: { id, status, domain, from, to, subject, tags, created_at, scheduled_at },
    }),
  )
  const terms = messages.flatMap(({ id, subject, tags, to }) =>
    [...to.map(EmailLog.recipientTerm), ...tags.map(EmailLog.tagTerm), EmailSubjects.term(subject)].map((term) => ({
      account_id,
      term,
      email_id: id,
    })),
  )
  const subjects = messages.map(({ subject }) => ({
    account_id,
    term: EmailSubjects.term(subject),
    folded: EmailSubjects.fold(subject),
  }))
  yield* EmailLog.readModel.write(sql, rows)
  yield* EmailLog.terms.write(sql, terms)
  yield* EmailSubjects.readModel.write(sql, subjects)
})
