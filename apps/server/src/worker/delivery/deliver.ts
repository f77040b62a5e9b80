import * as Livemode from "@waybill/domain/account/Livemode"
import * as Address from "@waybill/domain/values/Address"
import type * as Email from "@waybill/domain/email/Email"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Script from "@waybill/domain/email/Script"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as Span from "@waybill/runtime/flow/Span"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { messageHash } from "@waybill/mail/dkim/messageHash"
import * as SourceAddress from "@waybill/mail/source/SourceAddress"
import type { Category } from "@waybill/mail/reply/Category"
import * as Transport from "@waybill/mail/transport/Transport"
import * as Leases from "@waybill/store/outbox/Leases"
import * as PendingDeliveries from "@waybill/store/facts/PendingDeliveries"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Clock, Context, Duration, Effect, Random, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { collectOutcomes } from "./collectOutcomes.ts"
import { commitResult } from "./commitResult.ts"
import { type Attempted, type AttemptResult, evaluateAttempts, MAX_ATTEMPTS, type Policy } from "./evaluateAttempts.ts"
import * as OutgoingMessages from "./OutgoingMessages.ts"
import type { PipelineJob } from "../Pipeline.ts"
import { stopByBatch } from "./stopByBatch.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { Transports } from "./Transports.ts"

/** Maximum time of an attempt. For recipients without an outcome by then, the reply counts as lost. */
export const ATTEMPT_LIMIT = Duration.minutes(10)

export interface DeliverOptions extends OutgoingMessages.Sender {
  /** Shortened by tests. */
  readonly attemptLimit?: Duration.Duration
  readonly nextAttempt: Policy["nextAttempt"]
}

/** Delivers one message to the recipients that are due, and commits the outcomes. */
export const deliver = (
  job: PipelineJob,
  pending: PendingDeliveries.PendingDelivery | undefined,
  options: DeliverOptions,
) => Span.around(deliverDue(job, pending, options), "deliver")

const deliverDue = Effect.fnUntraced(function* (
  job: PipelineJob,
  pending: PendingDeliveries.PendingDelivery | undefined,
  options: DeliverOptions,
) {
  const { row } = job
  if (pending === undefined)
    return yield* Effect.die(new Error(`the outbox names a message that is not in the log: ${row.id}`))
  const { clock, domain, message, suppressed } = pending
  const now = yield* timeOf(pending)
  const unfinished = message.recipients.filter(Recipient.isUnfinished)
  const due = PendingDeliveries.due(message, now)
  if (unfinished.length === 0) return yield* Leases.settle(row)
  if (domain === null && !isTest(pending, row))
    return yield* commitResult(job, pending, failed(unfinished, "domain_removed"))
  if (clock?.removed === true) return yield* commitResult(job, pending, failed(unfinished, "test_clock_deleted"))
  if (due.length === 0) return yield* Leases.postponeInTime(row, firstDue(unfinished, message.scheduled_at ?? now))
  if (yield* stopByBatch(job, pending, now)) return

  const suppressions = due.flatMap(({ address }): ReadonlyArray<DeliveryOutcome.Outcome> => {
    const reason = suppressed.get(Address.keyOf(address))
    return reason === undefined ? [] : [{ _tag: "Suppressed", recipient: address, reason }]
  })
  const allowed = due.filter(({ address }) => !suppressed.has(Address.keyOf(address)))
  const expired = failed(allowed.filter(hasNoAttemptsLeft), "expired").outcomes
  const toAttempt = allowed.filter((recipient) => !hasNoAttemptsLeft(recipient))
  const withoutAttempt: AttemptResult = { ...NO_RESULT, outcomes: [...suppressions, ...expired] }
  if (toAttempt.length === 0) return yield* commitResult(job, pending, withoutAttempt)

  const attempted = yield* Effect.result(attempt(job, pending, toAttempt, options))
  if (Result.isFailure(attempted)) {
    if (attempted.failure === "not started") return yield* job.giveBack
    if (attempted.failure._tag === "StoreUnavailable") return yield* attempted.failure
    const { category, message: response } = attempted.failure
    return yield* commitResult(job, pending, merge(withoutAttempt, failed(toAttempt, category, response)))
  }
  const withOutcome = new Set(attempted.success.map(({ recipient }) => recipient))
  const lost = toAttempt.filter((recipient) => !withOutcome.has(recipient))
  const notDue = unfinished.filter((recipient) => !due.includes(recipient))
  // A test must see the same times in every run.
  const random = clock === undefined ? yield* Random.next : 0.5
  const result = evaluateAttempts(yield* timeOf(pending), attempted.success, notDue, {
    nextAttempt: options.nextAttempt,
    due_since: message.scheduled_at ?? message.accepted.created_at,
    random,
  })
  yield* commitResult(job, pending, withLost(merge(result, withoutAttempt), lost))
})

/** Whether a message is test mail, which never leaves: by its account, or by its own history. */
const isTest = ({ message }: PendingDeliveries.PendingDelivery, { account_id }: PipelineJob["row"]): boolean =>
  !Livemode.isLive(account_id) || message.accepted.livemode === false

/** The present time, on the test clock that the message lives on if it has one. It does not move during an attempt. */
const timeOf = ({ clock }: PendingDeliveries.PendingDelivery) =>
  clock === undefined ? Effect.map(Clock.currentTimeMillis, Timestamp.fromMillis) : Effect.succeed(clock.now)

/** Returns the script of a test message, which was checked when the message was accepted. */
const scriptOf = ({ accepted: { script } }: Email.Message): Pick<Transport.OutgoingMessage, "script"> =>
  script === undefined ? {} : { script: Result.getOrThrow(Script.parse(script)) }

/** Adds recipients whose reply had not arrived when the service had to stop. They are tried again without a pause. */
const withLost = (result: AttemptResult, lost: ReadonlyArray<Recipient.Recipient>): AttemptResult =>
  lost.length === 0
    ? result
    : {
        ...result,
        outcomes: [
          ...result.outcomes,
          ...lost.map(({ address, attempts }) => ({
            _tag: "AttemptLost" as const,
            recipient: address,
            attempt: attempts + 1,
          })),
        ],
        paused_until: null,
      }

/** Attempts with a reply and lost attempts have a limit each. */
const hasNoAttemptsLeft = ({ attempts, lost }: Recipient.Recipient): boolean =>
  attempts - lost >= MAX_ATTEMPTS || lost >= Reclaim.MAX_LOST

const NO_RESULT: AttemptResult = {
  outcomes: [],
  complained: [],
  suppress: [],
  suppressIfRepeated: [],
  paused_until: null,
}

const merge = (one: AttemptResult, other: AttemptResult): AttemptResult => ({
  ...one,
  outcomes: [...one.outcomes, ...other.outcomes],
})

/** Fails recipients for a reason that applies to the whole message. */
const failed = (
  recipients: ReadonlyArray<Recipient.Recipient>,
  category: string,
  response: string | null = null,
): AttemptResult => ({
  ...NO_RESULT,
  outcomes: recipients.map(({ address }) => ({
    _tag: "Failed",
    recipient: address,
    words: { ...DeliveryOutcome.NO_RESPONSE, category, response },
  })),
})

const firstDue = (recipients: ReadonlyArray<Recipient.Recipient>, first: Timestamp.Timestamp): Timestamp.Timestamp =>
  recipients.map(({ next_attempt_at }) => next_attempt_at ?? first).reduce(Timestamp.earliest)

/** Sends the message in one transaction for each number of attempts, and returns the outcomes. */
const attempt = Effect.fnUntraced(function* (
  job: PipelineJob,
  pending: PendingDeliveries.PendingDelivery,
  recipients: ReadonlyArray<Recipient.Recipient>,
  options: DeliverOptions,
) {
  const { domain, message } = pending
  const deferAll = (category: string, response: string) =>
    recipients.map((recipient): Attempted => ({ recipient, outcome: notAttempted(recipient, category, response) }))
  const { row } = job
  const { choose, test } = yield* Transports
  const transport = isTest(pending, row) ? test : choose(domain?.transport ?? null)
  if (transport === undefined)
    return deferAll("not_configured", `this instance has no transport "${domain?.transport}"`)
  const keys = domain === null ? [] : yield* (yield* SigningKeys).of(row.account_id, domain)
  // Only mail of the sandbox, which stays on this machine, may go without a signature.
  if (keys.length === 0 && transport.kind !== "capture")
    return deferAll("signing", "the domain's DKIM key could not be opened")
  const composed = yield* Effect.result(OutgoingMessages.composeAndSign(row.account_id, pending, options, keys))
  if (Result.isFailure(composed)) {
    if (composed.failure._tag === "SigningFailed") return deferAll("signing", composed.failure.message)
    return yield* Effect.fail<OutgoingMessages.Unsendable | StoreUnavailable | "not started">(composed.failure)
  }
  let refused = false
  const mayBegin = () => {
    const started = job.start()
    refused ||= !started
    return started
  }
  const send = (attempts: number, group: ReadonlyArray<Recipient.Recipient>) => {
    const mail = {
      ...composed.success,
      emailId: message.accepted.email_id,
      mailFrom: (to: ReadonlyArray<string>) => OutgoingMessages.returnPathFor(options, row.account_id, message, to),
      attempt: attempts + 1,
      mayBegin,
      ...scriptOf(message),
    }
    const addresses = group.map(({ address }) => address)
    return transport.deliver(mail, addresses)
  }
  const { account_id } = row
  const { domain_id = null, subject } = message.accepted
  const provide = <R>(context: Context.Context<R>): Context.Context<R> =>
    context.pipe(
      Context.add(SourceAddress.CurrentOwner, { account_id, domain_id }),
      Context.add(Sandbox.Mail, { account_id, subject }),
    )
  const groups = Map.groupBy(recipients, ({ attempts }) => attempts)
  const sending = [...groups].map(([attempts, group]) => send(attempts, group))
  const limit = options.attemptLimit ?? ATTEMPT_LIMIT
  const attempted = yield* collectOutcomes(job, recipients, { sending, provide, limit })
  // Nothing has left this machine and the service stops, so another process can take the row at once.
  const isUntouched = refused && attempted.every(({ outcome }) => outcome.no_attempt)
  if (isUntouched) return yield* Effect.fail<OutgoingMessages.Unsendable | "not started">("not started")
  if (!attempted.some(isHandedOver)) return attempted
  const message_sha256 = yield* Effect.promise(() => messageHash(composed.success.bytes))
  return attempted.map((each): Attempted => (isHandedOver(each) ? { ...each, message_sha256 } : each))
})

const isHandedOver = ({ outcome: { status } }: Attempted): boolean => status === "delivered" || status === "sent"

const notAttempted = (
  { address }: Recipient.Recipient,
  category: string,
  response: string,
): Transport.RecipientOutcome => ({
  ...Transport.deferred(address, Transport.NO_HOP, "unavailable", response),
  category: category as Category,
})
