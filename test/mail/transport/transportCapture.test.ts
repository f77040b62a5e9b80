import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as CaptureTransport from "@waybill/mail/transport/CaptureTransport"
import * as Transport from "@waybill/mail/transport/Transport"
import { assert, describe, it } from "../../support/effectTest.ts"
import { outgoing, short } from "./outgoing.ts"

const deliver = (to: ReadonlyArray<string>, attempt = 1) =>
  Effect.gen(function* () {
    const kept: Array<CaptureTransport.Captured> = []
    const layer = CaptureTransport.layer((captured) => Effect.sync(() => void kept.push(captured)))
    const outcomes = yield* Transport.Transport.use((transport) => transport.deliver(outgoing({ attempt }), to)).pipe(
      Effect.provide(layer),
    )
    return { outcomes, kept: kept.map((captured) => captured.recipients) }
  })

describe("the capture transport", () => {
  it.effect("delivers to every recipient and stores one copy", function* () {
    const to = ["ana@example.org", "bounced@example.org", "ben@acme.test"]
    const { kept, outcomes } = yield* deliver(to)
    assert.deepStrictEqual(outcomes.map(short), ["delivered", "delivered", "delivered"])
    assert.deepStrictEqual(kept, [to])
    assert.strictEqual(outcomes[0]?.mx, "capture")
  })

  it.effect("simulates outcomes only on domains under reserved names", function* () {
    const { kept, outcomes } = yield* deliver([
      "delivered@acme.test",
      "bounced@acme.test",
      "Bounced+2@mail.acme.TEST",
      "complained@acme.test",
      "bounced@acme.test.org",
      "bounced@test",
      "bounced@mail.example",
      "suppressed+1@acme.test",
      "suppressed@example.org",
    ])
    assert.deepStrictEqual(outcomes.map(short), [
      "delivered",
      "bounced invalid_recipient",
      "bounced invalid_recipient",
      "delivered",
      "delivered",
      "bounced invalid_recipient",
      "bounced invalid_recipient",
      "suppressed",
      "delivered",
    ])
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.simulated),
      [undefined, true, true, true, undefined, true, true, true, undefined],
    )
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.followUp),
      [null, null, null, "complained", null, null, null, null, null],
    )
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.suppress),
      ["never", "now", "now", "never", "never", "now", "now", "never", "never"],
    )
    assert.deepStrictEqual(kept, [
      ["delivered@acme.test", "complained@acme.test", "bounced@acme.test.org", "suppressed@example.org"],
    ])
  })

  it.effect("stores nothing when no recipient accepts", function* () {
    assert.deepStrictEqual((yield* deliver(["bounced@acme.test"])).kept, [])
  })

  it.effect("defers twice, then delivers", function* () {
    const attempts = yield* Effect.forEach([1, 2, 3], (attempt) => deliver(["deferred@acme.test"], attempt))
    assert.deepStrictEqual(
      attempts.flatMap(({ outcomes }) => outcomes.map((outcome) => outcome.status)),
      ["deferred", "deferred", "delivered"],
    )
  })

  it.effect("takes two seconds for slow@", function* () {
    const fiber = yield* Effect.forkChild(deliver(["slow@acme.test", "ana@acme.test"]))
    yield* TestClock.adjust("1999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    const { outcomes } = yield* Fiber.join(fiber)
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.duration_ms),
      [2000, 0],
    )
  })
})
