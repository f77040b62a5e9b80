import { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/Address"
import * as DomainEvent from "@waybill/domain/DomainEvent"
import * as Email from "@waybill/domain/Email"
import type { AccountId } from "@waybill/domain/Id"
import * as Recipient from "@waybill/domain/Recipient"
import type * as Suppression from "@waybill/domain/Suppression"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Effect } from "effect"
import type { DomainRecord } from "./Domains.ts"
import { refKey } from "./Ledger.ts"
import type { Leased } from "./Leases.ts"
import * as PostgresLedger from "./PostgresLedger.ts"
import { decode, fold } from "./Recorded.ts"

/** Recipients of one message whose times lie this close together are tried together. */
export const TOGETHER_MS = 10_000

/** Everything that a pending delivery is decided by, as it is now and not as it was when the message was accepted. */
export interface Pending {
  readonly message: Email.Message
  /** Null once the domain was removed. */
  readonly domain: DomainRecord | null
  /** By `Address.keyOf`. */
  readonly suppressed: ReadonlyMap<string, Suppression.Reason>
}

/** Whom this attempt is for: everybody who still waits and whose time has come. */
export const due = (message: Email.Message, now: Timestamp.Timestamp): ReadonlyArray<Recipient.Recipient> => {
  const first = message.scheduled_at ?? message.accepted.created_at
  const until = Timestamp.plus(now, TOGETHER_MS)
  return message.recipients.filter(
    (recipient) => Recipient.isUnfinished(recipient) && (recipient.next_attempt_at ?? first) <= until,
  )
}

/** All that a claim has taken, in three queries; by the id of the row. */
export const load = Effect.fn("Pending.load")(function* (rows: ReadonlyArray<Leased>) {
  const sql = yield* PgClient.PgClient
  const refs = rows.map(({ account_id, stream_id }) => ({ account_id: account_id as AccountId, stream_id }))
  const streams = yield* Effect.orDie(PostgresLedger.make(sql, []).streams(refs))
  const messages = new Map<string, Email.Message>()
  for (const row of rows) {
    const history = (streams.get(refKey(row as { account_id: AccountId; stream_id: string })) ?? []).map((stored) =>
      decode(Email, DomainEvent, stored),
    )
    const state = fold(Email, history) as Email.State
    if (state._tag === "Message") messages.set(row.id, state)
  }
  const domains = yield* loadDomains(sql, rows, messages)
  const suppressed = yield* loadSuppressed(sql, rows, messages)
  return new Map(
    rows.flatMap((row) => {
      const message = messages.get(row.id)
      if (message === undefined) return []
      const domain = domains.get(`${row.account_id} ${message.accepted.domain_id}`) ?? null
      return [[row.id, { message, domain, suppressed: suppressed.get(row.account_id) ?? new Map() } satisfies Pending]]
    }),
  )
})

const loadDomains = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  rows: ReadonlyArray<Leased>,
  messages: ReadonlyMap<string, Email.Message>,
) {
  const wanted = new Map(
    rows.flatMap(({ account_id, id }) => {
      const domain_id = messages.get(id)?.accepted.domain_id
      return domain_id === undefined ? [] : [[`${account_id} ${domain_id}`, { account_id, domain_id }] as const]
    }),
  )
  const pairs = [...wanted.values()]
  const found = yield* Effect.orDie(sql<{
    readonly account_id: string
    readonly id: string
    readonly record: DomainRecord
  }>`
    SELECT d.account_id, d.id, d.record
    FROM unnest(${pairs.map((pair) => pair.account_id)}::text[], ${pairs.map((pair) => pair.domain_id)}::text[])
      AS wanted(account_id, id)
    JOIN domains d USING (account_id, id) WHERE NOT d.removed`)
  return new Map(found.map(({ account_id, id, record }) => [`${account_id} ${id}`, record]))
})

const loadSuppressed = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  rows: ReadonlyArray<Leased>,
  messages: ReadonlyMap<string, Email.Message>,
) {
  const pairs = rows.flatMap(({ account_id, id }) =>
    (messages.get(id)?.recipients ?? [])
      .filter(Recipient.isUnfinished)
      .map(({ address }) => ({ account_id, address: Address.keyOf(address) })),
  )
  const found = yield* Effect.orDie(sql<{
    readonly account_id: string
    readonly address: string
    readonly reason: Suppression.Reason
  }>`
    SELECT s.account_id, s.address, s.reason
    FROM unnest(${pairs.map((pair) => pair.account_id)}::text[], ${pairs.map((pair) => pair.address)}::text[])
      AS wanted(account_id, address)
    JOIN suppressions s USING (account_id, address) WHERE s.active`)
  const byAccount = new Map<string, Map<string, Suppression.Reason>>()
  for (const { account_id, address, reason } of found) {
    const known = byAccount.get(account_id) ?? new Map<string, Suppression.Reason>()
    byAccount.set(account_id, known.set(address, reason))
  }
  return byAccount
})
