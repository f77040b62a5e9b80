import * as Availability from "@waybill/store/availability/Availability"
import type { Problem } from "@waybill/store/availability/Problem"
import { IsAway, unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import { FIRST } from "@waybill/store/routing/CellName"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Cause, Duration, Effect, Fiber, Logger } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { assert, describe, it } from "../../support/effectTest.ts"

const TIMEOUT = Duration.seconds(5)
const SILENT: Problem = { text: "the database does not respond", cause: Cause.empty }

const diskFull = Cause.fail(
  new SqlError.SqlError({
    reason: new SqlError.UnknownError({
      cause: Object.assign(new Error("could not extend file"), { code: "53100" }),
      message: "query failed",
      operation: "query",
    }),
  }),
)

/** A watch whose probe answers as the test says, and how often it was probed, lost and closed. */
const watched = Effect.gen(function* () {
  const seen = { probes: 0, running: 0, atOnce: 0, lost: 0, closed: 0 }
  let answer: Problem | undefined
  const probe = () =>
    Effect.gen(function* () {
      seen.probes++
      seen.atOnce = Math.max(seen.atOnce, ++seen.running)
      yield* Effect.sleep("50 millis")
      seen.running--
      return answer
    })
  const watch = yield* Availability.make(TIMEOUT, probe, () => void seen.closed++)
  yield* watch.onLost(() => void seen.lost++)
  return { seen, watch, become: (problem: Problem | undefined) => void (answer = problem) }
})

describe("the watch of the database", () => {
  it.effect("asks nothing of a database that nobody waits for", function* () {
    const { seen, watch } = yield* watched
    for (let n = 0; n < 100; n++) watch.waiting()()
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(seen.probes, 0)
  })

  it.effect("gives up a database that does not answer, at the time limit and not before", function* () {
    const { become, seen, watch } = yield* watched
    become(SILENT)
    watch.waiting()
    yield* TestClock.adjust("4900 millis")
    assert.isUndefined(watch.problem())
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual([watch.problem(), seen.lost, seen.closed], [SILENT, 1, 1])
  })

  it.effect(
    "lets work that fails in an outage write nothing: one line says that it began, and one that it ended",
    function* () {
      const { become, watch } = yield* watched
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      const fails = (why: Cause.Cause<unknown> = Cause.fail("lost")) =>
        unlessAway(Effect.logWarning("work failed"), why).pipe(
          Effect.provideService(IsAway, watch.isAway),
          Effect.provide(Logger.layer([logger])),
          Effect.forkChild,
        )
      const loop = Effect.forEach(Array.from({ length: 40 }), () =>
        Effect.andThen(Effect.all([fails(), fails()]), TestClock.adjust("500 millis")),
      )
      // A connection that broke, to a database that answers, has its line.
      yield* fails()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(lines, ["work failed"])
      become(SILENT)
      yield* loop
      assert.deepStrictEqual([lines, watch.problem()], [["work failed"], SILENT])
      become(undefined)
      yield* TestClock.adjust("1 second")
      // What ends late is of the outage too, but a bug is not.
      yield* fails()
      yield* fails(Cause.die("bug"))
      yield* TestClock.adjust(Availability.QUIET_FOR)
      assert.deepStrictEqual([lines.length, watch.problem()], [2, undefined])
      yield* fails()
      yield* TestClock.adjust("1 second")
      assert.lengthOf(lines, 3)
    },
  )

  it.effect("names its cell, unless that is the first one", function* () {
    for (const cell of ["cell_b", FIRST]) {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => void lines.push(...[message].flat().slice(1)))
      const outage = Effect.gen(function* () {
        const { become, watch } = yield* watched
        become(SILENT)
        watch.waiting()
        yield* TestClock.adjust("10 seconds")
        become(undefined)
        yield* TestClock.adjust("2 seconds")
        assert.isUndefined(watch.problem())
      })
      yield* inCell(cell, Effect.provide(outage, Logger.layer([logger])))
      assert.deepStrictEqual(lines, cell === FIRST ? [] : [{ cell }, { cell }])
    }
  })

  it.effect("gives a database that restarts its time, although work fails", function* () {
    const { become, seen, watch } = yield* watched
    become(SILENT)
    const asked = yield* Effect.forkChild(watch.isAway)
    yield* TestClock.adjust("4 seconds")
    assert.deepStrictEqual([yield* Fiber.join(asked), watch.problem()], [true, undefined])
    become(undefined)
    yield* TestClock.adjust("20 seconds")
    assert.deepStrictEqual([watch.problem(), seen.lost], [undefined, 0])
  })

  it.effect("leaves work alone that waits for a lock", function* () {
    const { seen, watch } = yield* watched
    watch.waiting()
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([watch.problem(), seen.lost], [undefined, 0])
  })

  it.effect("gives up work whose own connection is dead, in the end", function* () {
    const { seen, watch } = yield* watched
    watch.waiting()
    yield* TestClock.adjust("95 seconds")
    assert.deepStrictEqual([seen.lost, seen.closed, watch.problem()], [1, 1, undefined])
  })

  it.effect("probes one at a time until a write succeeds", function* () {
    const { become, seen, watch } = yield* watched
    become(SILENT)
    watch.waiting()
    yield* TestClock.adjust("10 seconds")
    assert.isDefined(watch.problem())
    become(undefined)
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual([watch.problem(), seen.atOnce, seen.lost], [undefined, 1, 1])
  })

  it.effect("knows a full disk from the first error, without closing connections", function* () {
    const { become, seen, watch } = yield* watched
    become({ text: "full", cause: diskFull })
    assert.isFalse(yield* watch.report(Cause.die(new Error("a bug"))))
    assert.isTrue(yield* watch.report(diskFull))
    assert.isTrue(yield* watch.report(diskFull))
    assert.deepStrictEqual(
      [watch.problem()?.text, seen.lost, seen.closed],
      ["the disk of the database is full (ENOSPC)", 1, 0],
    )
  })

  it.effect("writes for readiness checks, but seldom", function* () {
    const { become, seen, watch } = yield* watched
    const verify = Effect.gen(function* () {
      yield* Effect.forkChild(watch.verify)
      yield* TestClock.adjust("100 millis")
    })
    for (let n = 0; n < 10; n++) yield* verify
    assert.strictEqual(seen.probes, 1)
    yield* TestClock.adjust(Availability.WRITE_FRESH_FOR)
    become({ text: "full", cause: diskFull })
    yield* verify
    assert.strictEqual(watch.problem()?.text, "full")
    assert.strictEqual(seen.probes, 2)
  })
})
