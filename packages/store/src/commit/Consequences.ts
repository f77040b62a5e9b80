import * as Domain from "@waybill/domain/domain/Domain"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Email from "@waybill/domain/email/Email"
import * as EmailState from "@waybill/domain/email/EmailState"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as TestClock from "@waybill/domain/clock/TestClock"
import type { TestClockId, WebhookDeliveryId } from "@waybill/domain/values/Id"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import * as UsageChange from "@waybill/domain/email/UsageChange"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import type { Facts } from "../facts/Facts.ts"
import type { CanceledContent } from "../content/CanceledContent.ts"
import { FAR_FUTURE, type OutboxRow } from "../outbox/OutboxRow.ts"
import type { ChangedStream } from "../log/StreamRef.ts"
import type { SubscriptionFact } from "../webhooks/Subscriptions.ts"
import type { WebhookDelivery } from "../webhooks/WebhookDelivery.ts"
import type { AnyEvent, Recorded } from "../log/RecordedEvents.ts"

export interface Work {
  /** Outbox rows to insert or to give a new time. */
  readonly arm: ReadonlyArray<OutboxRow>
  /** Ids of outbox rows to delete, because nothing is left to do. */
  readonly settle: ReadonlyArray<string>
  /** One row for each event and each webhook that subscribes to it. */
  readonly deliveries: ReadonlyArray<WebhookDelivery>
  /** Messages whose content is to be removed soon. */
  readonly canceled: ReadonlyArray<CanceledContent>
}

/** Computes what a commit writes because of its events, beside the read models. */
export const work = (
  touched: ReadonlyArray<ChangedStream>,
  facts: Facts,
  now: string,
  nextDeliveryId: () => WebhookDeliveryId,
): Work => {
  const arm: Array<OutboxRow> = []
  const settle: Array<string> = []
  const deliveries: Array<WebhookDelivery> = []
  const canceled: Array<CanceledContent> = []
  for (const stream of touched) {
    const row = nextWork(stream, now)
    if (row === "none") settle.push(stream.stream_id)
    else if (row !== undefined) arm.push(row)
    if (stream.added.some(({ event }) => event._tag === "EmailCanceled")) canceled.push(...canceledContent(stream))
    for (const subscription of facts.subscriptions(stream.account_id)) {
      for (const recorded of stream.added) {
        if (!isCalled(subscription, stream, recorded)) continue
        const clock = clockOf(stream)
        const created_at = clock === undefined ? now : DomainEvent.occurredAt(recorded.event as DomainEvent.DomainEvent)
        const delivery = webhookDelivery(nextDeliveryId(), subscription.id, recorded, created_at)
        deliveries.push(delivery)
        const call = webhookCall(delivery, now)
        arm.push(clock === undefined ? call : { ...call, clock, clock_due: created_at })
      }
    }
  }
  return { arm, settle, deliveries, canceled }
}

/** Returns what an event adds to or takes from a month's volume. `state` is the state of the stream after the event. */
export const usage = (event: AnyEvent, state: unknown): ReadonlyArray<UsageChange.Change> => {
  const message = state as Email.State
  return isEmailEvent(event) && message._tag === "Message" ? UsageChange.changesOf(event, message) : []
}

/** Returns what an event changes of the content stored for unsent mail, from the states before and after it. */
export const unsent = (event: AnyEvent, before: unknown, after: unknown): UnsentMail.Change | undefined => {
  const message = after as Email.State
  return isEmailEvent(event) && message._tag === "Message"
    ? UnsentMail.changeOf(event, before as Email.State, message)
    : undefined
}

/** Returns the outbox row of a stream: its next due work, `none` for no work, undefined for a kind of stream without work. */
export const nextWork = (stream: ChangedStream, now: string): OutboxRow | "none" | undefined => {
  switch (stream.aggregate.stream) {
    case Email.stream: {
      const row = delivery(stream, stream.state as Email.State)
      const clock = clockOf(stream)
      return row === "none" || clock === undefined ? row : onClock(row, clock, timeOf(stream), now)
    }
    case TestClock.stream:
      return advance(stream, stream.state as TestClock.State)
    case Domain.stream:
      return domainCheck(stream, stream.state as Domain.State)
    default:
      return undefined
  }
}

/** Payload of a deferred message's delivery. A search for queued messages passes over it (`EmailLogSource.ts`). */
const DEFERRED = { deferred: true }

/** Returns a row that is due when the first unfinished recipient is. */
const delivery = (stream: ChangedStream, message: Email.State): OutboxRow | "none" => {
  if (message._tag === "NotCreated") return "none"
  const unfinished = message.recipients.filter(Recipient.isUnfinished)
  if (unfinished.length === 0) return "none"
  const first = message.scheduled_at ?? message.accepted.created_at
  const due = unfinished.map(({ next_attempt_at }) => next_attempt_at ?? first)
  return {
    id: stream.stream_id,
    account_id: stream.account_id,
    kind: "delivery",
    stream_id: stream.stream_id,
    available_at: due.reduce((a, b) => (a < b ? a : b)),
    attempt: unfinished.reduce((most, { attempts }) => Math.max(most, attempts), 0),
    payload: EmailState.status(message) === "deferred" ? DEFERRED : {},
  }
}

/** Returns the content of a message that was canceled before it reached anybody. */
const canceledContent = ({ account_id, state, stream_id }: ChangedStream): ReadonlyArray<CanceledContent> => {
  const message = state as Email.State
  if (message._tag === "NotCreated" || !UnsentMail.isCanceled(message)) return []
  const { content, size_bytes } = message.accepted
  const hashes = [content.sha256, ...content.attachments.map(({ sha256 }) => sha256)]
  return [{ account_id, email_id: stream_id, month: UsageChange.monthOf(message), bytes: size_bytes, hashes }]
}

/** The test clock that a stream lives on. */
const clockOf = ({ aggregate, state }: ChangedStream): TestClockId | undefined => {
  if (aggregate.stream !== Email.stream) return undefined
  const message = state as Email.State
  return message._tag === "Message" ? message.accepted.test_clock : undefined
}

/** Time of the clock at the last event of a message. */
const timeOf = ({ added, state }: ChangedStream): string => {
  const last = added.at(-1)
  return last === undefined
    ? (state as EmailState.AcceptedEmail).updated_at
    : DomainEvent.occurredAt(last.event as DomainEvent.DomainEvent)
}

/** Moves a row to a clock: due at once if its time has come there, and out of reach of real time otherwise. */
const onClock = (row: OutboxRow, clock: string, shown: string, now: string): OutboxRow => ({
  ...row,
  clock,
  clock_due: row.available_at,
  available_at: row.available_at <= shown ? now : FAR_FUTURE,
})

/** An advance in progress is work since it began, and so is ending what waits on a deleted clock. */
const advance = (stream: ChangedStream, clock: TestClock.State): OutboxRow | "none" => {
  const since = clock._tag === "NotCreated" ? undefined : (clock.deleted_at ?? clock.advance?.since)
  return since === undefined
    ? "none"
    : {
        id: stream.stream_id,
        account_id: stream.account_id,
        kind: "test_clock",
        stream_id: stream.stream_id,
        available_at: since,
        attempt: 0,
        payload: {},
      }
}

const domainCheck = (stream: ChangedStream, domain: Domain.State): OutboxRow | "none" =>
  domain._tag !== "Domain" || domain.next_check_at === null
    ? "none"
    : {
        id: stream.stream_id,
        account_id: stream.account_id,
        kind: "domain_check",
        stream_id: stream.stream_id,
        available_at: domain.next_check_at,
        attempt: domain.checks,
        payload: {},
      }

/** Whether a webhook is called for an event: it subscribes, or the routes of a received mail decide. */
const isCalled = (
  { events, format, id }: SubscriptionFact,
  { aggregate, state }: ChangedStream,
  recorded: Recorded,
): boolean => {
  if (aggregate.stream !== Inbound.stream || recorded.event._tag !== "EmailReceived")
    return isSubscribed(events, recorded)
  return (
    WebhookFormat.has(format, DomainEvent.publicType("EmailReceived")) &&
    Inbound.calls(state as Inbound.State, id, isSubscribed(events, recorded))
  )
}

const isSubscribed = (received: ReadonlyArray<string>, recorded: Recorded): boolean => {
  const event = recorded.event as DomainEvent.DomainEvent
  return WebhookFormat.matches(received, DomainEvent.publicType(event._tag), {
    isScheduled: event._tag === "EmailQueued" && event.scheduled_at !== null,
    isUnsubscribe: event._tag === "SuppressionAdded" && event.reason === "unsubscribe",
  })
}

const webhookDelivery = (
  id: WebhookDeliveryId,
  webhook_id: string,
  recorded: Recorded,
  created_at: string,
): WebhookDelivery => ({
  account_id: Livemode.liveAccountOf(recorded.account_id),
  livemode: Livemode.isLive(recorded.account_id),
  id,
  webhook_id,
  event_id: recorded.event_id,
  event_type: DomainEvent.publicType((recorded.event as DomainEvent.DomainEvent)._tag),
  stream_id: recorded.stream_id,
  stream_version: recorded.version,
  created_at,
})

export const webhookCall = ({ account_id, id, webhook_id }: WebhookDelivery, available_at: string): OutboxRow => ({
  id,
  account_id,
  kind: "webhook",
  stream_id: webhook_id,
  available_at,
  attempt: 0,
  payload: {},
})

const isEmailEvent = (event: AnyEvent): event is Email.Event => Object.hasOwn(Email.Event.cases, event._tag)
