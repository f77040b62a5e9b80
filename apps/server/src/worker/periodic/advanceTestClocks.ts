import * as TestClock from "@waybill/domain/clock/TestClock"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as ClockedRows from "@waybill/store/outbox/ClockedRows"
import * as Leases from "@waybill/store/outbox/Leases"
import type { Leased } from "@waybill/store/outbox/OutboxRow"
import { Duration, Effect } from "effect"
import * as NewIds from "../../process/NewIds.ts"
import * as Pipelines from "../Pipelines.ts"
import * as Pipeline from "../Pipeline.ts"

/** Maximum number of test clocks that one process advances at once. */
export const MAX_ADVANCES = 20
/** First and longest pause between looks at work in progress on a clock. */
const LOOK_PAUSE = Duration.millis(10)
const MAX_LOOK_PAUSE = Duration.millis(100)

/**
 * Advances test clocks. An advance is a row of the outbox, so that it runs once, whichever process has it; what it makes
 * due are rows that the pipelines of their kinds do. A process that takes over an advance continues where it was.
 */
export const advanceTestClocks = () =>
  Pipelines.make(MAX_ADVANCES, (bound) =>
    Pipeline.make({ kind: "test_clock", bound, prepare: () => Effect.succeed(advance) }),
  )

const advance = Effect.fnUntraced(function* ({ giveBack, row, start }: Pipeline.PipelineJob) {
  const store = yield* EventStore
  const ref = { account_id: row.account_id, stream_id: row.stream_id }
  let pause = LOOK_PAUSE
  // Checked before each step, because a row that is given back continues in another process.
  while (start()) {
    const clock = yield* store.state(TestClock, ref)
    if (clock._tag === "NotCreated") return yield* Leases.settle(row)
    const step = yield* nextStep(row, clock)
    if (step === "done") return
    pause = step === "moved" ? LOOK_PAUSE : Duration.min(Duration.times(pause, 2), MAX_LOOK_PAUSE)
    if (step === "busy") yield* Effect.sleep(pause)
  }
  yield* giveBack
})

const nextStep = Effect.fnUntraced(function* (row: Leased, clock: TestClock.Clock) {
  const at = yield* NewIds.now
  const { busy, next } = yield* ClockedRows.work(clock.created.clock_id)
  if (clock.deleted_at !== null) return yield* endWork(row, next)
  if (clock.advance === null) return yield* Effect.as(Leases.settle(row), "done" as const)
  const stopped = TestClock.mustStop(clock, at)
  if (stopped !== null) return yield* end(row, TestClock.endAdvance(at, stopped))
  if (busy) return "busy" as const
  const { to } = clock.advance
  const isDue = next !== null && next <= to
  const until = isDue ? Timestamp.latest(clock.now, next) : to
  if (until > clock.now) {
    yield* commit(row, TestClock.moveTo(at, until))
    // The next look sees what was committed meanwhile at the former time.
    return "moved" as const
  }
  if (!isDue) return yield* end(row, TestClock.endAdvance(at, null))
  yield* ClockedRows.markReady(clock.created.clock_id, clock.now)
  return "moved" as const
})

/** Ends what waits on a deleted clock: its mail fails, and its webhook calls are given up. */
const endWork = Effect.fnUntraced(function* (row: Leased, next: Timestamp.Timestamp | null) {
  if (next === null) return yield* Effect.as(Leases.settle(row), "done" as const)
  yield* ClockedRows.markReady(row.stream_id, null)
  return "moved" as const
})

const commit = (row: Leased, decide: ReturnType<typeof TestClock.moveTo>) =>
  Effect.flatMap(EventStore, (store) =>
    // A refusal means that the clock was deleted meanwhile, which the next look sees.
    Effect.catch(store.commit(TestClock, { account_id: row.account_id, stream_id: row.stream_id }, decide), (error) =>
      error._tag === "StoreUnavailable" ? Effect.fail(error) : Effect.void,
    ),
  )

/** Ends the advance. The commit removes its row. */
const end = (row: Leased, decide: ReturnType<typeof TestClock.endAdvance>) =>
  Effect.as(commit(row, decide), "moved" as const)
