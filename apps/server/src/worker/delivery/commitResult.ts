import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type * as EmailState from "@waybill/domain/email/EmailState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as SiteRules from "@waybill/mail/site/SiteRules"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Leases from "@waybill/store/outbox/Leases"
import type { Leased } from "@waybill/store/outbox/OutboxRow"
import type { PendingDelivery } from "@waybill/store/facts/PendingDeliveries"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import type { Append } from "@waybill/store/commit/Commit"
import { Cause, Clock, Duration, Effect, Result } from "effect"
import { type StoreUnavailable, unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as NewIds from "../../process/NewIds.ts"
import * as Deliveries from "../../observability/Deliveries.ts"
import type { AttemptResult } from "./evaluateAttempts.ts"
import { HandedOver } from "./HandedOver.ts"
import * as NewSuppression from "./NewSuppression.ts"
import type { PipelineJob } from "../Pipeline.ts"

/** First pause before a failed commit is tried again; each later pause is twice as long. */
export const COMMIT_PAUSE = Duration.seconds(1)
/** Longest pause before a failed commit is tried again. */
export const MAX_COMMIT_PAUSE = Duration.seconds(10)

/**
 * Commits the result of an attempt, however long the database is away: a commit that comes too late changes nothing,
 * while a lost outcome means that the mail is sent again.
 */
export const commitResult = (job: PipelineJob, pending: Attempted, result: AttemptResult) => {
  job.noteOutcome()
  return Effect.andThen(job.inTurn, untilCommitted(commit(job.row, pending, result), COMMIT_PAUSE))
}

type Attempted = Pick<PendingDelivery, "message">

/** Commits outcomes, suppressions and the row's next time or its end at once, if the lease still holds. */
const commit = Effect.fnUntraced(function* (row: Leased, { message }: Attempted, result: AttemptResult) {
  const repeated =
    result.suppressIfRepeated.length === 0
      ? []
      : yield* Effect.filter(result.suppressIfRepeated, (address) =>
          NewSuppression.isAbandoned(row.account_id, address),
        )
  const suppress = [...result.suppress, ...repeated.map((address) => ({ address, reason: "hard_bounce" as const }))]
  if (result.outcomes.length === 0 && result.paused_until !== null) {
    return yield* Leases.postponeInTime(row, result.paused_until)
  }
  // Mail on a test clock stays on this machine, where no site asks for a pause.
  if (result.paused_until !== null && typeof row.clock !== "string") yield* Leases.pause(row, result.paused_until)
  const store = yield* EventStore
  const account_id = row.account_id
  const millis = yield* Clock.currentTimeMillis
  const suppressions = suppress.map((each) => ({ ...each, suppression_id: NewIds.newIdAt("SuppressionId", millis) }))
  const committed = store.transact({
    account_id,
    streams: [{ aggregate: Email, id: row.stream_id }, ...suppressions.map(NewSuppression.streamOf)],
    leases: [row],
    needs: Reclaim.clockNeeds(row),
    decide: (view) => {
      const events = eventsOf(Reclaim.timeOf(view, row), view.state<Email.State>(Email, row.stream_id), result)
      if (events.length === 0) return Result.fail("nothing new" as const)
      const append: Array<Append> = [{ aggregate: Email, id: row.stream_id, events }]
      for (const each of suppressions) append.push(...NewSuppression.append(view, each, message.accepted.email_id))
      return Result.succeed({ append, answer: undefined })
    },
  })
  const noteHandOver = yield* HandedOver
  const siteRules = yield* SiteRules.CurrentRules
  yield* committed.pipe(
    Effect.tap(() => noteHandOver({ account_id, email_id: message.accepted.email_id }, result.outcomes)),
    Effect.tap(() => Effect.sync(() => Deliveries.observe(result.outcomes, millis - dueSince(message), siteRules))),
    Effect.catch((refusal) => {
      if (refusal === "nothing new") return Leases.release([row])
      if (refusal._tag === "StoreUnavailable") return Effect.fail(refusal)
      return Effect.logWarning("delivery outcome came too late; another process holds the lease", { id: row.id })
    }),
  )
})

const dueSince = ({ accepted, scheduled_at }: EmailState.AcceptedEmail): number =>
  Timestamp.toMillis(scheduled_at ?? accepted.created_at)

/** Repeats a commit, after a bug too: one outcome that is lost is a mail that is sent twice. */
const untilCommitted = <R>(
  committing: Effect.Effect<void, StoreUnavailable, R>,
  pause: Duration.Duration,
): Effect.Effect<void, never, R> =>
  Effect.catchCause(committing, (cause) =>
    Cause.hasInterrupts(cause)
      ? Effect.failCause(cause as Cause.Cause<never>)
      : unlessAway(
          Effect.logWarning("delivery outcome could not be committed; the commit will be retried", cause),
          cause,
        ).pipe(
          Effect.andThen(Effect.sleep(pause)),
          Effect.andThen(untilCommitted(committing, Duration.min(Duration.times(pause, 2), MAX_COMMIT_PAUSE))),
        ),
  )

/** Returns the events of a result: outcomes first, since a complaint is about mail that was delivered. */
const eventsOf = (now: Timestamp.Timestamp, before: Email.State, { complained, outcomes }: AttemptResult) => {
  const { events, take } = NewSuppression.decisionsOn(before)
  take(EmailReport.record(now, outcomes))
  for (const { address, simulation } of complained)
    take(EmailReport.recordComplained(now, address, "abuse", simulation))
  return events
}
