import * as Account from "@waybill/domain/account/Account"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as SendBatch from "@waybill/domain/account/SendBatch"
import * as Email from "@waybill/domain/email/Email"
import * as EmailState from "@waybill/domain/email/EmailState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { PendingDelivery } from "@waybill/store/facts/PendingDeliveries"
import * as Leases from "@waybill/store/outbox/Leases"
import type { Leased } from "@waybill/store/outbox/OutboxRow"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Clock, Effect, Result } from "effect"
import * as Refund from "../../accept/Refund.ts"
import type { PipelineJob } from "../Pipeline.ts"

/** Time after which an email of a paused batch is canceled, counted from its own. */
export const MAX_PAUSE_MS = 72 * Timestamp.HOUR
/** Shortest and longest time until a held email is looked at again, which is a part of the time that it has been held. */
const MIN_HOLD_MS = Timestamp.MINUTE
const MAX_HOLD_MS = Timestamp.HOUR
const HOLD_PART = 1 / 6

/**
 * Holds or cancels an email whose time has come, if its batch is paused or canceled; false for any other. The status of the
 * batch is in the log, so the emails of a batch need no change while they wait, however many they are, and a pause outlives
 * restarts, rebuilds and moves. An email that was tried before is not stopped.
 */
export const stopByBatch = Effect.fnUntraced(function* (
  job: PipelineJob,
  { message }: PendingDelivery,
  now: Timestamp.Timestamp,
) {
  const { row } = job
  const batch_id = SendBatch.idOf(message.accepted.metadata)
  if (batch_id === undefined || EmailState.status(message) !== "queued") return false
  const owner = Livemode.liveAccountOf(row.account_id)
  const store = yield* EventStore
  const account = yield* store.state(Account, { account_id: owner, stream_id: owner })
  const status = Account.batchStatus(account, batch_id)
  if (status === undefined) return false
  const late = Timestamp.between(message.scheduled_at ?? message.accepted.created_at, now)
  if (status === "pause" && late < MAX_PAUSE_MS) {
    const hold = Math.min(Math.max(late * HOLD_PART, MIN_HOLD_MS), MAX_HOLD_MS, MAX_PAUSE_MS - late)
    yield* Leases.postponeInTime(row, Timestamp.plus(now, hold))
    return true
  }
  job.noteOutcome()
  yield* cancel(row, message)
  return true
})

/** Cancels an email under its lease. */
const cancel = Effect.fnUntraced(function* (row: Leased, { accepted: { email_id } }: EmailState.AcceptedEmail) {
  const account_id = row.account_id
  const { isRefunded, needs } = Refund.of(account_id, email_id, yield* Clock.currentTimeMillis)
  const store = yield* EventStore
  yield* store
    .transact({
      account_id,
      streams: [{ aggregate: Email, id: email_id }],
      leases: [row],
      needs: { ...needs, ...Reclaim.clockNeeds(row) },
      decide: (view) =>
        Result.map(
          Email.cancel(Reclaim.timeOf(view, row), "none", isRefunded(view))(view.state<Email.State>(Email, email_id)),
          (events) => ({ append: [{ aggregate: Email, id: email_id, events }], answer: undefined }),
        ),
    })
    .pipe(
      // Another process holds the row, or the email changed meanwhile and is looked at again.
      Effect.catch((error) => (error._tag === "StoreUnavailable" ? Effect.fail(error) : Leases.release([row]))),
    )
})
