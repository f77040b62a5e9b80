import * as MtaSts from "@waybill/mail/dns/MtaSts"
import * as MtaStsPolicies from "@waybill/store/sources/MtaStsPolicies"
import { Clock, Duration, Effect } from "effect"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import { refreshPolicies } from "../../../apps/server/src/worker/periodic/refreshPolicies.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import * as Database from "../../support/postgres/Database.ts"

const TEXT = "version: STSv1\nmode: enforce\nmx: mx2.acme.test\nmax_age: 604800\n"
const before = { mode: "enforce", mx: ["mx1.acme.test"], max_age_ms: 604_800_000 } as const

/** Stores a policy fetched `age` ago and used `used` ago. */
const keep = Effect.fnUntraced(function* (
  domain: string,
  age: string,
  used = "1 hour",
  max_age_ms = before.max_age_ms,
) {
  const sql = yield* HomeSql
  const { put } = yield* MtaStsPolicies.policyStore
  const expires_at = (yield* Clock.currentTimeMillis) + max_age_ms
  yield* put(domain, { id: "1", policy: { ...before, max_age_ms }, expires_at })
  yield* Effect.orDie(sql`
    UPDATE mta_sts_policies SET used_at = now() - ${used}::interval, fetched_at = fetched_at - ${age}::interval,
      expires_at = expires_at - ${age}::interval, refresh_at = refresh_at - ${age}::interval WHERE domain = ${domain}`)
})

const held = Effect.gen(function* () {
  const sql = yield* HomeSql
  const rows = yield* Effect.orDie(sql<{ readonly domain: string; readonly mx: string; readonly left: number }>`
    SELECT domain, policy -> 'mx' ->> 0 AS mx, round(extract(epoch FROM expires_at - now()) / 86400)::int AS left
    FROM mta_sts_policies ORDER BY domain`)
  return rows.map(({ domain, left, mx }) => [domain, mx, left])
})

layer(Database.layerFresh, { excludeTestServices: true })("a cached MTA-STS policy", (it) => {
  it.effect(
    "is renewed daily while mail is sent there, kept if that fails, and removed once it has expired",
    function* () {
      yield* keep("new.test", "23 hours")
      yield* keep("old.test", "25 hours")
      yield* keep("short.test", "13 hours", "1 hour", 86_400_000)
      yield* keep("silent.test", "2 days")
      yield* keep("broken.test", "2 days")
      yield* keep("unused.test", "2 days", "31 days")
      yield* keep("ended.test", "8 days 1 hour")
      yield* keep("dying.test", "3 days")
      const asked: Array<string> = []
      const fetch: MtaSts.Fetch = (domain) => {
        asked.push(domain)
        if (domain === "dying.test") return Effect.die("an answer that nobody thought of")
        return domain === "broken.test" ? Effect.fail(new MtaSts.FetchFailed({ reason: "gone" })) : Effect.succeed(TEXT)
      }
      const announced = ["old", "short", "broken", "dying"].map((name) => [
        `_mta-sts.${name}.test`,
        { TXT: ["v=STSv1; id=1"] },
      ])
      const refresh = Effect.provide(refreshPolicies(fetch), dnsZones(Object.fromEntries(announced)))
      // The second run has nothing to do: only the failed policy is due, and it is paused.
      yield* refresh
      yield* refresh
      assert.deepStrictEqual(asked.toSorted(), ["broken.test", "dying.test", "old.test", "short.test"])
      assert.deepStrictEqual(yield* held, [
        ["broken.test", "mx1.acme.test", 5],
        ["dying.test", "mx1.acme.test", 4],
        ["new.test", "mx1.acme.test", 6],
        ["old.test", "mx2.acme.test", 7],
        ["short.test", "mx2.acme.test", 7],
        ["silent.test", "mx1.acme.test", 5],
        ["unused.test", "mx1.acme.test", 5],
      ])
    },
  )

  it.effect("is read as it was stored, and the one used longest ago is removed when there are too many", function* () {
    const { find } = yield* MtaStsPolicies.policyStore
    assert.isUndefined(yield* find("nobody.test"))
    const found = yield* find("unused.test")
    assert.deepStrictEqual([found?.id, found?.policy], ["1", before])
    const left = (found?.expires_at ?? 0) - (yield* Clock.currentTimeMillis)
    assert.closeTo(left, Duration.toMillis("5 days"), 60_000)
    assert.strictEqual(yield* MtaStsPolicies.sweep(1), 6)
    assert.deepStrictEqual(yield* held, [["unused.test", "mx1.acme.test", 5]])
  })
})
