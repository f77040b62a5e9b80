import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import { ANSWER_WITHIN_SECONDS, type TestClockRecord } from "@waybill/api/groups/TestClocks"
import * as TestClock from "@waybill/domain/clock/TestClock"
import * as TestClockRefusal from "@waybill/domain/clock/TestClockRefusal"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import type * as Id from "@waybill/domain/values/Id"
import * as TestClocks from "@waybill/store/readmodels/TestClocks"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/log/Provenance"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Duration, Effect } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import * as NewIds from "../../process/NewIds.ts"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as Records from "../../web/Records.ts"
import * as Handlers from "../middleware/Handlers.ts"

/** First and longest pause between looks at a clock that advances. */
const LOOK_PAUSE = Duration.millis(10)
const MAX_LOOK_PAUSE = Duration.millis(100)

export const TestClockHandlers = HttpApiBuilder.group(Api, "testClocks", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id }) {
      return Records.completeList(yield* TestClocks.list(account_id))
    }),
    get: ({ params }) => Effect.map(find(params.id), recordOf),
    create: Effect.fnUntraced(function* (call) {
      const { actor } = yield* Provenance
      const { account_id } = yield* CurrentKey
      const clockId = yield* NewIds.newId("TestClockId")
      const work = workOnStream(
        TestClock,
        clockId,
        (at, { facts }) =>
          TestClock.create(
            { at, clockId, createdBy: actor.id, others: facts.countOf(account_id, "test_clock") },
            call.payload,
          ),
        recordOf,
        { isNew: true, needs: { countOf: "test_clock" } },
      )
      return yield* RequestCommit.commit(call, Effect.succeed(work), RequestCommit.READY)
    }),
    advance: Effect.fnUntraced(function* (call) {
      const { by, to } = call.payload
      const target = to === null ? { by: by ?? { months: 0, millis: 0 } } : { to }
      const { id } = call.params
      const work = workOnStream(TestClock, id, (at) => TestClock.beginAdvance(at, target), recordOf)
      const { headers } = yield* RequestCommit.commit(call, Effect.succeed(work), RequestCommit.READY)
      return HttpApiSchema.withHeaders({ body: recordOf(yield* untilReady(id)), headers })
    }),
    remove: ({ params }) => Handlers.remove("test_clock", TestClock, params.id, TestClock.remove),
  }),
)

const find = Effect.fnUntraced(function* (id: Id.TestClockId) {
  const { account_id } = yield* CurrentKey
  const clock = yield* (yield* EventStore).state(TestClock, { account_id, stream_id: id })
  if (clock._tag === "NotCreated") return yield* new TestClockRefusal.TestClockNotFound()
  const { deleted_at } = clock
  return deleted_at === null ? clock : yield* new TestClockRefusal.TestClockDeleted({ deleted_at })
})

/** Looks at a clock until it no longer advances, or until the time to answer has passed. */
const untilReady = Effect.fnUntraced(function* (id: Id.TestClockId) {
  const until = (yield* MonotonicClock.millis) + ANSWER_WITHIN_SECONDS * 1000
  let pause = LOOK_PAUSE
  while (true) {
    const clock = yield* find(id)
    if (clock.advance === null || (yield* MonotonicClock.millis) >= until) return clock
    yield* Effect.sleep(pause)
    pause = Duration.min(Duration.times(pause, 2), MAX_LOOK_PAUSE)
  }
})

const recordOf = (clock: TestClock.State): TestClockRecord => {
  if (clock._tag === "NotCreated") throw new Error("a clock that was just changed is not there")
  return TestClocks.record(clock)
}
