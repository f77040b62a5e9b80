import * as Livemode from "@waybill/domain/account/Livemode"
import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import { Effect, Layer, Semaphore } from "effect"
import * as EventStore from "@waybill/store/commit/EventStore"
import * as Feed from "@waybill/store/feed/Feed"
import { claimKey, type StoredAnswer } from "@waybill/store/idempotency/Claim"
import * as ReadModels from "@waybill/store/commit/ReadModels"
import { type ReadModel, rowsOf } from "@waybill/store/readmodels/ReadModel"
import type { AccountFact, DomainFact, Facts } from "@waybill/store/facts/Facts"
import type { ClockFact } from "@waybill/store/readmodels/TestClocks"
import type { LeaseFact, OutboxRow } from "@waybill/store/outbox/OutboxRow"
import type { SubscriptionFact } from "@waybill/store/webhooks/Subscriptions"
import type { FeedPage } from "@waybill/store/feed/Feed"
import type { LogStorage, LogTransaction, Write } from "@waybill/store/commit/LogStorage"
import { streamKey } from "@waybill/store/log/StreamRef"
import { TryAgain } from "@waybill/store/postgres/StorageError"
import type { Stored } from "@waybill/store/log/RecordedEvents"

type Row = Readonly<Record<string, unknown>>

/** The event store on a log in memory. */
export const layer = Layer.effect(
  EventStore.EventStore,
  Effect.suspend(() => EventStore.make(make(ReadModels.readModels), {})),
)

/** The log in memory, with the guarantees of Postgres: transactions run one at a time, instead of with locks. */
export const make = (readModels: ReadonlyArray<ReadModel>): LogStorage => {
  const tables = new Map<string, Map<string, Row>>()
  const log: Array<Stored> = []
  const streams = new Map<string, Array<Stored>>()
  const answers = new Map<string, StoredAnswer>()
  const usage = new Map<string, number>()
  const unsent = new Map<string, UnsentMail.Unsent>()
  const outbox = new Map<string, OutboxRow & Omit<LeaseFact, keyof OutboxRow>>()
  const oneAtATime = Semaphore.makeUnsafe(1)

  const write = (batch: Write): Effect.Effect<void, TryAgain> =>
    Effect.suspend(() => {
      const next = new Map<string, number>()
      for (const event of batch.events) {
        const key = streamKey(event)
        const expected = next.get(key) ?? (streams.get(key)?.length ?? 0) + 1
        if (event.version !== expected) return Effect.fail(new TryAgain({ cause: `version ${event.version} is taken` }))
        next.set(key, expected + 1)
      }
      for (const event of batch.events) {
        const stored = { ...event, position: BigInt(log.length + 1) }
        log.push(stored)
        streams.set(streamKey(event), [...(streams.get(streamKey(event)) ?? []), stored])
      }
      for (const model of readModels) {
        const table = tables.get(model.name) ?? new Map<string, Row>()
        tables.set(model.name, table)
        for (const row of rowsOf(model, batch.changedStreams)) {
          const fields = row as Row
          table.set(model.key.map((column) => String(fields[column])).join(" "), fields)
        }
      }
      for (const { account_id, delta, month } of batch.usage) {
        const key = `${account_id} ${month}`
        usage.set(key, Math.max(0, (usage.get(key) ?? 0) + delta))
      }
      for (const { account_id, bytes, month, refunded } of batch.unsent) {
        const key = `${account_id} ${month}`
        const stored = unsent.get(key) ?? UnsentMail.NONE
        unsent.set(key, { bytes: Math.max(0, stored.bytes + bytes), refunded: stored.refunded + refunded })
      }
      for (const id of batch.outbox.release) {
        const row = outbox.get(id)
        if (row !== undefined) outbox.set(id, { ...row, lease_token: null, lease_until: null })
      }
      for (const id of batch.outbox.settle) outbox.delete(id)
      for (const row of batch.outbox.arm) outbox.set(row.id, { lease_token: null, lease_until: null, ...row })
      return Effect.void
    })

  const rowsOfTable = (table: string): ReadonlyArray<Row> => [...(tables.get(table)?.values() ?? [])]
  const factsAt = (now: string): Facts => ({
    account: (account) =>
      rowsOfTable("accounts").find((row) => row["account_id"] === Livemode.liveAccountOf(account)) as
        | AccountFact
        | undefined,
    domain: (account, name) => {
      const row = rowsOfTable("domains").find(
        (row) => row["account_id"] === account && row["name"] === name && row["removed"] === false,
      )
      return row === undefined ? undefined : ({ ...row, ...(row["record"] as object) } as Row as DomainFact & Row)
    },
    suppression: (account, address) =>
      rowsOfTable("suppressions").find(
        (row) => row["account_id"] === account && row["address"] === address && row["active"] === true,
      )?.["reason"] as string | undefined,
    alias: (account, alias) =>
      rowsOfTable("templates").find(
        (row) => row["account_id"] === account && row["alias"] === alias && row["archived"] === false,
      )?.["id"] as string | undefined,
    // Messages are made of templates in Postgres only.
    template: () => undefined,
    acceptedIn: (account, month) => usage.get(`${account} ${month}`) ?? 0,
    unsent: (account, month) => unsent.get(`${account} ${month}`) ?? UnsentMail.NONE,
    outbox: (id) => outbox.get(id),
    countOf: (account, kind) =>
      rowsOfTable(`${kind}s`).filter(
        (row) =>
          row["account_id"] === account &&
          (kind === "api_key"
            ? row["revoked_at"] === null && (row["expires_at"] === null || String(row["expires_at"]) > now)
            : row["removed"] === false),
      ).length,
    clock: (account, id) => {
      const row = rowsOfTable("test_clocks").find((row) => row["account_id"] === account && row["id"] === id)
      return row === undefined ? undefined : ({ ...(row["record"] as object), ...row } as object as ClockFact)
    },
    subscriptions: (account) =>
      rowsOfTable("webhooks").filter(
        (row) =>
          row["account_id"] === Livemode.liveAccountOf(account) && row["enabled"] === true && row["removed"] === false,
      ) as ReadonlyArray<object> as ReadonlyArray<SubscriptionFact>,
  })

  const logTransaction: LogTransaction = {
    readStreams: (ranges) =>
      Effect.sync(
        () =>
          new Map(
            ranges.map(({ from = 1, to, ...ref }) => {
              const events = (streams.get(streamKey(ref)) ?? []).slice(from - 1, to)
              return [streamKey(ref), events.map((event) => ({ ...event, xmin: "" }))]
            }),
          ),
      ),
    readFacts: (_, now) => Effect.sync(() => factsAt(now)),
    findAnswers: (claims, now) =>
      Effect.sync(() => {
        const stored = new Map<string, StoredAnswer>()
        for (const claim of claims) {
          const answer = answers.get(claimKey(claim))
          if (answer !== undefined && answer.expires_at > now) stored.set(claimKey(claim), answer)
        }
        return stored
      }),
    insertAnswers: (added) =>
      Effect.sync(() => {
        for (const answer of added) answers.set(claimKey(answer), answer)
        return new Set<string>()
      }),
    write,
  }
  return {
    readStreams: logTransaction.readStreams,
    feed: ({ account_id, after, limit = Feed.MAX_FEED_PAGE, types }) =>
      Effect.sync((): FeedPage => {
        const events = log
          .filter((event) => event.position > after)
          .filter((event) => account_id === undefined || event.account_id === account_id)
          .filter((event) => types === undefined || types.includes(event.type))
          .slice(0, limit + 1)
        return Feed.page(events, limit, BigInt(log.length))
      }),
    transaction: (_scope, body) => oneAtATime.withPermit(body(logTransaction)),
    isCommitted: (event) => Effect.sync(() => log.some(({ event_id }) => event_id === event.event_id)),
  }
}
