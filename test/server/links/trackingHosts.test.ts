import { Context, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as TrackingHosts from "../../../apps/server/src/links/TrackingHosts.ts"
import { asService } from "../../support/cells/testCell.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

const AT = "2026-11-21T09:00:00.000Z"

layer(Database.layerFresh)("tracking hosts", (it) => {
  it.effect("are the names of verified domains that resolve here, without the service's own", function* () {
    const sql = yield* Sql
    const put = (name: string, verified: boolean, verified_at: string | null = AT) =>
      asService(sql`
        INSERT INTO domains (account_id, id, version, name, status, removed, record) VALUES
          ('acc', ${name}, 1, ${name}, 'verified', false, ${JSON.stringify({ verified_at, tracking_domain: { name, verified } })}::jsonb)`)
    yield* put("l.good.dev", true)
    yield* put("l.away.dev", false)
    yield* put("l.pending.dev", true, null)
    yield* put("www.waybill.dev", true)
    yield* put("api.waybill.dev", true)
    const built = yield* Layer.build(TrackingHosts.layer(["www.waybill.dev", "API.waybill.dev."]))
    const { has } = Context.get(built, TrackingHosts.TrackingHosts)
    assert.deepStrictEqual(
      ["l.good.dev", "l.away.dev", "l.pending.dev", "www.waybill.dev", "api.waybill.dev"].filter((name) => has(name)),
      ["l.good.dev"],
    )
    for (const [headers, expected] of [
      [{ host: "l.good.dev" }, true],
      [{ host: "L.good.dev.:8080" }, true],
      [{ host: "127.0.0.1:3025", "x-forwarded-host": "l.good.dev" }, true],
      [{ host: "l.good.dev:" }, true],
      // A chain of proxies, and a proxy that adds a header of its own.
      [{ host: "127.0.0.1", "x-forwarded-host": "l.good.dev, inner.waybill.dev" }, true],
      [{ host: "127.0.0.1", "x-forwarded-host": ["inner.waybill.dev,L.good.dev.:443"] }, true],
      [{ host: "127.0.0.1", "x-forwarded-host": "x.good.dev, good.dev" }, false],
      [{ host: "good.dev" }, false],
      [{ host: "" }, false],
      [{}, false],
    ] as const)
      assert.strictEqual(TrackingHosts.isCustomerHost({ has }, headers), expected, JSON.stringify(headers))
  })
})
