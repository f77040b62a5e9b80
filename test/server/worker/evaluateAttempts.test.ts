import type { Address } from "@waybill/domain/values/Address"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Retry from "@waybill/mail/transport/Retry"
import * as Transport from "@waybill/mail/transport/Transport"
import { Duration } from "effect"
import {
  DEFERRED_LIMIT,
  evaluateAttempts,
  UNATTEMPTED_LIMIT,
} from "../../../apps/server/src/worker/delivery/evaluateAttempts.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const DUE = Timestamp.fromMillis(Date.UTC(2026, 10, 21, 12))
const ana = Recipient.make("ana@example.org" as Address, "to", DUE)
const AFTER_THE_PAUSE = Timestamp.plus(DUE, 61 * 60_000)
const hop = { mx: "mx.example.org", tls: null, duration_ms: 5 }
const closing = { code: 421, enhancedCode: "4.7.0", text: "slow down", stage: "mail" } as const
const told: Transport.RecipientOutcome = {
  ...Transport.refused(ana.address, hop, closing),
  no_attempt: true,
  retry_after_ms: 60_000,
}
const waited = Transport.notAttempted(ana.address, null, 60_000, "example.org asked for a pause")

const judged = (outcome: Transport.RecipientOutcome, after: Duration.Input, recipient = ana) =>
  evaluateAttempts(Timestamp.plus(DUE, Duration.toMillis(after)), [{ recipient, outcome }], [], {
    nextAttempt: Retry.nextAttempt,
    due_since: DUE,
    random: 0.5,
  })

describe("mail that a site defers before an attempt", () => {
  it("is deferred in the timeline with the server's reply and without a further attempt", () => {
    const { paused_until, outcomes } = judged(told, "1 hour")
    assert.strictEqual(paused_until, null)
    assert.deepInclude(outcomes[0], { _tag: "Deferred", next_attempt_at: AFTER_THE_PAUSE })
    assert.deepInclude(outcomes[0]?._tag === "Deferred" ? outcomes[0].words : {}, {
      code: 421,
      response: "slow down",
      attempt: null,
    })
  })

  it("is recorded once while the reply stays the same", () => {
    const words = { code: 421, enhanced_code: "4.7.0", response: "busy", mx: null, tls: null, duration_ms: 1 }
    const before = { ...ana, status: "deferred" as const, smtp: { ...words, category: "throttled" } }
    assert.deepInclude(judged(told, "1 hour", before), { outcomes: [], paused_until: AFTER_THE_PAUSE })
    const other = { ...before, smtp: { ...before.smtp, code: 451 } }
    assert.strictEqual(judged(told, "1 hour", other).outcomes.length, 1)
  })

  it("is not recorded if no server was contacted", () => {
    assert.deepInclude(judged(waited, "1 hour"), { outcomes: [], paused_until: AFTER_THE_PAUSE })
  })

  for (const [name, outcome, limit] of [
    ["a server said so", told, DEFERRED_LIMIT],
    ["it only waited", waited, UNATTEMPTED_LIMIT],
  ] as const) {
    it(`has failed in the end where ${name}`, () => {
      const before = judged(outcome, Duration.subtract(limit, Duration.seconds(1)))
      assert.isFalse(before.outcomes.some(({ _tag }) => _tag === "Failed"))
      const { paused_until, outcomes } = judged(outcome, limit)
      assert.strictEqual(paused_until, null)
      assert.strictEqual(outcomes[0]?._tag, "Failed")
      assert.deepInclude(outcomes[0]?._tag === "Failed" ? outcomes[0].words : {}, {
        category: "expired",
        code: outcome.code,
      })
    })
  }

  it("does not fail by being given back by a stopping node", () => {
    assert.deepStrictEqual(judged(Transport.notStarted(ana.address), "30 days").outcomes, [])
  })
})
