import { type Array, Result } from "effect"
import type * as Address from "../values/Address.ts"
import type * as Aggregate from "../values/Aggregate.ts"
import type { EmailQueued, Event } from "./EmailEvent.ts"
import * as EmailRefusal from "./EmailRefusal.ts"
import * as EmailStatus from "./EmailStatus.ts"
import type * as Id from "../values/Id.ts"
import * as Recipient from "./Recipient.ts"
import * as Timestamp from "../values/Timestamp.ts"

export type State = { readonly _tag: "NotCreated" } | AcceptedEmail

export interface AcceptedEmail {
  readonly _tag: "Message"
  /** The acceptance event. */
  readonly accepted: EmailQueued
  readonly recipients: ReadonlyArray<Recipient.Recipient>
  readonly scheduled_at: Timestamp.Timestamp | null
  readonly reschedules: number
  readonly updated_at: Timestamp.Timestamp
  readonly opens: number
  readonly clicks: number
  /** Copies that were sent of the message, oldest first; absent if there are none. */
  readonly copies?: ReadonlyArray<Id.EmailId>
}

export const initial: State = { _tag: "NotCreated" }

export const status = (message: AcceptedEmail): EmailStatus.Status => EmailStatus.ofRecipients(message.recipients)

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "EmailQueued") return state._tag === "NotCreated" ? created(event) : state
  if (state._tag === "NotCreated") return state
  const updated_at = Timestamp.latest(state.updated_at, event.at)
  switch (event._tag) {
    case "EmailCanceled":
      return { ...state, updated_at, recipients: state.recipients.map((each) => Recipient.cancel(each, event.at)) }
    case "EmailRescheduled":
      return { ...state, updated_at, scheduled_at: event.scheduled_at, reschedules: state.reschedules + 1 }
    case "EmailResent":
      return { ...state, updated_at, copies: [...(state.copies ?? []), event.copy_id] }
    case "EmailOpened":
      return { ...state, updated_at, opens: state.opens + 1 }
    case "EmailClicked":
      return { ...state, updated_at, clicks: state.clicks + 1 }
    default:
      return { ...state, updated_at, recipients: evolveOne(state.recipients, event) }
  }
}

const created = (accepted: EmailQueued): AcceptedEmail => {
  const makeRecipient =
    (kind: Recipient.Kind) =>
    ({ address }: Address.Mailbox) =>
      Recipient.make(address, kind, accepted.created_at)
  return {
    _tag: "Message",
    accepted,
    recipients: [
      ...accepted.to.map(makeRecipient("to")),
      ...accepted.cc.map(makeRecipient("cc")),
      ...accepted.bcc.map(makeRecipient("bcc")),
    ],
    scheduled_at: accepted.scheduled_at,
    reschedules: 0,
    updated_at: accepted.created_at,
    opens: 0,
    clicks: 0,
  }
}

export const evolveOne = (
  recipients: ReadonlyArray<Recipient.Recipient>,
  event: Recipient.Event,
): ReadonlyArray<Recipient.Recipient> => {
  const index = recipients.findIndex(({ address }) => address === event.recipient)
  const recipient = recipients[index]
  return recipient === undefined ? recipients : recipients.with(index, Recipient.evolve(recipient, event))
}

export type Decide<Error> = Aggregate.Decide<State, Event, Error>

/** Turns a decision about an existing message into one about any state; refuses if there is no message. */
export const ofMessage =
  <Error>(
    decide: (message: AcceptedEmail) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>,
  ): Decide<Error | EmailRefusal.EmailNotFound> =>
  (state) =>
    state._tag === "NotCreated" ? Result.fail(new EmailRefusal.EmailNotFound()) : decide(state)
