import * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundState from "@waybill/domain/inbound/InboundState"
import type { Authentication, Envelope, Heading } from "@waybill/domain/inbound/InboundState"
import * as Routing from "@waybill/domain/inbound/Routing"
import * as Thread from "@waybill/domain/inbound/Thread"
import * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as Email from "@waybill/domain/email/Email"
import * as Forward from "@waybill/domain/inbound/Forward"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import type { NothingNew } from "@waybill/domain/values/Refusal"
import type { Sha256 } from "@waybill/domain/values/Sha256"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InboundContent from "@waybill/store/content/InboundContent"
import { rowsOf } from "@waybill/store/log/BatchTable"
import * as InboundMail from "@waybill/store/readmodels/Inbound"
import * as InboundRoutes from "@waybill/store/readmodels/InboundRoutes"
import * as Databases from "@waybill/store/routing/Databases"
import type { Work } from "@waybill/store/commit/Commit"
import { Clock, Effect, Result } from "effect"
import { createHash } from "node:crypto"
import * as RequestCommit from "../accept/RequestCommit.ts"
import * as ReplyAddresses from "../links/ReplyAddresses.ts"
import * as NewIds from "../process/NewIds.ts"
import { Instance } from "../settings/Instance.ts"
import * as Forwarding from "./Forwarding.ts"

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
  from: Address.keyOfText(heading.from?.address ?? envelope.from),
  subject: heading.subject ?? "",
  verdict: InboundState.verdictOf(auth),
})

/**
 * Returns the work that records a mail and applies the routes of its account. What it forwards is accepted in the same
 * commit, so that no mail is forwarded twice, or not at all.
 */
export const workOf = Effect.fn("InboundReception.workOf")(function* <A>(
  { account_id, auth, bytes, days, envelope, heading, sha256: hash }: Arrived,
  answerOf: (record: InboundMail.InboundRecord, refusal: string | undefined) => A,
) {
  const { inboundDomain } = yield* Instance
  const answered = yield* ReplyAddresses.answeredBy(account_id, inboundDomain, envelope.to)
  const references = [
    ...Thread.referencesOf(heading.in_reply_to, heading.references),
    // A header may name a nearer mail, or be lost on the way.
    ...(answered === undefined ? [] : [Acceptance.messageIdOf(answered, inboundDomain as DomainName.DomainName)]),
  ]
  const [known, routes] = yield* Databases.ofAccount(
    account_id,
    Effect.all([InboundMail.known(account_id, references), InboundRoutes.list(account_id)], {
      concurrency: "unbounded",
    }),
  )
  const plan = Routing.plan(routes, factsOf({ ...heading, auth, envelope }))
  const now = yield* Clock.currentTimeMillis
  const id = NewIds.newIdAt("InboundId", now)
  const at = Timestamp.fromMillis(now)
  const arrival = {
    id,
    thread: Thread.place(id, references, known),
    envelope,
    heading,
    auth,
    size_bytes: bytes.length,
    sha256: hash,
  }
  const toAuthor =
    answered !== undefined && plan.status === "received" && known.emails.has(answered)
      ? yield* forwardedTo(account_id, answered)
      : []
  const forwarding = yield* forwardingOf(account_id, arrival, [
    ...plan.forwards,
    ...(toAuthor.length === 0 ? [] : [{ to: toAuthor }]),
  ])
  yield* InboundContent.stage(account_id, id, bytes)
  return {
    streams: [{ aggregate: Inbound, id, isNew: true }, ...(forwarding?.streams ?? [])] as const,
    ...(forwarding?.needs === undefined ? {} : { needs: forwarding.needs }),
    bytes: bytes.length,
    decide: (view) =>
      Result.flatMap(forwarding?.decide(view) ?? NO_FORWARDS, ({ answer: forwards, append }) => {
        const byRoute = new Map(plan.forwards.map(({ route_id }, nth) => [route_id, forwards[nth] ?? {}] as const))
        const applied = Routing.withForwards(plan.applied, byRoute)
        const forward = forwards[plan.forwards.length]
        const decide = Inbound.receive(at, { ...arrival, plan: { status: plan.status, applied }, forward })
        return Result.map(decide(view.state<Inbound.State>(Inbound, id)), (events) => {
          const [{ _tag, sha256, ...arrived }] = events
          const more = forward === undefined ? {} : { forwards: [forward] }
          const record = { ...arrived, status: plan.status, routes: applied, replies: [], ...more }
          return {
            append: [{ aggregate: Inbound, id, events }, ...append],
            rows: [
              rowsOf(InboundContent.table, [
                { account_id, id, bytes, expires_at: Timestamp.plus(at, days * Timestamp.DAY) },
              ]),
            ],
            answer: answerOf(record, plan.message),
          }
        })
      }),
  } satisfies Work<A, NothingNew>
})

const NO_FORWARDS = Result.succeed({ answer: [], append: [] } as const)

/** Returns the addresses that answers to an email are sent on to; none if its sender has not asked for that. */
const forwardedTo = Effect.fnUntraced(function* (account_id: AccountId, email_id: EmailId) {
  const state = yield* (yield* EventStore).state(Email, { account_id, stream_id: email_id })
  if (state._tag === "NotCreated" || state.accepted.reply_tracking?.forward !== true) return []
  const { from, reply_to } = state.accepted
  const wanted = reply_to.length === 0 ? [from] : reply_to
  return wanted.slice(0, Forward.MAX_TARGETS).map(({ address }) => address)
})

/** Without forwards, nothing is read of the account that only they ask for. */
const forwardingOf = Effect.fnUntraced(function* (
  account_id: AccountId,
  { envelope, heading, id, sha256, size_bytes }: Omit<Inbound.Arrival, "plan">,
  wanted: ReadonlyArray<Forwarding.Wanted>,
) {
  const [first] = envelope.to
  if (wanted.length === 0 || first === undefined) return undefined
  const mail = { ...heading, inbound_id: id, envelope, sha256, size_bytes, domain: Address.domainOf(first) }
  return yield* Forwarding.prepare(account_id, mail, wanted)
})

/** Name of the request by which mail that comes again within a day, to the same recipients, is known: its server has not heard our answer. */
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
  const idempotency = { account_id, route: ROUTE, key: fingerprint, fingerprint }
  const target = { store: yield* EventStore, account_id, idempotency }
  const committed = yield* RequestCommit.commitTo(target, Effect.succeed(work), true).pipe(
    // The id is new, and the key names this mail alone.
    Effect.catchTags({ NothingNew: Effect.die, IdempotencyKeyReused: Effect.die }),
  )
  const [{ id }] = work.streams
  if (committed.isReplayed) yield* InboundContent.remove(account_id, id)
  return committed
})
