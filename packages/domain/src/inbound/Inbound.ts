import { Array, Result } from "effect"
import type * as Aggregate from "../values/Aggregate.ts"
import * as Address from "../values/Address.ts"
import type * as Id from "../values/Id.ts"
import { NothingNew } from "../values/Refusal.ts"
import type { Sha256 } from "../values/Sha256.ts"
import type * as Timestamp from "../values/Timestamp.ts"
import * as InboundRefusal from "./InboundRefusal.ts"
import type { Authentication, Envelope, Event, Forwarded, Heading, Received, State } from "./InboundState.ts"
import type { Plan } from "./Routing.ts"
import type * as Thread from "./Thread.ts"

export { Event, evolve, initial, type State } from "./InboundState.ts"

/** One stream per received mail, with the mail's own id. */
export const stream = "inbound" as const

type Decide<Error> = Aggregate.Decide<State, Event, Error>

/** A mail as the listener has it. */
export interface Arrival {
  readonly id: Id.InboundId
  readonly thread: Thread.Place
  readonly envelope: Envelope
  readonly heading: Heading
  readonly auth: Authentication
  readonly size_bytes: number
  readonly sha256: Sha256
  /** The routes that apply to it. */
  readonly plan: Pick<Plan, "applied" | "status">
  /** A forward that no route asks for. */
  readonly forward?: Forwarded | undefined
}

/** Records a mail and the routes that apply to it. Its id is new, so nothing can be there yet. */
export const receive =
  (now: Timestamp.Timestamp, { envelope, forward, heading, id, plan, thread, ...content }: Arrival) =>
  (state: State): Result.Result<readonly [Received, ...ReadonlyArray<Event>], NothingNew> => {
    const [first] = envelope.to
    if (state._tag !== "NotReceived" || first === undefined) return Result.fail(new NothingNew())
    const received: Received = {
      _tag: "EmailReceived",
      inbound_id: id,
      ...thread,
      envelope,
      ...heading,
      domain: Address.domainOf(first),
      mailbox_hash: mailboxHashOf(first),
      ...content,
      at: now,
    }
    return Result.succeed([
      received,
      ...(plan.applied.length === 0 ? [] : [routed(id, plan, now)]),
      ...(forward === undefined ? [] : [{ _tag: "InboundForwarded" as const, inbound_id: id, ...forward, at: now }]),
    ])
  }

const routed = (inbound_id: Id.InboundId, { applied, status }: Arrival["plan"], now: Timestamp.Timestamp): Event => ({
  _tag: "RouteApplied",
  inbound_id,
  status,
  routes: applied,
  at: now,
})

/** Applies the routes of now to a mail again. */
export const replay =
  (now: Timestamp.Timestamp, plan: Arrival["plan"]): Decide<InboundRefusal.InboundNotFound> =>
  (state) =>
    state._tag === "Received"
      ? Result.succeed(Array.of(routed(state.mail.inbound_id, plan, now)))
      : Result.fail(new InboundRefusal.InboundNotFound())

/** Records an email that answers a mail. */
export const reply =
  (now: Timestamp.Timestamp, email_id: Id.EmailId): Decide<InboundRefusal.InboundNotFound> =>
  (state) =>
    state._tag === "Received"
      ? Result.succeed(
          Array.of<Event>({ _tag: "InboundReplied", inbound_id: state.mail.inbound_id, email_id, at: now }),
        )
      : Result.fail(new InboundRefusal.InboundNotFound())

/** Records a forward that no route asked for. */
export const forward =
  (now: Timestamp.Timestamp, forwarded: Forwarded): Decide<InboundRefusal.InboundNotFound> =>
  (state) =>
    state._tag === "Received"
      ? Result.succeed(
          Array.of<Event>({ _tag: "InboundForwarded", inbound_id: state.mail.inbound_id, ...forwarded, at: now }),
        )
      : Result.fail(new InboundRefusal.InboundNotFound())

/** Whether a webhook is called for a mail. Without routes it is if it subscribes; with routes, one of them must say so. */
export const calls = (state: State, webhook_id: string, isSubscribed: boolean): boolean =>
  state._tag === "NotReceived" || state.routes.length === 0
    ? isSubscribed
    : state.routes.some(
        ({ action, webhook_id: only }) =>
          action === "webhook" && (only === undefined ? isSubscribed : only === webhook_id),
      )

/** Deletes a mail: its content at once, and its record for readers. The events stay until the history is removed. */
export const remove =
  (now: Timestamp.Timestamp): Decide<InboundRefusal.InboundNotFound> =>
  (state) =>
    state._tag === "Received"
      ? Result.succeed(Array.of({ _tag: "InboundDeleted", inbound_id: state.mail.inbound_id, at: now }))
      : Result.fail(new InboundRefusal.InboundNotFound())

/** Returns what follows the first plus sign of a local part, as in `support+42@acme.test`. */
export const mailboxHashOf = (address: Address.Address): string | null => {
  const local = Address.localOf(address)
  const at = local.indexOf("+")
  return at === -1 || at === local.length - 1 ? null : local.slice(at + 1)
}
