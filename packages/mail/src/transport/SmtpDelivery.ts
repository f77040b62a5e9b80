import { Clock, Effect, Result } from "effect"
import { isIP } from "node:net"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Span from "@waybill/runtime/flow/Span"
import * as Reply from "../reply/Reply.ts"
import type * as ReplyClass from "../reply/ReplyClass.ts"
import type { Site } from "../site/SiteConnections.ts"
import type { AtCapacity, SitePool } from "../site/SitePool.ts"
import * as SmtpBody from "../smtp/SmtpBody.ts"
import { type ConnectFailed, replyOf, type SmtpConnection } from "../smtp/SmtpConnection.ts"
import * as SmtpTransaction from "../smtp/SmtpTransaction.ts"
import type { OutgoingMessage, RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"

/** Recipients that every server must take in one transaction (RFC 5321 §4.5.3.1.8). */
export const RECIPIENTS_PER_TRANSACTION = 100
/** Maximum transactions of one delivery to one site: the first, a stale connection, another host, split recipients. */
export const ROUNDS = 4

export interface Route {
  readonly site: Site
  /** Opens a session with none of the given addresses; undefined when no other is remaining. */
  readonly connect: (avoid: ReadonlySet<string>) => Effect.Effect<SmtpConnection, ConnectFailed> | undefined
  /** Whether to request a report of success. */
  readonly confirms: boolean
}

/** Delivers to recipients that share a route. */
export const deliver = (
  pool: SitePool,
  route: Route,
  message: OutgoingMessage,
  recipients: ReadonlyArray<string>,
): Effect.Effect<ReadonlyArray<RecipientOutcome>> =>
  Span.around(
    Effect.withFiber((fiber) => {
      const body = SmtpBody.make(message.bytes)
      if (Result.isFailure(body)) {
        const { message: reason } = body.failure
        return Effect.succeed(recipients.map((recipient) => Transport.failed(recipient, "protocol", reason)))
      }
      const outcomes = new Map<string, RecipientOutcome>()
      const delivery: Delivery = {
        pool,
        route,
        message,
        body: body.success,
        outcomes,
        clock: fiber.getRef(Clock.Clock),
      }
      const all = () =>
        recipients.map(
          (recipient) =>
            outcomes.get(recipient) ?? Transport.deferred(recipient, Transport.NO_HOP, "connection", "not tried"),
        )
      const parts = partsOf(recipients)
      const [first = []] = parts
      return Effect.map(
        parts.length === 1
          ? deliverPart(delivery, first)
          : Effect.forEach(parts, (part) => deliverPart(delivery, part), { discard: true }),
        all,
      )
    }),
    "SmtpDelivery.deliver",
  )

interface Delivery {
  readonly pool: SitePool
  readonly route: Route
  readonly message: OutgoingMessage
  readonly body: SmtpBody.SmtpBody
  readonly outcomes: Map<string, RecipientOutcome>
  readonly clock: Clock.Clock
}

/** Divides the recipients among transactions, one after the other. */
const partsOf = (recipients: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  if (recipients.length === 1) return [recipients]
  // A server without SMTPUTF8 cannot take these recipients; the others must not suffer for it.
  return [
    recipients.filter((each) => !SmtpTransaction.isUtf8(each)),
    recipients.filter(SmtpTransaction.isUtf8),
  ].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / RECIPIENTS_PER_TRANSACTION) }, (_, nth) =>
      group.slice(nth * RECIPIENTS_PER_TRANSACTION, (nth + 1) * RECIPIENTS_PER_TRANSACTION),
    ),
  )
}

interface Round {
  readonly hop: Transport.Hop
  readonly address: string
  readonly reused: boolean
  readonly answers: ReadonlyArray<SmtpTransaction.RecipientReply>
}

const deliverPart = (
  delivery: Delivery,
  remaining: ReadonlyArray<string>,
  round = 1,
  avoid: ReadonlySet<string> = NONE,
): Effect.Effect<void> => {
  const { body, clock, message, outcomes, pool, route } = delivery
  const connect = route.connect(avoid)
  if (connect === undefined) return Effect.void
  const startedAt = MonotonicClock.millisOf(clock)
  const transaction = {
    from: message.mailFrom(remaining),
    to: remaining,
    body,
    utf8: message.smtpUtf8 || remaining.some(SmtpTransaction.isUtf8),
    dsn: route.confirms ? message.emailId : undefined,
  }
  const next = (repeated: ReadonlyArray<string>, avoided: ReadonlySet<string>) =>
    round < ROUNDS && repeated.length > 0 ? deliverPart(delivery, repeated, round + 1, avoided) : Effect.void
  return Effect.matchEffect(
    pool.use(route.site, connect, (connection, reused): Effect.Effect<Round | "not started"> => {
      if (message.mayBegin?.() === false) return Effect.succeed("not started")
      return Effect.map(connection.send(transaction), (answers) => {
        const { address, host } = connection.target
        const duration_ms = MonotonicClock.millisOf(clock) - startedAt
        const server = serverOf(connection)
        return { hop: { mx: host, tls: connection.tls, duration_ms, server }, reused, answers, address }
      })
    }),
    {
      onFailure: (failure) =>
        notSent(pool, route, remaining, failure, MonotonicClock.millisOf(clock) - startedAt, outcomes),
      onSuccess: (result) => {
        if (result === "not started") {
          for (const recipient of remaining)
            if (!outcomes.has(recipient)) outcomes.set(recipient, Transport.notStarted(recipient))
          return Effect.void
        }
        const { address, answers, reused } = result
        // An idle session may have been closed long ago, which says nothing about the server.
        const isToAvoid = !reused && answers.some((answer) => answer._tag === "Lost")
        const avoided = isToAvoid ? new Set([...avoid, address]) : avoid
        if (answers.some(isSlowDown)) {
          return Effect.map(pool.throttled(route.site), (pause) => {
            conclude(delivery, remaining, result, round, pause)
          })
        }
        if (answers.some((answer) => answer._tag === "Accepted")) pool.accepted(route.site)
        return next(conclude(delivery, remaining, result, round, undefined), avoided)
      },
    },
  )
}

/** A relay is found by the system, so that its address is not known. */
const serverOf = ({
  certificate_sha256,
  target: { address },
}: SmtpConnection): NonNullable<Transport.Hop["server"]> => ({
  ...(isIP(address) === 0 ? {} : { address }),
  ...(certificate_sha256 === undefined ? {} : { certificate_sha256 }),
})

const NONE: ReadonlySet<string> = new Set()

/** Records the outcomes of a round, and returns the recipients that are worth another. */
const conclude = (
  { message, outcomes }: Delivery,
  recipients: ReadonlyArray<string>,
  { answers, hop }: Round,
  round: number,
  pause: number | undefined,
): ReadonlyArray<string> => {
  const toRepeat: Array<string> = []
  for (const [i, recipient] of recipients.entries()) {
    const answer = answers[i]
    if (answer === undefined) continue
    const outcome = withPause(Transport.answered(recipient, hop, answer, recipients.length > 1), answer, pause)
    outcomes.set(recipient, outcome)
    if (round < ROUNDS && isWorthAnotherRound(answer, answers)) toRepeat.push(recipient)
    else message.report(outcome)
  }
  return toRepeat
}

/** Outcome without a transaction. It never replaces a more informative outcome of an earlier round. */
const notSent = Effect.fnUntraced(function* (
  pool: SitePool,
  route: Route,
  recipients: ReadonlyArray<string>,
  failure: ConnectFailed | AtCapacity,
  duration_ms: number,
  outcomes: Map<string, RecipientOutcome>,
) {
  const reply = failure._tag === "ConnectFailed" ? replyOf(failure) : undefined
  const pause = reply !== undefined && slowsDown(reply) ? yield* pool.throttled(route.site) : undefined
  for (const recipient of recipients) {
    if (outcomes.has(recipient)) continue
    if (failure._tag === "AtCapacity") {
      outcomes.set(recipient, Transport.notAttempted(recipient, null, failure.retry_after_ms, failure.message))
    } else {
      const outcome = Transport.unconnected(recipient, { mx: failure.host, tls: null, duration_ms }, failure)
      outcomes.set(recipient, pause === undefined ? outcome : paused(outcome, pause))
    }
  }
})

/** Whether the site asks for a pause. */
const isSlowDown = (answer: SmtpTransaction.RecipientReply): boolean =>
  answer._tag === "Refused" && slowsDown(answer.reply)

/**
 * 421 means that the service closes for everybody. Other replies concern one recipient or message unless they speak of
 * our rate: one mailbox with its own policy must not hold up all others.
 */
const slowsDown = (reply: Reply.Reply): boolean => {
  if (reply.code === 421) return true
  const verdict = Reply.classify(reply)
  if (verdict.class !== "throttled" || verdict.rule === "recipient-rate") return false
  return verdict.rule === "rate" || !STAGES_OF_ONE_MESSAGE.has(reply.stage)
}

const STAGES_OF_ONE_MESSAGE: ReadonlySet<ReplyClass.Stage> = new Set(["rcpt", "data", "body", "end_of_data"])

const withPause = (
  outcome: RecipientOutcome,
  answer: SmtpTransaction.RecipientReply,
  pause: number | undefined,
): RecipientOutcome => (pause !== undefined && isSlowDown(answer) ? paused(outcome, pause) : outcome)

/** A site that asks for a pause has not looked at the message, so the attempt does not count. */
const paused = (outcome: RecipientOutcome, pause: number): RecipientOutcome => ({
  ...outcome,
  no_attempt: true,
  retry_after_ms: Math.max(pause, outcome.retry_after_ms ?? 0),
})

/** Lost before anything could be accepted, or beyond the server's limit while it accepted others (§4.5.3.1.10). */
const isWorthAnotherRound = (
  answer: SmtpTransaction.RecipientReply,
  all: ReadonlyArray<SmtpTransaction.RecipientReply>,
): boolean =>
  answer._tag === "Lost"
    ? !answer.ambiguous
    : answer._tag === "Refused" && isTooMany(answer.reply) && all.some((other) => other._tag === "Accepted")

const isTooMany = (reply: Reply.Reply): boolean =>
  (reply.code === 452 && (reply.enhancedCode ?? "4.5.3") === "4.5.3" && /recipient/iu.test(reply.text)) ||
  (reply.stage === "rcpt" && Reply.classify(reply).rule.startsWith("too-many-recipients"))
