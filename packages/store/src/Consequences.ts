import * as Email from "@waybill/domain/Email"
import * as Recipient from "@waybill/domain/Recipient"
import type { Facts, OutboxRow, Touched } from "./Ledger.ts"
import type { AnyEvent } from "./Recorded.ts"

export interface Work {
  /** Rows to arm, new or with a new time. */
  readonly arm: ReadonlyArray<OutboxRow>
  /** Ids of rows that have nothing left to do. */
  readonly disarm: ReadonlyArray<string>
}

/** What follows from events inside their own commit, beyond the read models. Pure, like the events. */
export interface Consequences {
  readonly outbox: (touched: ReadonlyArray<Touched>, facts: Facts, now: string) => Work
  /** What an event adds to, or gives back of, a month's volume. `state` is the stream's state after it. */
  readonly usage: (
    event: AnyEvent,
    state: unknown,
  ) => ReadonlyArray<{ readonly month: string; readonly delta: number }>
}

export const none: Consequences = { outbox: () => ({ arm: [], disarm: [] }), usage: () => [] }

export const live: Consequences = {
  outbox: (touched) => {
    const arm: Array<OutboxRow> = []
    const disarm: Array<string> = []
    for (const stream of touched) {
      if (stream.aggregate.stream === Email.stream) {
        const row = delivery(stream, stream.state as Email.State)
        if (row === undefined) disarm.push(stream.stream_id)
        else arm.push(row)
      }
    }
    return { arm, disarm }
  },
  usage: (event, state) => {
    const message = state as Email.State
    return isEmailEvent(event) && message._tag === "Message" ? volume(event, message) : []
  },
}

/** A message's pending delivery, like its log row, is a fold of its stream: due when its first unfinished recipient is. */
const delivery = (stream: Touched, message: Email.State): OutboxRow | undefined => {
  if (message._tag === "Unborn") return undefined
  const unfinished = message.recipients.filter(Recipient.isUnfinished)
  if (unfinished.length === 0) return undefined
  const first = message.scheduled_at ?? message.accepted.created_at
  const due = unfinished.map(({ next_attempt_at }) => next_attempt_at ?? first)
  return {
    id: stream.stream_id,
    account_id: stream.account_id,
    kind: "delivery",
    stream_id: stream.stream_id,
    available_at: due.reduce((a, b) => (a < b ? a : b)),
    attempt: unfinished.reduce((most, { attempts }) => Math.max(most, attempts), 0),
    payload: {},
  }
}

const isEmailEvent = (event: AnyEvent): event is Email.Event => event._tag.startsWith("Email")

/** One per accepted recipient, in the month of acceptance; who was suppressed then never counted, who is canceled is given back. */
const volume = (event: Email.Event, { accepted, recipients }: Email.Message) => {
  const month = accepted.created_at.slice(0, "2026-11".length)
  switch (event._tag) {
    case "EmailQueued":
      return [{ month, delta: recipients.length }]
    case "EmailSuppressed":
      return event.at === accepted.created_at ? [{ month, delta: -1 }] : []
    case "EmailCanceled":
      return [{ month, delta: -recipients.filter(({ status }) => status === "canceled").length }]
    default:
      return []
  }
}
