import * as Livemode from "@waybill/domain/account/Livemode"
import * as TestClock from "@waybill/domain/clock/TestClock"
import * as Header from "@waybill/domain/email/Header"
import * as Id from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Clock, Effect, Schema } from "effect"
import { accountOf } from "../../../requests/accountOf.ts"
import type * as Fields from "../../lenient/Fields.ts"
import { Admitted } from "../../../requests/Admitted.ts"

/** Returns the time that words such as "in 1 hour" count from: that of the message's or the key's test clock, else real time. */
export const of = Effect.fnUntraced(function* (headers: Fields.Texts) {
  const admitted = yield* Admitted
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === Header.TEST_CLOCK)?.[1]
  const clock = named ?? (admitted !== undefined && "key" in admitted ? admitted.key.test_clock : undefined)
  // Our own API refuses any other text.
  if (!Schema.is(Id.TestClockId)(clock)) return yield* Clock.currentTimeMillis
  const { state } = yield* EventStore
  const account_id = Livemode.testAccountOf(accountOf(admitted))
  const shown = yield* state(TestClock, { account_id, stream_id: clock })
  return shown._tag === "Clock" ? Date.parse(shown.now) : yield* Clock.currentTimeMillis
})
