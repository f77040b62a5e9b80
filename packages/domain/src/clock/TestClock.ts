import { Array, Result, Schema } from "effect"
import type * as Aggregate from "../values/Aggregate.ts"
import * as Id from "../values/Id.ts"
import { NothingNew } from "../values/Refusal.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"
import * as IsoDuration from "./IsoDuration.ts"
import * as TestClockLimits from "./TestClockLimits.ts"
import * as TestClockRefusal from "./TestClockRefusal.ts"

export const stream = "test_clock" as const

export const Name = Text.name(TestClockLimits.MAX_NAME_CHARS)

/** Why an advance ended before its target. */
export const Stopped = Schema.Literals(["too_many_steps", "took_too_long"]).annotate({ identifier: "TestClockStopped" })
export type Stopped = typeof Stopped.Type

/** `at` is real time, as in all other streams; `now` and `to` are times that the clock shows. */
const at = Timestamp.Timestamp

export const Event = Schema.TaggedUnion({
  TestClockCreated: {
    clock_id: Id.TestClockId,
    name: Schema.NullOr(Text.Stored),
    now: Timestamp.Timestamp,
    created_by: Schema.NullOr(Text.Stored),
    at,
  },
  /** An advance began. */
  TestClockAdvancing: { to: Timestamp.Timestamp, at },
  /** The clock shows the next time at which something is due, or the target. */
  TestClockAdvanced: { to: Timestamp.Timestamp, at },
  /** The advance ended: all that was due is done, or a limit stopped it. */
  TestClockReady: { stopped: Schema.NullOr(Stopped), at },
  /** The clock was set anew, which may be back. What waits on it waits for the same times as before. */
  TestClockReset: { to: Timestamp.Timestamp, at },
  TestClockDeleted: { at },
})
export type Event = typeof Event.Type

export type State = { readonly _tag: "NotCreated" } | Clock

export interface Clock {
  readonly _tag: "Clock"
  readonly created: typeof Event.cases.TestClockCreated.Type
  /** The time that the clock shows. */
  readonly now: Timestamp.Timestamp
  /** The advance in progress: its target, its real start, and the number of times that the clock has shown since. */
  readonly advance: {
    readonly to: Timestamp.Timestamp
    readonly since: Timestamp.Timestamp
    readonly steps: number
  } | null
  /** Why the last advance ended early. */
  readonly stopped: Stopped | null
  readonly deleted_at: Timestamp.Timestamp | null
}

export const initial: State = { _tag: "NotCreated" }

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "TestClockCreated")
    return state._tag === "NotCreated"
      ? { _tag: "Clock", created: event, now: event.now, advance: null, stopped: null, deleted_at: null }
      : state
  if (state._tag === "NotCreated" || state.deleted_at !== null) return state
  switch (event._tag) {
    case "TestClockAdvancing":
      return { ...state, advance: { to: event.to, since: event.at, steps: 0 }, stopped: null }
    case "TestClockAdvanced":
      return {
        ...state,
        now: event.to,
        advance: state.advance === null ? null : { ...state.advance, steps: state.advance.steps + 1 },
      }
    case "TestClockReady":
      return { ...state, advance: null, stopped: event.stopped }
    case "TestClockReset":
      return { ...state, now: event.to, stopped: null }
    case "TestClockDeleted":
      return { ...state, advance: null, deleted_at: event.at }
  }
}

type Decide<Error> = Aggregate.Decide<State, Event, Error>
type Absent = TestClockRefusal.TestClockNotFound | TestClockRefusal.TestClockDeleted

const ofClock =
  <Error>(decide: (clock: Clock) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>): Decide<Error | Absent> =>
  (state) => {
    if (state._tag === "NotCreated") return Result.fail(new TestClockRefusal.TestClockNotFound())
    const { deleted_at } = state
    return deleted_at === null ? decide(state) : Result.fail(new TestClockRefusal.TestClockDeleted({ deleted_at }))
  }

export interface Creation {
  /** Real time. */
  readonly at: Timestamp.Timestamp
  readonly clockId: Id.TestClockId
  readonly createdBy: string | null
  /** Number of clocks of the account. */
  readonly others: number
}

export const create =
  (
    { at, clockId, createdBy, others }: Creation,
    { name, now }: { readonly name: string | null; readonly now: Timestamp.Timestamp | null },
  ): Decide<TestClockRefusal.TooManyTestClocks | TestClockRefusal.TestClockOutOfRange | NothingNew> =>
  (state) => {
    if (state._tag !== "NotCreated") return Result.fail(new NothingNew())
    if (others >= TestClockLimits.MAX_CLOCKS) return Result.fail(new TestClockRefusal.TooManyTestClocks())
    const begins = now ?? at
    return isInRange(begins)
      ? Result.succeed(
          Array.of<Event>({
            _tag: "TestClockCreated",
            clock_id: clockId,
            name,
            now: begins,
            created_by: createdBy,
            at,
          }),
        )
      : Result.fail(new TestClockRefusal.TestClockOutOfRange({ now: begins }))
  }

const isInRange = (time: Timestamp.Timestamp): boolean =>
  time >= TestClockLimits.EARLIEST && time <= TestClockLimits.LATEST

/** Where to advance a clock: by a duration, or to a time. */
export type Target = { readonly by: IsoDuration.IsoDuration } | { readonly to: Timestamp.Timestamp }

export type AdvanceRefusal =
  | TestClockRefusal.TestClockAdvancing
  | TestClockRefusal.TestClockMovedBack
  | TestClockRefusal.AdvanceTooFar
  | TestClockRefusal.TestClockOutOfRange

/** Begins an advance. One to the present time is allowed: it waits for what is in progress. */
export const beginAdvance = (at: Timestamp.Timestamp, target: Target): Decide<Absent | AdvanceRefusal> =>
  ofClock<AdvanceRefusal>(({ advance, now }) => {
    if (advance !== null) return Result.fail(new TestClockRefusal.TestClockAdvancing({ to: advance.to }))
    const to = "to" in target ? target.to : IsoDuration.after(now, target.by)
    if (to < now) return Result.fail(new TestClockRefusal.TestClockMovedBack({ now, to }))
    const latest = Timestamp.plus(now, TestClockLimits.MAX_ADVANCE_DAYS * Timestamp.DAY)
    if (to > latest) return Result.fail(new TestClockRefusal.AdvanceTooFar({ to, latest }))
    if (!isInRange(to)) return Result.fail(new TestClockRefusal.TestClockOutOfRange({ now: to }))
    return Result.succeed(Array.of<Event>({ _tag: "TestClockAdvancing", to, at }))
  })

/** Sets a clock to real time, for the next test of a suite. */
export const reset = (at: Timestamp.Timestamp): Decide<Absent | TestClockRefusal.TestClockAdvancing> =>
  ofClock<TestClockRefusal.TestClockAdvancing>(({ advance }) =>
    advance === null
      ? Result.succeed(Array.of<Event>({ _tag: "TestClockReset", to: at, at }))
      : Result.fail(new TestClockRefusal.TestClockAdvancing({ to: advance.to })),
  )

/** Moves a clock that advances to the next time at which something is due, never beyond the target. */
export const moveTo = (at: Timestamp.Timestamp, to: Timestamp.Timestamp): Decide<Absent | NothingNew> =>
  ofClock(({ advance, now }) =>
    advance === null || to <= now || to > advance.to
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<Event>({ _tag: "TestClockAdvanced", to, at })),
  )

export const endAdvance = (at: Timestamp.Timestamp, stopped: Stopped | null): Decide<Absent | NothingNew> =>
  ofClock(({ advance }) =>
    advance === null
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<Event>({ _tag: "TestClockReady", stopped, at })),
  )

/** Returns why an advance must end before its target, if it must. */
export const mustStop = ({ advance }: Clock, at: Timestamp.Timestamp): Stopped | null => {
  if (advance === null) return null
  if (advance.steps >= TestClockLimits.MAX_STEPS) return "too_many_steps"
  const limit = TestClockLimits.MAX_ADVANCE_MINUTES * Timestamp.MINUTE
  return Timestamp.between(advance.since, at) >= limit ? "took_too_long" : null
}

/** Deletes a clock, also while it advances. What waits on it fails. */
export const remove = (at: Timestamp.Timestamp): Decide<Absent> =>
  ofClock(() => Result.succeed(Array.of<Event>({ _tag: "TestClockDeleted", at })))
