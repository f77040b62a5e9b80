import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundState from "@waybill/domain/inbound/InboundState"
import type { Authentication, Envelope, Heading } from "@waybill/domain/inbound/InboundState"
import * as Routing from "@waybill/domain/inbound/Routing"
import * as Thread from "@waybill/domain/inbound/Thread"
import type { AccountId } from "@waybill/domain/values/Id"
import type { NothingNew } from "@waybill/domain/values/Refusal"
import type { Sha256 } from "@waybill/domain/values/Sha256"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as InboundMail from "@waybill/store/readmodels/Inbound"
import * as InboundRoutes from "@waybill/store/readmodels/InboundRoutes"
import * as Cells from "@waybill/store/routing/Cells"
import { Clock, Effect, Result } from "effect"
import { createHash } from "node:crypto"
import * as RequestCommit from "../accept/RequestCommit.ts"
import * as NewIds from "../process/NewIds.ts"

/** A mail that has come for recipients of one account. */
export interface Arrived {
  readonly account_id: AccountId
  readonly envelope: Envelope
  readonly bytes: Uint8Array
  readonly heading: Heading
  readonly auth: Authentication
  readonly sha256: Sha256
  /** Days for which the bytes are kept. */
  readonly days: number
}

/** Facts of a mail that routes ask for. */
export const factsOf = ({
  auth,
  envelope,
  ...heading
}: Pick<Heading, "from" | "subject"> & Pick<Arrived, "auth" | "envelope">): Routing.Facts => ({
  to: envelope.to,
  from: heading.from?.address ?? envelope.from,
  subject: heading.subject ?? "",
  verdict: InboundState.verdictOf(auth),
})

/** Returns the work that records a mail and applies the routes of its account. */
export const workOf = Effect.fn("InboundReception.workOf")(function* <A>(
  { account_id, auth, bytes, days, envelope, heading, sha256: hash }: Arrived,
  answerOf: (record: InboundMail.InboundRecord, refusal: string | undefined) => A,
) {
  const references = Thread.referencesOf(heading.in_reply_to, heading.references)
  const known = yield* Cells.inCellOf(account_id, InboundMail.known(account_id, references))
  const routes = yield* Cells.inCellOf(account_id, InboundRoutes.list(account_id))
  const plan = Routing.plan(routes, factsOf({ ...heading, auth, envelope }))
  const now = yield* Clock.currentTimeMillis
  const id = NewIds.newIdAt("InboundId", now)
  const at = Timestamp.fromMillis(now)
  yield* InboundContent.stage(account_id, id, bytes)
  const decide = Inbound.receive(at, {
    id,
    thread: Thread.place(id, references, known),
    envelope,
    heading,
    auth,
    size_bytes: bytes.length,
    sha256: hash,
    plan,
  })
  return {
    streams: [{ aggregate: Inbound, id, isNew: true }] as const,
    bytes: bytes.length,
    decide: (view) =>
      Result.map(decide(view.state<Inbound.State>(Inbound, id)), (events) => {
        const [{ _tag, sha256, ...arrived }] = events
        const record = { ...arrived, status: plan.status, routes: plan.applied, replies: [] }
        return {
          append: [{ aggregate: Inbound, id, events }],
          inbound: [{ account_id, id, bytes, expires_at: Timestamp.plus(at, days * Timestamp.DAY) }],
          answer: answerOf(record, plan.message),
        }
      }),
  } satisfies RequestCommit.Work<A, NothingNew>
})

/** The same mail to the same recipients within a day: its server has not heard our answer. */
const ROUTE = "SMTP INBOUND"

/** Records a mail once, which is durable afterwards, and returns its id, and the reply to its server if a route refuses it. */
export const receive = Effect.fn("InboundReception.receive")(function* (arrived: Arrived) {
  const { account_id, envelope, sha256 } = arrived
  const work = yield* workOf(arrived, ({ inbound_id }, refusal) => ({
    id: inbound_id,
    ...(refusal === undefined ? {} : { refusal }),
  }))
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([envelope.from, envelope.to.toSorted(), sha256]))
    .digest("hex")
  const claim = { account_id, route: ROUTE, key: fingerprint, fingerprint }
  const target = { store: yield* EventStore, account_id, domain: null }
  const committed = yield* RequestCommit.commitClaimed(target, claim, work).pipe(
    // The id is new, and the claim names this mail alone.
    Effect.catchTags({ NothingNew: Effect.die, IdempotencyKeyReused: Effect.die }),
  )
  const [{ id }] = work.streams
  if (committed.isReplayed) yield* InboundContent.remove(account_id, id)
  return committed
})
