import * as Address from "@waybill/domain/values/Address"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as Span from "@waybill/runtime/flow/Span"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Leases from "@waybill/store/outbox/Leases"
import * as PendingDeliveries from "@waybill/store/facts/PendingDeliveries"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Clock, Effect, Random, Result } from "effect"
import { type AttemptFailure, type AttemptOptions, attemptDelivery } from "./attemptDelivery.ts"
import { commitResult } from "./commitResult.ts"
import { type Attempted, type AttemptResult, evaluateAttempts, MAX_ATTEMPTS, type Policy } from "./evaluateAttempts.ts"
import type { PipelineJob } from "../Pipeline.ts"
import { stopByBatch } from "./stopByBatch.ts"

type PendingDelivery = PendingDeliveries.PendingDelivery
type Recipients = ReadonlyArray<Recipient.Recipient>

export interface DeliverOptions extends AttemptOptions {
  readonly nextAttempt: Policy["nextAttempt"]
}

/** Delivers one message to the recipients that are due, and commits the outcomes. */
export const deliver = (job: PipelineJob, pending: PendingDelivery | undefined, options: DeliverOptions) =>
  Span.around(deliverDue(job, pending, options), "deliver")

const deliverDue = Effect.fnUntraced(function* (
  job: PipelineJob,
  pending: PendingDelivery | undefined,
  options: DeliverOptions,
) {
  if (pending === undefined)
    return yield* Effect.die(new Error(`the outbox names a message that is not in the log: ${job.row.id}`))
  const now = yield* timeOf(pending)
  const chosen = choose(pending, now)
  if (yield* endWithoutAttempt(job, pending, chosen, now)) return
  const attempted = yield* Effect.result(attemptDelivery(job, pending, chosen.toAttempt, options))
  if (Result.isSuccess(attempted)) yield* record(job, pending, chosen, attempted.success, options)
  else yield* endFailedAttempt(job, pending, chosen, attempted.failure)
})

/** The recipients of a message, by what is to be done for them now. */
interface Chosen {
  readonly unfinished: Recipients
  readonly due: Recipients
  readonly toAttempt: Recipients
  /** Outcomes of those that are due and not attempted: they are suppressed, or have no attempts left. */
  readonly withoutAttempt: AttemptResult
}

const choose = (pending: PendingDelivery, now: Timestamp.Timestamp): Chosen => {
  const due = PendingDeliveries.due(pending.message, now)
  const reasonOf = ({ address }: Recipient.Recipient) => pending.suppressed.get(Address.keyOf(address))
  const allowed = due.filter((recipient) => reasonOf(recipient) === undefined)
  const outcomes = due.flatMap((recipient): ReadonlyArray<DeliveryOutcome.Outcome> => {
    const reason = reasonOf(recipient)
    return reason === undefined ? [] : [{ _tag: "Suppressed", recipient: recipient.address, reason }]
  })
  return {
    unfinished: pending.message.recipients.filter(Recipient.isUnfinished),
    due,
    toAttempt: allowed.filter((recipient) => !hasNoAttemptsLeft(recipient)),
    withoutAttempt: merge({ ...NO_RESULT, outcomes }, failed(allowed.filter(hasNoAttemptsLeft), "expired")),
  }
}

/** Ends the work on the row if nothing is to be attempted now; returns whether it did. */
const endWithoutAttempt = Effect.fnUntraced(function* (
  job: PipelineJob,
  pending: PendingDelivery,
  { due, toAttempt, unfinished, withoutAttempt }: Chosen,
  now: Timestamp.Timestamp,
) {
  const { row } = job
  const reason = reasonToFail(pending, row)
  if (unfinished.length === 0) yield* Leases.settle(row)
  else if (reason !== undefined) yield* commitResult(job, pending, failed(unfinished, reason))
  else if (due.length === 0)
    yield* Leases.postponeInTime(row, firstDue(unfinished, pending.message.scheduled_at ?? now))
  else if (yield* stopByBatch(job, pending, now)) return true
  else if (toAttempt.length === 0) yield* commitResult(job, pending, withoutAttempt)
  else return false
  return true
})

/** Records the outcomes of an attempt, with those that needed none. */
const record = Effect.fnUntraced(function* (
  job: PipelineJob,
  pending: PendingDelivery,
  { due, toAttempt, unfinished, withoutAttempt }: Chosen,
  attempted: ReadonlyArray<Attempted>,
  { nextAttempt }: DeliverOptions,
) {
  const { accepted, scheduled_at } = pending.message
  // A test must see the same times in every run.
  const random = pending.clock === undefined ? yield* Random.next : 0.5
  const policy = { nextAttempt, due_since: scheduled_at ?? accepted.created_at, random }
  const notDue = unfinished.filter((recipient) => !due.includes(recipient))
  const result = merge(evaluateAttempts(yield* timeOf(pending), attempted, notDue, policy), withoutAttempt)
  yield* commitResult(job, pending, withLost(result, toAttempt, attempted))
})

/** Ends the work on a row whose attempt could not begin. */
const endFailedAttempt = (
  job: PipelineJob,
  pending: PendingDelivery,
  { toAttempt, withoutAttempt }: Chosen,
  failure: AttemptFailure,
) => {
  if (failure === "not started") return job.giveBack
  if (failure._tag === "StoreUnavailable") return Effect.fail(failure)
  const { category, message } = failure
  return commitResult(job, pending, merge(withoutAttempt, failed(toAttempt, category, message)))
}

/** The present time, on the test clock that the message lives on if it has one. It does not move during an attempt. */
const timeOf = ({ clock }: PendingDelivery) =>
  clock === undefined ? Effect.map(Clock.currentTimeMillis, Timestamp.fromMillis) : Effect.succeed(clock.now)

/** Returns why nothing of the message can be sent any more. */
const reasonToFail = ({ clock, domain, message }: PendingDelivery, { account_id }: PipelineJob["row"]) => {
  if (domain === null && !PendingDeliveries.isTest(account_id, message)) return "domain_removed"
  return clock?.removed === true ? "test_clock_deleted" : undefined
}

const firstDue = (recipients: Recipients, first: Timestamp.Timestamp): Timestamp.Timestamp =>
  recipients.map(({ next_attempt_at }) => next_attempt_at ?? first).reduce(Timestamp.earliest)

/** Attempts with a reply and lost attempts have a limit each. */
const hasNoAttemptsLeft = ({ attempts, lost }: Recipient.Recipient): boolean =>
  attempts - lost >= MAX_ATTEMPTS || lost >= Reclaim.MAX_LOST

/** Adds recipients whose reply had not arrived when the service had to stop. They are tried again without a pause. */
const withLost = (
  result: AttemptResult,
  recipients: Recipients,
  attempted: ReadonlyArray<Attempted>,
): AttemptResult => {
  const withOutcome = new Set(attempted.map(({ recipient }) => recipient))
  const lost = recipients
    .filter((recipient) => !withOutcome.has(recipient))
    .map(({ address, attempts }) => ({ _tag: "AttemptLost" as const, recipient: address, attempt: attempts + 1 }))
  return lost.length === 0 ? result : { ...result, outcomes: [...result.outcomes, ...lost], paused_until: null }
}

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
const failed = (recipients: Recipients, category: string, response: string | null = null): AttemptResult => ({
  ...NO_RESULT,
  outcomes: recipients.map(({ address }) => ({
    _tag: "Failed",
    recipient: address,
    words: { ...DeliveryOutcome.NO_RESPONSE, category, response },
  })),
})
