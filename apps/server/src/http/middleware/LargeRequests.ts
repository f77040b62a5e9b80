import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as FairSlots from "@waybill/runtime/flow/FairSlots"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Effect } from "effect"
import * as Bodies from "../../web/Bodies.ts"

/** Large requests that a process commits at the same time for one account. */
export const MAX_PER_ACCOUNT = 2
/** Large requests that a process commits at the same time. */
export const MAX_AT_ONCE = 8

const slots = FairSlots.make({ all: MAX_AT_ONCE, perOwner: MAX_PER_ACCOUNT })

/**
 * Commits a request for many messages or addresses when its account has its turn. The log takes commits in the order in which
 * they come, so that a hundred large ones of one account would hold up everybody else.
 */
export const inTurn = Effect.fnUntraced(function* <A, E, R>(commit: Effect.Effect<A, E, R>) {
  const { account_id } = yield* CurrentKey
  const began = yield* MonotonicClock.millis
  return yield* slots(account_id)(Effect.andThen(readmitted(began), commit))
})

/** Admits the request again after a long wait, because its key may have been revoked meanwhile. */
const readmitted = Effect.fnUntraced(function* (began: number) {
  const readContext = yield* Bodies.ReadContext
  if (readContext !== undefined && (yield* MonotonicClock.millis) - began > Bodies.READMITTED_AFTER_MS)
    yield* readContext.readmit(undefined)
})
