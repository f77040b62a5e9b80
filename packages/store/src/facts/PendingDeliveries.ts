import * as Livemode from "@waybill/domain/account/Livemode"
import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import type * as EmailState from "@waybill/domain/email/EmailState"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Recipient from "@waybill/domain/email/Recipient"
import type * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as Content from "../content/Content.ts"
import * as StoredContent from "../content/StoredContent.ts"
import type { DomainRecord } from "../readmodels/Domains.ts"
import * as Suppressions from "../readmodels/Suppressions.ts"
import * as TestClocks from "../readmodels/TestClocks.ts"
import type { ClockFact } from "../readmodels/TestClocks.ts"
import { streamKey } from "../log/StreamRef.ts"
import type { Leased } from "../outbox/OutboxRow.ts"
import * as LogReads from "../feed/LogReads.ts"
import * as Provenance from "../log/Provenance.ts"
import * as StreamState from "../streams/StreamState.ts"
import { Sql } from "../postgres/Sql.ts"

/** Recipients of one message whose times lie this close together are attempted together. */
export const TOGETHER_MS = 10_000

/** Bodies up to this size are read with their claim; a larger one is read when its message is attempted. */
export const BODY_WITH_CLAIM_BYTES = 64 * 1024

/** Current state that decides about a pending delivery; it may differ from the state at acceptance. */
export interface PendingDelivery {
  readonly message: EmailState.AcceptedEmail
  /** Null if the domain was removed, and for test mail, which has none. */
  readonly domain: DomainRecord | null
  /** Suppressed recipients by `Address.keyOf`. */
  readonly suppressed: ReadonlyMap<string, SuppressionState.Reason>
  /** Content of a small message; undefined if it is large or expired. */
  readonly content: Content.CompleteContent | undefined
  /** The test clock that the message lives on. */
  readonly clock: ClockFact | undefined
  /** Request that the message began with, for logs and traces. */
  readonly origin: Provenance.Provenance
}

/** Whether a message is test mail, which never leaves: by its account, or by its own history. */
export const isTest = (account_id: string, { accepted }: EmailState.AcceptedEmail): boolean =>
  !Livemode.isLive(account_id) || accepted.livemode === false

/** Returns the unfinished recipients whose time has come. */
export const due = (
  message: EmailState.AcceptedEmail,
  now: Timestamp.Timestamp,
): ReadonlyArray<Recipient.Recipient> => {
  const first = message.scheduled_at ?? message.accepted.created_at
  const until = Timestamp.plus(now, TOGETHER_MS)
  return message.recipients.filter(
    (recipient) => Recipient.isUnfinished(recipient) && (recipient.next_attempt_at ?? first) <= until,
  )
}

type Loaded = Pick<PendingDelivery, "message" | "origin" | "content">

/** Loads all messages of a claim in four queries, by row id; a fifth reads test clocks, if a message lives on one. */
export const load = Effect.fn("PendingDeliveries.load")(function* (rows: ReadonlyArray<Leased>) {
  const sql = yield* Sql
  const { messages, origins } = yield* loadMessages(sql, rows)
  const bodies = yield* loadBodies(sql, rows, messages)
  const clocks = yield* TestClocks.timesOf(rows)
  const loaded = new Map<string, Loaded>()
  for (const { account_id, id } of rows) {
    const message = messages.get(id)
    if (message === undefined) continue
    const content = bodies.get(`${account_id} ${message.accepted.content.sha256}`)
    loaded.set(id, { message, origin: origins.get(id) ?? Provenance.system, content })
  }
  return yield* withCurrentState(sql, rows, loaded, clocks)
})

const NONE_SUPPRESSED: ReadonlyMap<string, SuppressionState.Reason> = new Map()

const withCurrentState = Effect.fnUntraced(function* (
  sql: Sql,
  rows: ReadonlyArray<Leased>,
  loaded: ReadonlyMap<string, Loaded>,
  clocks: ReadonlyMap<string, ClockFact>,
) {
  const [domains, suppressed] = yield* Effect.all([loadDomains(sql, rows, loaded), loadSuppressed(sql, rows, loaded)], {
    concurrency: "unbounded",
  })
  const pending = new Map<string, PendingDelivery>()
  for (const { account_id, clock, id } of rows) {
    const each = loaded.get(id)
    if (each === undefined) continue
    pending.set(id, {
      ...each,
      domain: domains.get(`${account_id} ${each.message.accepted.domain_id}`) ?? null,
      suppressed: suppressed.get(account_id) ?? NONE_SUPPRESSED,
      clock: clocks.get(clock ?? ""),
    })
  }
  return pending
})

const loadMessages = Effect.fnUntraced(function* (sql: Sql, rows: ReadonlyArray<Leased>) {
  const refs = rows.map(({ account_id, stream_id }) => ({ account_id: account_id, stream_id }))
  const streams = yield* LogReads.readStreams(sql, refs)
  const messages = new Map<string, EmailState.AcceptedEmail>()
  const origins = new Map<string, Provenance.Provenance>()
  for (const row of rows) {
    const history = streams.get(streamKey(row as { account_id: AccountId; stream_id: string })) ?? []
    const state = StreamState.advance(StreamState.initial(Email), history).state as Email.State
    if (state._tag === "Message") messages.set(row.id, state)
    origins.set(row.id, Provenance.following(history[0]))
  }
  return { messages, origins }
})

/** Whether the body of a message is kept with its claim; that of a larger one is read when the message is attempted. */
export const isSmall = ({ accepted }: EmailState.AcceptedEmail): boolean =>
  accepted.content.attachments.length === 0 && accepted.size_bytes <= BODY_WITH_CLAIM_BYTES

/** Reads the bodies of small messages. A body shared by several messages is read and decoded once. */
const loadBodies = Effect.fnUntraced(function* (
  sql: Sql,
  rows: ReadonlyArray<Leased>,
  messages: ReadonlyMap<string, EmailState.AcceptedEmail>,
) {
  const keys = new Map(
    rows.flatMap(({ account_id, id }) => {
      const message = messages.get(id)
      if (message === undefined || !isSmall(message)) return []
      const { sha256 } = message.accepted.content
      return [[`${account_id} ${sha256}`, { account_id, sha256 }] as const]
    }),
  )
  if (keys.size === 0) return new Map<string, Content.CompleteContent>()
  const pairs = [...keys.values()]
  const stored = yield* sql<StoredContent.StoredBytes & { readonly account_id: string; readonly sha256: string }>`
    SELECT c.account_id, encode(c.sha256, 'hex') AS sha256, c.bytes, c.compressed
    FROM unnest(${pairs.map((pair) => pair.account_id)}::text[], ${StoredContent.hashes(pairs.map((pair) => pair.sha256))})
      AS keys(account_id, sha256)
    JOIN content c USING (account_id, sha256)`
  return new Map(
    stored.map((row): readonly [string, Content.CompleteContent] => [
      `${row.account_id} ${row.sha256}`,
      bodyOf(StoredContent.decode(row)),
    ]),
  )
})

const bodyOf = (bytes: Uint8Array): Content.CompleteContent => ({ ...Content.asBody(bytes), attachments: [] })

const loadDomains = Effect.fnUntraced(function* (
  sql: Sql,
  rows: ReadonlyArray<Leased>,
  loaded: ReadonlyMap<string, Loaded>,
) {
  const keys = new Map(
    rows.flatMap(({ account_id, id }) => {
      const domain_id = loaded.get(id)?.message.accepted.domain_id
      return domain_id === undefined || domain_id === null
        ? []
        : [[`${account_id} ${domain_id}`, { account_id, domain_id }] as const]
    }),
  )
  const pairs = [...keys.values()]
  const stored = yield* sql<{
    readonly account_id: string
    readonly id: string
    readonly record: DomainRecord
  }>`
    SELECT d.account_id, d.id, d.record
    FROM unnest(${pairs.map((pair) => pair.account_id)}::text[], ${pairs.map((pair) => pair.domain_id)}::text[])
      AS keys(account_id, id)
    JOIN domains d USING (account_id, id) WHERE NOT d.removed`
  return new Map(stored.map(({ account_id, id, record }) => [`${account_id} ${id}`, record]))
})

const loadSuppressed = Effect.fnUntraced(function* (
  sql: Sql,
  rows: ReadonlyArray<Leased>,
  loaded: ReadonlyMap<string, Loaded>,
) {
  const pairs = rows.flatMap(({ account_id, id }) =>
    (loaded.get(id)?.message.recipients ?? [])
      .filter(Recipient.isUnfinished)
      .map(({ address }) => ({ account_id, address: Address.keyOf(address) })),
  )
  const accounts = pairs.map(({ account_id }) => account_id)
  const names = pairs.map(({ address }) => address)
  const stored = yield* sql<Suppressions.ActiveRow>`${Suppressions.select(sql, { accounts, names })}`
  const byAccount = new Map<string, Map<string, SuppressionState.Reason>>()
  for (const { account_id, address, reason } of stored) {
    const reasons = byAccount.get(account_id) ?? new Map<string, SuppressionState.Reason>()
    byAccount.set(account_id, reasons.set(address, reason))
  }
  return byAccount
})
