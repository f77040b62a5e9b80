import * as Address from "@waybill/domain/values/Address"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as Span from "@waybill/runtime/flow/Span"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Leases from "@waybill/store/outbox/Leases"
import * as PendingDeliveries from "@waybill/store/facts/PendingDeliveries"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Clock, Effect, Random, Result } from "effect"
import { type AttemptOptions, attemptDelivery } from "./attemptDelivery.ts"
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
  const { row } = job
  if (pending === undefined)
    return yield* Effect.die(new Error(`the outbox names a message that is not in the log: ${row.id}`))
  const { message } = pending
  const now = yield* timeOf(pending)

  const unfinished = message.recipients.filter(Recipient.isUnfinished)
  if (unfinished.length === 0) return yield* Leases.settle(row)
  const reason = reasonToFail(pending, row)
  if (reason !== undefined) return yield* commitResult(job, pending, failed(unfinished, reason))
  const due = PendingDeliveries.due(message, now)
  if (due.length === 0) return yield* Leases.postponeInTime(row, firstDue(unfinished, message.scheduled_at ?? now))
  if (yield* stopByBatch(job, pending, now)) return

  const { toAttempt, withoutAttempt } = separate(due, pending)
  if (toAttempt.length === 0) return yield* commitResult(job, pending, withoutAttempt)
  const attempted = yield* Effect.result(attemptDelivery(job, pending, toAttempt, options))
  if (Result.isSuccess(attempted)) {
    const notDue = unfinished.filter((recipient) => !due.includes(recipient))
    const result = merge(yield* evaluate(pending, attempted.success, notDue, options), withoutAttempt)
    return yield* commitResult(job, pending, withLost(result, toAttempt, attempted.success))
  }
  if (attempted.failure === "not started") return yield* job.giveBack
  if (attempted.failure._tag === "StoreUnavailable") return yield* attempted.failure
  const { category, message: response } = attempted.failure
  yield* commitResult(job, pending, merge(withoutAttempt, failed(toAttempt, category, response)))
})

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

/** Separates the recipients to attempt from the outcomes of those that are suppressed or have no attempts left. */
const separate = (due: Recipients, { suppressed }: PendingDelivery) => {
  const outcomes = due.flatMap(({ address }): ReadonlyArray<DeliveryOutcome.Outcome> => {
    const reason = suppressed.get(Address.keyOf(address))
    return reason === undefined ? [] : [{ _tag: "Suppressed", recipient: address, reason }]
  })
  const allowed = due.filter(({ address }) => !suppressed.has(Address.keyOf(address)))
  const expired = failed(allowed.filter(hasNoAttemptsLeft), "expired")
  return {
    toAttempt: allowed.filter((recipient) => !hasNoAttemptsLeft(recipient)),
    withoutAttempt: merge({ ...NO_RESULT, outcomes }, expired),
  }
}

/** Attempts with a reply and lost attempts have a limit each. */
const hasNoAttemptsLeft = ({ attempts, lost }: Recipient.Recipient): boolean =>
  attempts - lost >= MAX_ATTEMPTS || lost >= Reclaim.MAX_LOST

const evaluate = Effect.fnUntraced(function* (
  pending: PendingDelivery,
  attempted: ReadonlyArray<Attempted>,
  notDue: Recipients,
  { nextAttempt }: DeliverOptions,
) {
  const { accepted, scheduled_at } = pending.message
  // A test must see the same times in every run.
  const random = pending.clock === undefined ? yield* Random.next : 0.5
  const due_since = scheduled_at ?? accepted.created_at
  return evaluateAttempts(yield* timeOf(pending), attempted, notDue, { nextAttempt, due_since, random })
})

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
