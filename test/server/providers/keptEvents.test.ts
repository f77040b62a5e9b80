import type * as Id from "@waybill/domain/values/Id"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import { Effect } from "effect"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { makeHook, setUp } from "./support.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("kept events of a provider", (it) => {
  it.effect("are recorded once their message is known", function* () {
    const { account, send: sendMail, log, mail } = yield* setUp()
    const { id, numbers, report } = yield* makeHook("postmark")
    const stranger = { ...(yield* mail("a@example.org")).about("bounced"), ref: "unknown-ref", id: "u" }
    assert.strictEqual((yield* report(stranger)).status, 200)
    assert.strictEqual((yield* report(stranger)).status, 200)
    assert.deepInclude(yield* numbers, { unmatched: 1, recorded: 0 })
    assert.lengthOf(yield* ProviderEvents.unmatched(id, 10), 1)
    const email = yield* sendMail({ to: "a@example.org" })
    yield* ProviderMessages.keep(["unknown-ref"], { account_id: account, email_id: email as Id.EmailId })
    yield* report((yield* mail("b@example.org")).about("delivered"))
    assert.strictEqual((yield* log(email)).status, "bounced")
    assert.lengthOf(yield* ProviderEvents.unmatched(id, 10), 0)
  })

  it.effect("are tried again rarely, and cost no later call, while they cannot be recorded", function* () {
    const { mail } = yield* setUp()
    const { id, numbers, report } = yield* makeHook("postmark")
    const sql = yield* HomeSql
    const age = (interval: string) =>
      Effect.orDie(sql`UPDATE provider_events SET received_at = received_at - ${interval}::interval,
        retry_at = retry_at - ${interval}::interval WHERE hook_id = ${id} AND retry_at > '-infinity'`)
    const known = yield* mail("ana@example.org")
    const call = report((yield* mail("b@example.org")).about("delivered"))
    // The message is known by its id, and has no such recipient.
    yield* report({ ...known.about("bounced"), to: "eve@example.org", messageId: "" })
    const kept = yield* ProviderEvents.unmatched(id, 10)
    assert.lengthOf(kept, 1)
    for (let times = 0; times < 3; times++) assert.strictEqual((yield* call).status, 200)
    assert.deepInclude(yield* numbers, { unmatched: 1, recorded: 1, unchanged: 2 })
    assert.deepStrictEqual(yield* ProviderEvents.unmatched(id, 10), kept)
    assert.deepStrictEqual(yield* ProviderEvents.takeMatched(id), [])
    // Each pause is as long as the time since the event came, and a minute at least.
    const tries: Array<number> = []
    for (const pause of ["61 seconds", "30 seconds", "40 seconds", "60 seconds", "80 seconds"]) {
      yield* age(pause)
      tries.push((yield* ProviderEvents.takeMatched(id)).length)
    }
    assert.deepStrictEqual(tries, [1, 0, 1, 0, 1])
  })

  it.effect("stay when recording them fails, which does not fail the call", function* () {
    const { mail } = yield* setUp()
    const { id, numbers, report } = yield* makeHook("postmark")
    const known = yield* mail("ana@example.org")
    assert.strictEqual((yield* ProviderEvents.keep(id, [{ id: "broken", ref: known.ref, event: "null" }])).kept, 1)
    const other = yield* mail("b@example.org")
    assert.strictEqual((yield* report(other.about("delivered"))).status, 200)
    assert.strictEqual((yield* other.log).status, "delivered")
    assert.deepInclude(yield* numbers, { recorded: 1, unmatched: 0 })
    assert.lengthOf(yield* ProviderEvents.unmatched(id, 10), 1)
  })
})
