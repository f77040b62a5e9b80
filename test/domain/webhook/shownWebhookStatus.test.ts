import { shownWebhookStatus } from "@waybill/domain/webhook/shownWebhookStatus"
import { assert, describe, it } from "vitest"

const CASES: ReadonlyArray<readonly [string, Parameters<typeof shownWebhookStatus>[0]]> = [
  ["enabled", { enabled: true, failing_since: null, last_call: null }],
  ["enabled", { enabled: true, failing_since: null, last_call: { status: 204 } }],
  ["not accepting", { enabled: true, failing_since: null, last_call: { status: 500 } }],
  ["not accepting", { enabled: true, failing_since: null, last_call: { status: 302 } }],
  ["not answering", { enabled: true, failing_since: null, last_call: { status: null } }],
  ["failing", { enabled: true, failing_since: "2026-11-21T09:30:00.000Z", last_call: { status: null } }],
  ["disabled", { enabled: false, failing_since: "2026-11-21T09:30:00.000Z", last_call: { status: 410 } }],
]

describe("status of a webhook that is shown", () => {
  for (const [shown, webhook] of CASES)
    it(`is ${shown} for ${JSON.stringify(webhook)}`, () => assert.strictEqual(shownWebhookStatus(webhook), shown))
})
