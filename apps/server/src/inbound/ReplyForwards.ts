import * as Email from "@waybill/domain/email/Email"
import type * as Id from "@waybill/domain/values/Id"
import * as Forward from "@waybill/domain/inbound/Forward"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect } from "effect"

/** Returns the addresses that answers to an email are sent on to; none if its sender has not asked for that. */
export const targetsOf = Effect.fn("ReplyForwards.targetsOf")(function* (
  account_id: Id.AccountId,
  email_id: Id.EmailId,
) {
  const state = yield* (yield* EventStore).state(Email, { account_id, stream_id: email_id })
  if (state._tag === "NotCreated" || state.accepted.reply_tracking?.forward !== true) return []
  const { from, reply_to } = state.accepted
  const wanted = reply_to.length === 0 ? [from] : reply_to
  return wanted.slice(0, Forward.MAX_TARGETS).map(({ address }) => address)
})
