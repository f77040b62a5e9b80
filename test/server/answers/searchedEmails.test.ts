import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("GET /email/logs", (it) => {
  it.effect("finds mail by a mailbox provider, the day it waits for, and the value of a pair", function* () {
    const { call, send } = yield* signUp({ domains: ["acme.test"] })
    const list = (query: string) => call("GET", `/v1/email/logs?${query}`)
    const ids = (query: string) =>
      Effect.map(list(query), ({ json }) => json.data.map(({ id }: { id: string }) => id) as ReadonlyArray<string>)
    const midnight = Math.ceil(Date.now() / Timestamp.DAY) * Timestamp.DAY
    const at = (hours: number) => new Date(midnight + hours * Timestamp.HOUR).toISOString()
    const gmail = yield* send({ to: ["Ana@GoogleMail.com", "b@example.org"], metadata: { customer: "cus_3" } })
    const outlook = yield* send({ to: "ana@live.co.uk", scheduled_at: at(0), metadata: { customer: "cus_33" } })
    const own = yield* send({ to: "ana@live.example", scheduled_at: at(24), metadata: { order: "cus_3" } })
    const FOUND: ReadonlyArray<readonly [query: string, expected: ReadonlyArray<string>]> = [
      ["provider=gmail", [gmail]],
      ["provider=outlook,gmail", [outlook, gmail]],
      ["q=provider:microsoft", [outlook]],
      ["q=provider:hotmail,google", [outlook, gmail]],
      ["provider=yahoo", []],
      [`q=scheduled:${at(0).slice(0, 10)}`, [outlook]],
      [`scheduled_after=${at(0)}&scheduled_before=${at(24)}`, [outlook]],
      [`scheduled_after=${at(24)}`, [own]],
      ["q=scheduled:4d", [own, outlook]],
      ["q=scheduled:7d%20is:canceled", []],
      ["q=cus_3", [own, gmail]],
      ["q=us_3", []],
    ]
    for (const [query, expected] of FOUND) {
      assert.deepStrictEqual(yield* ids(query), expected, query)
      const { json } = yield* list(`${query}&count=true`)
      assert.deepStrictEqual(json.total, { count: expected.length, is_exact: true }, query)
    }
  })
})
