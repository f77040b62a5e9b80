import { Effect, Result } from "effect"
import * as Reply from "../reply/Reply.ts"
import type * as ReplyClass from "../reply/ReplyClass.ts"
import type { Site } from "../site/SiteConnections.ts"
import type { AtCapacity, SitePool } from "../site/SitePool.ts"
import * as SmtpBody from "./SmtpBody.ts"
import { type ConnectFailed, replyOf, type SmtpConnection } from "./SmtpConnection.ts"
import * as SmtpTransaction from "./SmtpTransaction.ts"
import * as MonotonicClock from "@waybill/domain/values/MonotonicClock"
import * as Span from "@waybill/domain/values/Span"
import type { OutgoingMessage, RecipientOutcome } from "../transport/Transport.ts"
import * as Transport from "../transport/Transport.ts"

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
  Span.around(deliverAll(pool, route, message, recipients), "SmtpDelivery.deliver")

const deliverAll = Effect.fnUntraced(function* (
  pool: SitePool,
  route: Route,
  message: OutgoingMessage,
  recipients: ReadonlyArray<string>,
): Effect.fn.Return<ReadonlyArray<RecipientOutcome>> {
  const body = SmtpBody.make(message.bytes)
  if (Result.isFailure(body)) {
    return recipients.map((recipient) => Transport.failed(recipient, "protocol", body.failure.message))
  }
  const outcomes = new Map<string, RecipientOutcome>()
  for (const group of [
    recipients.filter((each) => !SmtpTransaction.isUtf8(each)),
    recipients.filter(SmtpTransaction.isUtf8),
  ]) {
    // A server without SMTPUTF8 cannot take these recipients; the others must not suffer for it.
    for (let at = 0; at < group.length; at += RECIPIENTS_PER_TRANSACTION) {
      const part = group.slice(at, at + RECIPIENTS_PER_TRANSACTION)
      yield* deliverPart(pool, route, message, body.success, part, outcomes)
    }
  }
  return recipients.map(
    (recipient) =>
      outcomes.get(recipient) ?? Transport.deferred(recipient, Transport.NO_HOP, "connection", "not tried"),
  )
})

interface Round {
  readonly hop: Transport.Hop
  readonly address: string
  readonly reused: boolean
  readonly answers: ReadonlyArray<SmtpTransaction.RecipientReply>
}

const deliverPart = Effect.fnUntraced(function* (
  pool: SitePool,
  route: Route,
  message: OutgoingMessage,
  body: SmtpBody.SmtpBody,
  recipients: ReadonlyArray<string>,
  outcomes: Map<string, RecipientOutcome>,
) {
  const mayBegin = yield* Transport.MayBegin
  const report = yield* Transport.OutcomeReported
  const avoid = new Set<string>()
  let remaining = recipients
  for (let round = 1; round <= ROUNDS && remaining.length > 0; round++) {
    const connect = route.connect(avoid)
    if (connect === undefined) return
    const startedAt = yield* MonotonicClock.millis
    /** Undefined until it is asked. */
    let began: boolean | undefined
    const begin = () => (began = mayBegin())
    const transaction = {
      from: message.mailFrom(remaining),
      to: remaining,
      body,
      utf8: message.smtpUtf8 || remaining.some(SmtpTransaction.isUtf8),
      dsn: route.confirms ? message.emailId : undefined,
    }
    const result = yield* Effect.result(
      pool.use(route.site, connect, (connection, { isAhead, passOn, reused }) =>
        Effect.suspend(() => {
          // A message behind another one begins with its own content: only its commands are sent before.
          if (!isAhead && !begin()) return Effect.succeed("not started" as const)
          const mayWrite = isAhead ? begin : undefined
          return Effect.zipWith(
            connection.send({ ...transaction, mayWrite }, passOn),
            MonotonicClock.millis,
            (answers, now): Round | "not started" | "not tried" => {
              if (began === false) return "not started"
              if (began === undefined && answers.every(({ _tag }) => _tag === "Lost")) return "not tried"
              const hop = { mx: connection.target.host, tls: connection.tls, duration_ms: now - startedAt }
              return { hop, reused, answers, address: connection.target.address }
            },
          )
        }),
      ),
    )
    if (Result.isFailure(result)) {
      const duration_ms = (yield* MonotonicClock.millis) - startedAt
      return yield* notSent(pool, route, remaining, result.failure, duration_ms, outcomes)
    }
    // The connection ended with the message before.
    if (result.success === "not tried") continue
    if (result.success === "not started") {
      for (const recipient of remaining)
        if (!outcomes.has(recipient)) outcomes.set(recipient, Transport.notStarted(recipient))
      return
    }
    const { address, answers, hop, reused } = result.success
    const pause = yield* reportToPool(pool, route, answers)
    const toRepeat: Array<string> = []
    for (const [i, recipient] of remaining.entries()) {
      const answer = answers[i]
      if (answer === undefined) continue
      const outcome = withPause(Transport.answered(recipient, hop, answer, remaining.length > 1), answer, pause)
      outcomes.set(recipient, outcome)
      if (round < ROUNDS && isWorthAnotherRound(answer, answers)) toRepeat.push(recipient)
      else report(outcome)
    }
    // An idle session may have been closed long ago, which says nothing about the server.
    if (!reused && answers.some((answer) => answer._tag === "Lost")) avoid.add(address)
    if (pause !== undefined) return
    remaining = toRepeat
  }
})

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

/** Reports the answers to the pool; returns the pause when the site asked for one. */
const reportToPool = (
  pool: SitePool,
  route: Route,
  answers: ReadonlyArray<SmtpTransaction.RecipientReply>,
): Effect.Effect<number | undefined> =>
  answers.some((answer) => answer._tag === "Refused" && slowsDown(answer.reply))
    ? pool.throttled(route.site)
    : answers.some((answer) => answer._tag === "Accepted")
      ? Effect.as(pool.accepted(route.site), undefined)
      : Effect.undefined

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
): RecipientOutcome =>
  pause !== undefined && answer._tag === "Refused" && slowsDown(answer.reply) ? paused(outcome, pause) : outcome

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
