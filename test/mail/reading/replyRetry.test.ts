import * as ReplyHint from "@waybill/mail/reply/ReplyHint"
import * as Retry from "@waybill/mail/transport/Retry"
import { Duration, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const seconds = (wait: Duration.Duration | "expired") =>
  wait === "expired" ? assert.fail("expired") : Duration.toSeconds(wait)
const next = (attempt: number, random = 0.5, hint?: Duration.Duration) =>
  Retry.nextAttempt(attempt, "unavailable", hint, random)

describe("the next attempt", () => {
  it("waits longer each time, then expires after the tenth", () => {
    const waits = Array.from({ length: 9 }, (_, index) => seconds(next(index + 1)))
    assert.deepStrictEqual(waits, [60, 300, 900, 2700, 7200, 14_400, 28_800, 43_200, 72_000])
    assert.strictEqual(next(10), "expired")
    assert.strictEqual(next(400), "expired")
  })

  const Random = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 0.999 }))
  const Attempt = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))
  it.prop("differs from the table by at most 15 %", { random: Random, attempt: Attempt }, ({ attempt, random }) => {
    const ratio = seconds(next(attempt, random)) / seconds(next(attempt))
    assert.isAtLeast(ratio, 0.8499)
    assert.isAtMost(ratio, 1.1501)
  })

  it.prop(
    "is never earlier than greylisting or a hint allows",
    { random: Random, attempt: Attempt, hint: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 14_400 })) },
    ({ attempt, hint, random }) => {
      assert.isAtLeast(seconds(Retry.nextAttempt(attempt, "greylisted", undefined, random)), 300)
      assert.isAtLeast(seconds(next(attempt, random, Duration.seconds(hint))), hint)
    },
  )

  it("is never earlier because of a hint", () => {
    assert.strictEqual(seconds(next(6, 0.5, Duration.seconds(30))), 14_400)
  })
})

describe("a hint", () => {
  const cases: ReadonlyArray<readonly [string, number | undefined]> = [
    ["try again in 5 minutes", 300],
    ["Please retry after 300s", 300],
    ["please try again in about 2 hours", 7200],
    ["Greylisted for 90 seconds", 90],
    ["come back in 00:04:30", 270],
    ["come back in 01:02:03", 3723],
    ["wait 10 minutes before retrying", 600],
    ["please wait for 45 secs", 45],
    ["try again in 999 hours", 14_400],
    ["try again in 0 seconds", undefined],
    ["try again later", undefined],
    ["you sent 300 messages in 60 seconds", undefined],
    ["limit is 5 connections", undefined],
    ["", undefined],
  ]
  for (const [text, expected] of cases) {
    it(`of "${text}" is ${expected === undefined ? "none" : `${expected} seconds`}`, () => {
      const hint = ReplyHint.find(text)
      assert.strictEqual(hint === undefined ? undefined : Duration.toSeconds(hint), expected)
    })
  }
})
