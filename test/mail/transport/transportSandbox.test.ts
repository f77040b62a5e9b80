import * as Script from "@waybill/domain/email/Script"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as TestTransport from "@waybill/mail/transport/TestTransport"
import * as Transport from "@waybill/mail/transport/Transport"
import { assert, describe, it } from "../../support/effectTest.ts"
import { outgoing, short } from "./outgoing.ts"

const deliver = (to: ReadonlyArray<string>, attempt = 1) =>
  Effect.gen(function* () {
    const kept: Array<SandboxTransport.KeptMail> = []
    const layer = SandboxTransport.layer((mail) => Effect.sync(() => void kept.push(mail)))
    const outcomes = yield* Transport.Transport.use((transport) => transport.deliver(outgoing({ attempt }), to)).pipe(
      Effect.provide(layer),
    )
    return { outcomes, kept: kept.map((captured) => captured.recipients) }
  })

describe("the capture transport", () => {
  it.effect("delivers to every recipient and stores one copy", function* () {
    const to = ["ana@example.org", "bounced@acme.dev", "ben@acme.test"]
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
      "bounced+3@example.org",
      "suppressed@example.dev",
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
      "bounced invalid_recipient",
      "delivered",
    ])
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.simulated),
      [undefined, true, true, true, undefined, true, true, true, true, undefined],
    )
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.followUp),
      [null, null, null, "complained", null, null, null, null, null, null],
    )
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.suppress),
      ["never", "now", "now", "never", "never", "now", "now", "never", "now", "never"],
    )
    assert.deepStrictEqual(kept, [
      ["delivered@acme.test", "complained@acme.test", "bounced@acme.test.org", "suppressed@example.dev"],
    ])
  })

  it.effect("simulates outcomes on any domain in test mode, and suppresses only when asked", function* () {
    const to = [
      "delivered@example.org",
      "Deferred+1@example.org",
      "bounced@example.org",
      "soft-bounced@example.org",
      "mailbox-full+7@example.org",
      "complained@example.org",
      "suppressed@example.org",
      "bounced+suppress@example.org",
      "mailbox-full+1+suppress@example.org",
      "complained+suppress@example.org",
      "bounced+suppressed@example.org",
      "bounced-2@example.org",
    ]
    const outcomes = yield* TestTransport.make(() => Effect.void).deliver(outgoing({}), to)
    assert.deepStrictEqual(
      outcomes.map((outcome) => `${short(outcome)}, ${outcome.suppress} ${outcome.simulated ?? false}`),
      [
        "delivered, never false",
        "deferred unavailable, never false",
        "bounced invalid_recipient, now true",
        "bounced policy, never true",
        "bounced mailbox_full, after_repeats true",
        "delivered, never true",
        "suppressed, never true",
        "bounced invalid_recipient, now false",
        "bounced mailbox_full, after_repeats false",
        "delivered, never false",
        "bounced invalid_recipient, now true",
        "delivered, never false",
      ],
    )
  })

  it.effect("follows a script, whatever the names of the recipients, and delivers after its last step", function* () {
    const script = Result.getOrThrow(Script.parse("defer 421; bounce 550 5.5.3; bounce+suppress 552 5.2.1; complain"))
    const transport = TestTransport.make(() => Effect.void)
    const attempts = yield* Effect.forEach([1, 2, 3, 4, 5], (attempt) =>
      transport.deliver(outgoing({ attempt, scriptOf: () => script }), ["bounced@example.org"]),
    )
    assert.deepStrictEqual(
      attempts
        .flat()
        .map(({ code, enhanced_code, followUp, simulated, status }) =>
          [status, code, enhanced_code, followUp, simulated].join(" "),
        ),
      [
        "deferred 421   ",
        "bounced 550 5.5.3  true",
        "bounced 552 5.2.1  ",
        "delivered 250 2.0.0 complained true",
        "delivered 250 2.0.0  ",
      ],
    )
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
