import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as DatabaseClock from "../../support/DatabaseClock.ts"

const window_ms = Date.UTC(2026, 10, 21, 12, 0, 0)
const exhausted = (at_ms: number, limit = 60): RateWindows.ExhaustedWindow => ({
  window_ms: at_ms,
  limit,
  ends_nanos: 0n,
})

describe("exhausted windows", () => {
  it("are forgotten when a window of a later minute is remembered", () => {
    const windows = RateWindows.exhaustedWindows()
    windows.remember("a", exhausted(window_ms))
    windows.remember("b", exhausted(window_ms + RateLimit.WINDOW_MS))
    assert.deepStrictEqual([windows.get("a"), windows.get("b")?.limit], [undefined, 60])
  })

  it("are not remembered when a later minute has begun", () => {
    const windows = RateWindows.exhaustedWindows()
    windows.remember("b", exhausted(window_ms + RateLimit.WINDOW_MS))
    windows.remember("a", exhausted(window_ms))
    assert.isUndefined(windows.get("a"))
  })

  it("are bounded in number: the least recently used is forgotten", () => {
    const windows = RateWindows.exhaustedWindows()
    for (let n = 0; n <= RateWindows.MAX_EXHAUSTED_REMEMBERED; n++) windows.remember(`${n}`, exhausted(window_ms))
    windows.remember("0", exhausted(window_ms, 100))
    assert.deepStrictEqual([windows.get("0")?.limit, windows.get("1"), windows.get("2")?.limit], [100, undefined, 60])
  })
})

describe("a client's address", () => {
  it("is counted in one bucket, however it is written", () => {
    const buckets = [
      "2001:DB8::1",
      "2001:db8:0:0::ffff",
      "::ffff:192.0.2.1",
      "192.0.2.1",
      "fe80::1%eth0",
      "/run/sock",
    ].map((address) => RateWindows.clientAddress(address).bucket)
    assert.deepStrictEqual(buckets, [
      "ip/2001:db8:0:0::/64",
      "ip/2001:db8:0:0::/64",
      "ip/192.0.2.1",
      "ip/192.0.2.1",
      "ip/fe80:0:0:0::/64",
      "ip/unknown",
    ])
  })

  it("is read the same again, and after many others", () => {
    for (let round = 0; round < 2; round++)
      for (let n = 0; n < 1_000; n++) {
        const text = `192.0.${n >> 8}.${n & 255}`
        const expected = { text, bucket: `ip/${text}` }
        for (const written of [text, `::ffff:${text}`, text, `::ffff:${text}%${"e".repeat(n)}`])
          assert.deepStrictEqual(RateWindows.clientAddress(written), expected)
      }
  })
})

layer(DatabaseClock.layer, { excludeTestServices: true })("the sweep of rate windows", (it) => {
  it.effect("removes ended windows only", function* () {
    const sql = yield* Sql
    yield* sql`INSERT INTO rate_windows SELECT 'key_' || n, date_trunc('minute', statement_timestamp()) - n * interval '1 minute', 1
        FROM generate_series(0, 20) n`
    const removed = yield* RateWindows.sweep()
    const left = yield* sql<{ readonly bucket: string }>`SELECT bucket FROM rate_windows ORDER BY window_start DESC`
    assert.strictEqual(removed, 15)
    assert.deepStrictEqual(
      left.map(({ bucket }) => bucket),
      Array.from({ length: 6 }, (_, n) => `key_${n}`),
    )
  })
})
