import { assert, it } from "@effect/vitest"
import type { AccountId, EventId, WebhookDeliveryId } from "@waybill/domain/values/Id"
import * as Consequences from "@waybill/store/commit/Consequences"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import { rules } from "@waybill/store/commit/EventStore"
import * as StreamStateCache from "@waybill/store/streams/StreamStateCache"
import { type Facts, type Ledger, OutcomeUnknown, type Page } from "@waybill/store/commit/LogStorage"
import * as MemoryLogStorage from "@waybill/store/commit/MemoryLogStorage"
import { Deferred, Effect, Exit, type Fiber, Result } from "effect"
import { describe } from "vitest"
import { id } from "../../support/history.ts"
import { send } from "./units.ts"

const never = () => Effect.die(new Error("nobody asks for this"))
const facts: Facts = {
  account: () => undefined,
  domain: () => undefined,
  suppression: () => undefined,
  used: () => 0,
  outbox: () => undefined,
  tally: () => 0,
  subscriptions: () => [],
}

interface Flight {
  readonly units: number
  /** Lets it be written, and flushed. */
  readonly write: Effect.Effect<unknown>
  readonly flush: Effect.Effect<unknown>
}

/** A log whose flights get on only as far as they are told to. */
const slow = Effect.gen(function* () {
  const flights: Array<Flight> = []
  let isOver = false
  const ledger: Ledger = {
    streams: never,
    feed: never,
    landed: never,
    transaction: (_, body, written = Effect.void) =>
      Effect.gen(function* () {
        const [mayWrite, mayFlush] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const page: Page = {
          streams: never,
          answers: never,
          keep: never,
          write: never,
          facts: (needs) => {
            flights.push({
              units: needs.length,
              write: Deferred.succeed(mayWrite, undefined),
              flush: Deferred.succeed(mayFlush, undefined),
            })
            return Effect.as(isOver ? Effect.void : Deferred.await(mayWrite), facts)
          },
        }
        const done = yield* body(page)
        yield* written
        if (!isOver) yield* Deferred.await(mayFlush)
        return done
      }),
  }
  const group = yield* GroupCommit.make({
    ledger,
    shapes: { schemaVersion: () => 1, upcast: (_, __, data) => data },
    consequences: Consequences.live,
    kept: StreamStateCache.make(),
    nextEventId: () => "" as EventId,
    nextDeliveryId: () => "" as WebhookDeliveryId,
  })
  // A flight under way is waited for.
  yield* Effect.addFinalizer(() => {
    isOver = true
    return Effect.forEach(flights, ({ flush, write }) => Effect.andThen(write, flush), { discard: true })
  })
  const submit = (count: number) =>
    Effect.gen(function* () {
      const callers: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let nth = 0; nth < count; nth++) {
        const unit = {
          account_id: "acc" as AccountId,
          streams: [],
          decide: () => Result.succeed({ append: [], answer: nth }),
        }
        callers.push(yield* Effect.forkChild(group.submit(unit), { startImmediately: true }))
      }
      yield* settled
      return callers
    })
  const tell = (what: "write" | "flush") => (nth: number) =>
    Effect.suspend(() => Effect.andThen(flights[nth]?.[what] ?? Effect.die(new Error("no such flight")), settled))
  return { flights, submit, write: tell("write"), flush: tell("flush") }
})

/** All that can go on without being told to has gone on. */
const settled = Effect.repeat(Effect.yieldNow, { times: 20 })

const sizes = (flights: ReadonlyArray<Flight>) => flights.map(({ units }) => units)

describe("flights", () => {
  it.effect("ask their questions while the one before is being flushed, not while it is being written", () =>
    Effect.gen(function* () {
      const { flights, flush, submit, write } = yield* slow
      const [first] = yield* submit(1)
      const [second] = yield* submit(1)
      assert.deepStrictEqual(sizes(flights), [1])

      yield* write(0)
      assert.deepStrictEqual(sizes(flights), [1, 1])
      assert.strictEqual(first?.pollUnsafe(), undefined, "nobody is told before the flush")

      yield* write(1)
      yield* submit(1)
      assert.deepStrictEqual(sizes(flights), [1, 1], "a third waits until the first has landed")
      yield* flush(0)
      assert.deepStrictEqual(sizes(flights), [1, 1, 1])
      assert.strictEqual(first?.pollUnsafe()?._tag, "Success")
      assert.strictEqual(second?.pollUnsafe(), undefined)
    }).pipe(Effect.scoped),
  )

  it.effect("take all that wait when they are few, and else half of all that are there", () =>
    Effect.gen(function* () {
      const { flights, flush, submit, write } = yield* slow
      yield* submit(1)
      yield* submit(GroupCommit.UNITS_NEVER_PARTED)
      yield* write(0)
      yield* flush(0)
      assert.deepStrictEqual(sizes(flights), [1, GroupCommit.UNITS_NEVER_PARTED])

      yield* submit(2 * GroupCommit.UNITS_NEVER_PARTED)
      yield* write(1)
      // Those that are being flushed are there as well, and will come back.
      assert.strictEqual(flights[2]?.units, 1.5 * GroupCommit.UNITS_NEVER_PARTED)
    }).pipe(Effect.scoped),
  )

  it.effect("hold no more than a flight may", () =>
    Effect.gen(function* () {
      const { flights, submit, write } = yield* slow
      yield* submit(1)
      yield* submit(5 * GroupCommit.MAX_UNITS_IN_FLIGHT)
      yield* write(0)
      assert.strictEqual(flights[1]?.units, GroupCommit.MAX_UNITS_IN_FLIGHT)
    }).pipe(Effect.scoped),
  )

  it.effect("land before the store is closed, and who has not left is told", () =>
    Effect.gen(function* () {
      const closing = yield* Effect.scoped(
        Effect.gen(function* () {
          const { submit } = yield* slow
          const [flown] = yield* submit(1)
          const [left] = yield* submit(1)
          return { flown, left }
        }),
      )
      yield* settled
      assert.strictEqual(closing.flown?.pollUnsafe()?._tag, "Success")
      assert.strictEqual(closing.left?.pollUnsafe()?._tag, "Failure")
    }),
  )

  it.effect("are closed for whoever still waited to be let in", () =>
    Effect.gen(function* () {
      const callers = yield* Effect.scoped(
        Effect.gen(function* () {
          const { submit } = yield* slow
          yield* submit(1)
          return yield* submit(GroupCommit.MAX_UNITS_WAITING + 2 * GroupCommit.MAX_UNITS_IN_FLIGHT)
        }),
      )
      yield* settled
      assert.lengthOf(
        callers.filter((caller) => caller.pollUnsafe() === undefined),
        0,
      )
    }),
  )

  it.effect("of which nobody can say whether they landed are told so, and are not flown again", () =>
    Effect.gen(function* () {
      const memory = MemoryLogStorage.make([])
      let flown = 0
      const ledger: Ledger = {
        ...memory,
        transaction: (scope, body, written) => {
          flown++
          return Effect.andThen(memory.transaction(scope, body, written), new OutcomeUnknown({ cause: "lost" }))
        },
        landed: () => Effect.die(new Error("no answer can be read")),
      }
      const group = yield* GroupCommit.make({ ledger, ...rules(Consequences.live) })
      const account_id = id("AccountId")
      const exits = yield* Effect.all(
        [1, 2].map(() => Effect.exit(group.submit(send(account_id)))),
        { concurrency: "unbounded" },
      )
      for (const exit of exits) assert.include(String(Exit.isFailure(exit) && exit.cause), "no answer can be read")
      const { events } = yield* memory.feed({ after: 0n, account_id })
      assert.deepStrictEqual([flown, events.length], [1, 2])
    }).pipe(Effect.scoped),
  )
})
