import type * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import type { EmailId, SuppressionId } from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Reply from "@waybill/mail/reply/Reply"
import * as FullMailboxes from "@waybill/store/facts/FullMailboxes"
import type { Append, View } from "@waybill/store/commit/Commit"
import { Clock, Effect, Result } from "effect"

/** An address to suppress in the commit that records why. */
export interface NewSuppression {
  readonly address: Address.Address
  readonly reason: SuppressionState.Reason
  readonly suppression_id: SuppressionId
}

export const streamOf = ({ address }: Pick<NewSuppression, "address">) => ({
  aggregate: Suppression,
  id: Suppression.streamId(address),
})

/** Returns the event of a suppression; none if the address is suppressed already. */
export const append = (
  view: View,
  { address, reason, suppression_id }: NewSuppression,
  email_id: EmailId,
): ReadonlyArray<Append> => {
  const stream = streamOf({ address })
  const add = Suppression.add(view.now, suppression_id, address, reason, email_id)
  const added = add(view.state<Suppression.State>(Suppression, stream.id))
  return Result.isSuccess(added) ? [{ ...stream, events: added.success }] : []
}

/** Takes decisions about an email, each on the state that those before it left; a refused one changes nothing. */
export const decisionsOn = (before: Email.State) => {
  const events: Array<Email.Event> = []
  let state = before
  return {
    events,
    state: () => state,
    /** Returns whether the decision was taken. */
    take: (decide: (state: Email.State) => Result.Result<ReadonlyArray<Email.Event>, unknown>): boolean => {
      const decided = decide(state)
      if (Result.isFailure(decided)) return false
      events.push(...decided.success)
      state = decided.success.reduce(Email.evolve, state)
      return true
    },
  }
}

/** Whether a mailbox has been full so often, this bounce included, that it is taken for abandoned. */
export const isAbandoned = Effect.fnUntraced(function* (account_id: string, address: Address.Address) {
  const since = (yield* Clock.currentTimeMillis) - Reply.MAILBOX_FULL_WINDOW_DAYS * Timestamp.DAY
  return (yield* FullMailboxes.bounces(account_id, address, since)) + 1 >= Reply.MAILBOX_FULL_BOUNCES
})
