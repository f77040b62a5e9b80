import type * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Reply from "@waybill/mail/reply/Reply"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as FullMailboxes from "@waybill/store/outbox/FullMailboxes"
import * as Leases from "@waybill/store/outbox/Leases"
import type { Append, View } from "@waybill/store/commit/Commit"
import { Clock, Duration, Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Deliveries from "../../observability/Deliveries.ts"
import type { Judgement } from "./evaluateAttempts.ts"
import type { Job } from "../Pipeline.ts"

const ID_RANDOM_BYTES = 10
/** Between tries to write an outcome down; at first, and twice as long after each, up to the longest. */
export const COMMIT_PAUSE = Duration.seconds(1)
export const MAX_COMMIT_PAUSE = Duration.seconds(10)

/**
 * Writes what was learnt, however long the database is away: nothing is gained by giving up, as a commit that comes too
 * late changes nothing, and an outcome that is thrown away is a mail sent again.
 */
export const settle = (job: Job, message: Email.Message, judgement: Judgement) => {
  job.settle()
  return persist(write(job.row, message, judgement), COMMIT_PAUSE)
}

/**
 * Outcomes, what they do to addresses, and the row's next time or its end, in one commit that holds only if the lease
 * still does.
 */
const write = Effect.fnUntraced(function* (row: Leases.Leased, message: Email.Message, judgement: Judgement) {
  const repeated = yield* Effect.filter(judgement.doubtful, (address) => isRepeated(row.account_id, address))
  const suppress = [...judgement.suppress, ...repeated.map((address) => ({ address, reason: "hard_bounce" as const }))]
  if (judgement.outcomes.length === 0 && judgement.held_until !== null) {
    return yield* Leases.postpone(row, judgement.held_until)
  }
  if (judgement.held_until !== null) yield* Leases.hold(row, judgement.held_until)
  const store = yield* EventStore
  const account_id = row.account_id as Id.AccountId
  const millis = yield* Clock.currentTimeMillis
  const suppressions = suppress.map((each) => ({
    ...each,
    id: Suppression.streamId(each.address),
    suppression_id: Id.make("SuppressionId", millis, SecureRandom.randomBytesUnsafe(ID_RANDOM_BYTES)),
  }))
  const commit = store.transact({
    account_id,
    streams: [
      { aggregate: Email, id: row.stream_id },
      ...suppressions.map(({ id }) => ({ aggregate: Suppression, id })),
    ],
    leases: [row],
    decide: (view) => {
      const now = view.now as Timestamp.Timestamp
      const events = learn(now, view.state<Email.State>(Email, row.stream_id), judgement)
      if (events.length === 0) return Result.fail("nothing new" as const)
      const append: Array<Append> = [{ aggregate: Email, id: row.stream_id, events }]
      for (const each of suppressions) append.push(...silence(now, view, each, message.accepted.email_id))
      return Result.succeed({ append, answer: undefined })
    },
  })
  yield* commit.pipe(
    Effect.tap(() => Effect.sync(() => Deliveries.settled(judgement.outcomes, millis - dueSince(message)))),
    Effect.catch((refusal) =>
      refusal === "nothing new"
        ? Leases.giveBack([row])
        : Effect.logWarning("an outcome came too late: the lease had passed on", { id: row.id }),
    ),
  )
})

const dueSince = ({ accepted, scheduled_at }: Email.Message): number =>
  Timestamp.toMillis(scheduled_at ?? accepted.created_at)

const persist = <A, E, R>(commit: Effect.Effect<A, E, R>, pause: Duration.Duration): Effect.Effect<A, E, R> =>
  Effect.catchDefect(commit, (defect) =>
    Effect.logWarning("an outcome could not be written yet", defect).pipe(
      Effect.andThen(Effect.sleep(pause)),
      Effect.andThen(persist(commit, Duration.min(Duration.times(pause, 2), MAX_COMMIT_PAUSE))),
    ),
  )

/** Outcomes first, for a complaint is about a mail that arrived. */
const learn = (now: Timestamp.Timestamp, before: Email.State, { complained, outcomes }: Judgement) => {
  const events: Array<Email.Event> = []
  let state = before
  const take = (decided: Result.Result<ReadonlyArray<Email.Event>, unknown>) => {
    if (Result.isFailure(decided)) return
    events.push(...decided.success)
    state = decided.success.reduce(Email.evolve, state)
  }
  take(Email.record(now, outcomes)(state))
  for (const address of complained) take(Email.recordComplained(now, address, "abuse")(state))
  return events
}

interface Silenced {
  readonly id: string
  readonly address: Address.Address
  readonly reason: Suppression.Reason
  readonly suppression_id: Id.SuppressionId
}

const silence = (now: Timestamp.Timestamp, view: View, each: Silenced, email_id: Id.EmailId): ReadonlyArray<Append> => {
  const added = Suppression.add(
    now,
    each.suppression_id,
    each.address,
    each.reason,
    email_id,
  )(view.state<Suppression.State>(Suppression, each.id))
  return Result.isSuccess(added) ? [{ aggregate: Suppression, id: each.id, events: added.success }] : []
}

/** A full mailbox may be emptied; one that stays full has nobody to empty it. This bounce counts too. */
const isRepeated = Effect.fnUntraced(function* (account_id: string, address: Address.Address) {
  const since = (yield* Clock.currentTimeMillis) - Reply.MAILBOX_FULL_WINDOW_DAYS * Timestamp.DAY
  return (yield* FullMailboxes.bounces(account_id, address, since)) + 1 >= Reply.MAILBOX_FULL_BOUNCES
})
