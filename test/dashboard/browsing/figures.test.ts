import { assert, describe, it } from "vitest"
import type { StatsRow } from "../../../apps/dashboard/src/api/Records.ts"
import * as Series from "../../../apps/dashboard/src/overview/Series.ts"
import * as TimeRange from "../../../apps/dashboard/src/overview/TimeRange.ts"
import { hasRemoteImages } from "../../../apps/dashboard/src/emails/compose/hasRemoteImages.ts"
import { formatBytes } from "../../../apps/dashboard/src/ui/display/formatBytes.ts"
import * as DeliveryRates from "../../../packages/domain/src/explanation/DeliveryRates.ts"

describe("figures", () => {
  it("say a size in the largest unit", () => {
    for (const [bytes, text] of [
      [0, "0 B"],
      [168, "168 B"],
      [1_536, "1.5 KB"],
      [25 * 1_024 ** 2, "25 MB"],
      [51_200 * 1_024 ** 2, "50 GB"],
    ] as const)
      assert.strictEqual(formatBytes(bytes), text)
  })

  it("are of the last 24 hours by the hour, also early in the day, and of whole days otherwise", () => {
    const now = Date.parse("2026-11-30T00:20:00.000Z")
    const to = "2026-11-30T01:00:00.000Z"
    assert.deepStrictEqual(TimeRange.rangeOf("1d", now), { from: "2026-11-29T01:00:00.000Z", to, unit: "hour" })
    assert.deepStrictEqual(TimeRange.rangeOf("7d", now), { from: "2026-11-24T00:00:00.000Z", to, unit: "day" })
  })

  it("count recipients that wait apart from those that were sent", () => {
    const from = "2026-11-29T00:00:00.000Z"
    const recipient_counts = { sent: 69, queued: 20, delivered: 1 } as StatsRow["recipient_counts"]
    const rows = [{ at: from, accepted: 90, recipient_counts }] as unknown as ReadonlyArray<StatsRow>
    const [, ...columns] = Series.volume(rows, { from, to: "2026-11-30T00:00:00.000Z", unit: "day" })
    const counts = columns.map(([count], nth) => [Series.STACKS[nth]?.join(), count]).filter(([, count]) => count !== 0)
    assert.deepStrictEqual(counts, [
      ["delivered", 1],
      ["sent", 69],
      ["queued", 20],
    ])
  })

  it("say rates with the same decimals everywhere", () => {
    for (const [rate, text] of [
      [0, "0%"],
      [0.0008, "0.08%"],
      [0.01, "1.0%"],
      [0.0111, "1.1%"],
      [0.00001, "0.01%"],
      [0.9999, "99.9%"],
      [1, "100%"],
    ] as const)
      assert.strictEqual(DeliveryRates.percent(rate), text)
  })

  it("tell images of other servers from those of the mail", () => {
    for (const html of [
      '<img src="https://cdn.acme.test/a.png">',
      "<img alt=x src=http://cdn.acme.test/a.png>",
      "<td background='//cdn.acme.test/a.png'>",
      '<div style="background: url( https://cdn.acme.test/a.png )">',
    ])
      assert.isTrue(hasRemoteImages(html), html)
    for (const html of [
      '<a href="https://acme.test">See it</a>',
      '<img src="cid:logo">',
      '<img src="data:image/png,">',
    ])
      assert.isFalse(hasRemoteImages(html), html)
  })
})
