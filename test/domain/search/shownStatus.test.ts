import { shownFirst } from "@waybill/domain/search/shownFirst"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { shownDeliveryStatus } from "@waybill/domain/webhook/shownDeliveryStatus"
import { assert, describe, it } from "../../support/effectTest.ts"

const NOW = Date.parse("2026-11-21T12:00:00.000Z")
const email = (status: string, recipient_counts: Readonly<Record<string, number>> = {}, scheduled_at?: string) =>
  shownStatus({ status, recipient_counts, scheduled_at: scheduled_at ?? null }, NOW)

describe("the status that people read", () => {
  it("names a queued email of the future scheduled", () => {
    assert.strictEqual(email("queued", {}, "2026-11-21T13:00:00.000Z"), "scheduled")
    assert.strictEqual(email("queued", {}, "2026-11-21T11:00:00.000Z"), "queued")
  })

  it("does not call an email delivered that reached some of its recipients only", () => {
    assert.strictEqual(email("delivered", { delivered: 3, bounced: 0 }), "delivered")
    assert.strictEqual(email("delivered", { delivered: 2, bounced: 1, suppressed: 1 }), "partly bounced")
    assert.strictEqual(email("sent", { sent: 2, failed: 1 }), "partly failed")
    assert.strictEqual(email("delivered", { delivered: 1, suppressed: 2 }), "partly suppressed")
    assert.strictEqual(email("deferred", { deferred: 1, bounced: 1 }), "deferred")
    assert.strictEqual(email("complained", { complained: 1, bounced: 1 }), "complained")
  })

  it("names first whom a partly bounced email did not reach", () => {
    const recipients = [
      { address: "a@example.org", status: "delivered" },
      { address: "b@example.org", status: "suppressed" },
      { address: "c@example.org", status: "bounced" },
    ]
    const base = { recipients, scheduled_at: null, recipient_counts: { delivered: 1, suppressed: 1, bounced: 1 } }
    const to = ["a@example.org", "b@example.org", "c@example.org"]
    const sorted = ["c@example.org", "a@example.org", "b@example.org"]
    assert.deepStrictEqual(shownFirst({ ...base, status: "delivered" }, to), sorted)
    assert.deepStrictEqual(shownFirst({ ...base, status: "deferred" }, to), to)
  })

  it("names first the recipient whose status the email has", () => {
    const recipients = [
      { address: "a@example.org", status: "bounced" },
      { address: "b@example.org", status: "complained" },
    ]
    const base = { recipients, scheduled_at: null, recipient_counts: { bounced: 1, complained: 1 } }
    const to = ["Ana <a@example.org>", "Bo <b@example.org>"]
    assert.deepStrictEqual(shownFirst({ ...base, status: "complained" }, to), to.toReversed())
    assert.deepStrictEqual(shownFirst({ ...base, status: "bounced" }, to), to)
  })

  it("names a pending webhook delivery whose calls failed retrying", () => {
    const shown = (status: string, attempts: number, next_attempt_at: string | null) =>
      shownDeliveryStatus({ status, attempts, created_at: "2026-11-21T09:00:00.000Z", next_attempt_at })
    assert.strictEqual(shown("pending", 0, "2026-11-21T09:00:00.000Z"), "pending")
    assert.strictEqual(shown("pending", 0, "2026-11-21T09:04:00.000Z"), "held")
    assert.strictEqual(shown("pending", 2, "2026-11-21T09:04:00.000Z"), "retrying")
    assert.strictEqual(shown("failed", 9, null), "failed")
    assert.strictEqual(shown("failed", 0, null), "not sent")
  })
})
