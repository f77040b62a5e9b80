import * as IsoDuration from "@waybill/domain/clock/IsoDuration"
import * as TestClock from "@waybill/domain/clock/TestClock"
import * as TestClockLimits from "@waybill/domain/clock/TestClockLimits"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Decide } from "@waybill/domain/values/Aggregate"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given } from "../../support/givenWhenThen.ts"
import { id } from "../../support/history.ts"

const time = (text: string) => text as Timestamp.Timestamp
const AT = time("2026-11-21T09:00:00.000Z")
const BEGIN = time("2030-01-31T00:00:00.000Z")
const clockId = id("TestClockId")

const created: TestClock.Event = {
  _tag: "TestClockCreated",
  clock_id: clockId,
  name: null,
  now: BEGIN,
  created_by: null,
  at: AT,
}
const advancing = (to: string): TestClock.Event => ({ _tag: "TestClockAdvancing", to: time(to), at: AT })
const advanced = (to: string): TestClock.Event => ({ _tag: "TestClockAdvanced", to: time(to), at: AT })
const ready: TestClock.Event = { _tag: "TestClockReady", stopped: null, at: AT }
const deleted: TestClock.Event = { _tag: "TestClockDeleted", at: AT }
const DAY = { months: 0, millis: Timestamp.DAY }

describe("a test clock", () => {
  it("begins at real time or at the time that is asked for, among few others", () => {
    const creation = { at: AT, clockId, createdBy: null, others: 0 }
    const noName = { name: null, now: null }
    given(TestClock)
      .when(TestClock.create(creation, { ...noName, now: BEGIN }))
      .appends(created)
    given(TestClock)
      .when(TestClock.create(creation, noName))
      .appends({ ...created, now: AT })
    given(TestClock)
      .when(TestClock.create({ ...creation, others: TestClockLimits.MAX_CLOCKS }, noName))
      .refuses({ status: 422, reason: "too_many_test_clocks" })
  })

  it("moves step by step to the target, and is ready when its end is decided", () => {
    const to = "2030-02-01T00:00:00.000Z"
    given(TestClock, created)
      .when(TestClock.beginAdvance(AT, { by: DAY }))
      .appends(advancing(to))
    const underWay = given(TestClock, created, advancing(to))
    underWay.when(TestClock.moveTo(AT, time("2030-01-31T10:00:00.000Z"))).appends(advanced("2030-01-31T10:00:00.000Z"))
    underWay.when(TestClock.endAdvance(AT, null)).appends(ready)
    underWay.when(TestClock.beginAdvance(AT, { by: DAY })).refuses({ status: 422, reason: "test_clock_advancing" })
    // A process whose lease is lost neither moves the clock back nor beyond its target, nor one that is ready.
    underWay.when(TestClock.moveTo(AT, BEGIN)).refuses({ status: 422, reason: "nothing_new" })
    underWay
      .when(TestClock.moveTo(AT, time("2030-02-01T00:00:00.001Z")))
      .refuses({ status: 422, reason: "nothing_new" })
    given(TestClock, created, advancing(to), ready)
      .when(TestClock.moveTo(AT, time(to)))
      .refuses({ status: 422, reason: "nothing_new" })
  })

  it("is set to real time for the next test of a suite, unless it advances", () => {
    const to = "2030-02-01T00:00:00.000Z"
    given(TestClock, created).when(TestClock.reset(AT)).appends({ _tag: "TestClockReset", to: AT, at: AT })
    given(TestClock, created, { _tag: "TestClockReset", to: AT, at: AT })
      .when(TestClock.beginAdvance(AT, { to: AT }))
      .appends(advancing(AT))
    given(TestClock, created, advancing(to))
      .when(TestClock.reset(AT))
      .refuses({ status: 422, reason: "test_clock_advancing" })
  })

  it("never shows an earlier time, whatever is decided about it", () => {
    const decisions = (n: number): ReadonlyArray<Decide<TestClock.State, TestClock.Event, unknown>> => [
      TestClock.beginAdvance(AT, { by: { months: 0, millis: (n * 7_919) % (3 * Timestamp.DAY) } }),
      TestClock.moveTo(AT, Timestamp.plus(BEGIN, (n * 104_729) % (9 * Timestamp.DAY))),
      TestClock.endAdvance(AT, null),
    ]
    let state: TestClock.State = TestClock.evolve(TestClock.initial, created)
    for (let n = 0; n < 500; n++) {
      const decide = decisions(n)[(n * n + n) % 3]
      const decided = decide?.(state)
      const before: TestClock.State = state
      if (decided !== undefined && Result.isSuccess(decided)) state = decided.success.reduce(TestClock.evolve, state)
      if (state._tag !== "Clock" || before._tag !== "Clock") return assert.fail("no clock")
      assert.isAtLeast(Timestamp.between(before.now, state.now), 0)
      if (state.advance !== null) assert.isAtLeast(Timestamp.between(state.now, state.advance.to), 0)
    }
  })

  it("stops an advance at its limits", () => {
    const steps = Array.from({ length: TestClockLimits.MAX_STEPS }, () => advanced("2030-01-31T10:00:00.000Z"))
    const { state } = given(TestClock, created, advancing("2030-02-01T00:00:00.000Z"), ...steps)
    const { state: begun } = given(TestClock, created, advancing("2030-02-01T00:00:00.000Z"))
    if (state._tag !== "Clock" || begun._tag !== "Clock") return assert.fail("no clock")
    const limit = Timestamp.plus(AT, TestClockLimits.MAX_ADVANCE_MINUTES * Timestamp.MINUTE)
    assert.strictEqual(TestClock.mustStop(state, AT), "too_many_steps")
    assert.strictEqual(TestClock.mustStop(begun, limit), "took_too_long")
    assert.strictEqual(TestClock.mustStop(begun, Timestamp.plus(limit, -1)), null)
  })

  it("does nothing more once it is deleted, even in the middle of an advance", () => {
    const gone = given(TestClock, created, advancing("2030-02-01T00:00:00.000Z"), deleted)
    for (const decide of [TestClock.beginAdvance(AT, { by: DAY }), TestClock.remove(AT), TestClock.moveTo(AT, BEGIN)])
      gone.when(decide as ReturnType<typeof TestClock.remove>).refuses({ status: 404, reason: "test_clock_deleted" })
  })
})

describe("an ISO 8601 duration", () => {
  it.for([
    ["P3D", "2030-02-03T00:00:00.000Z"],
    ["P1W", "2030-02-07T00:00:00.000Z"],
    ["PT90M", "2030-01-31T01:30:00.000Z"],
    ["P1DT2H3M4.5S", "2030-02-01T02:03:04.500Z"],
    ["P1M", "2030-02-28T00:00:00.000Z"],
    ["P1Y1M", "2031-02-28T00:00:00.000Z"],
    ["P0D", "2030-01-31T00:00:00.000Z"],
  ] as const)("%s leads to %s", ([text, expected]) => {
    assert.strictEqual<string>(IsoDuration.after(BEGIN, Result.getOrThrow(IsoDuration.parse(text))), expected)
  })

  it.for(["", "P", "PT", "P1DT", "3D", "-P3D", "P-3D", "P1.5D", "P1H", "PT1D", "p3d", "P3D ", "P9999999D", "3 days"])(
    "%j is refused",
    (text) => assert.isTrue(Result.isFailure(IsoDuration.parse(text))),
  )
})
