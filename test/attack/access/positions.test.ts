import { Cursors } from "@waybill/store/feed/Cursors"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"

/** Returns every number in an answer, including numbers inside texts. */
const numbersIn = (text: string): ReadonlySet<string> => new Set(text.match(/(?<![\w.])\d{4,}(?![\w.])/gu) ?? [])

/** Start of the log, far from 1, so that a position cannot equal a number that is in an answer for another reason. */
const LOG_START = 7_310_000_000

layer(HttpWorld.layer(), { excludeTestServices: true })("the volume of other accounts", (it) => {
  const setUp = Effect.gen(function* () {
    const { sql } = yield* HttpWorld
    yield* Effect.orDie(sql`SELECT setval('event_position', ${LOG_START}::bigint, true) FROM events
      HAVING coalesce(max(position), 0) < ${LOG_START}::bigint`)
    const customer = yield* signUp()
    const subscription = { url: "https://example.org/", events: ["email.queued"] }
    return { ...customer, webhook: (yield* customer.call("POST", "/v1/webhooks", subscription)).json }
  })

  // threat: positions
  it.effect("no answer contains a position of the log", function* () {
    const { account, call, webhook, world } = yield* setUp
    const email = yield* Webhooks.acceptEmail(account)
    yield* Effect.forEach([1, 2, 3], () => Webhooks.acceptEmail(account))
    const range = { created_after: "2020-01-01T00:00:00Z", created_before: "2040-01-01T00:00:00Z" }
    const answers = yield* Effect.all([
      call("GET", "/v1/events?limit=1000"),
      call("GET", "/v1/events?limit=2"),
      call("GET", "/v1/audit"),
      call("GET", "/v1/audit?limit=1"),
      call("GET", "/v1/stats"),
      call("GET", `/v1/email/logs/${email}`),
      call("GET", `/v1/email/logs/${email}/events`),
      call("GET", "/v1/email/logs"),
      call("GET", "/v1/account"),
      call("POST", `/v1/webhooks/${webhook.id}/replay`, range),
      call("GET", `/v1/webhooks/${webhook.id}/deliveries`),
    ])
    const { data } = (yield* call("GET", `/v1/webhooks/${webhook.id}/deliveries`)).json
    const delivery = yield* call("GET", `/v1/webhooks/${webhook.id}/deliveries/${data[0].id}`)
    assert.strictEqual(JSON.parse(delivery.json.request_body).sequence, 1)
    const rows = yield* Effect.orDie(world.sql<{ readonly position: bigint }>`SELECT position FROM events`)
    const positions = new Set(rows.map(({ position }) => String(position)))
    assert.isAbove([...positions].filter((each) => Number(each) > LOG_START).length, 4)
    for (const { headers, status, text } of [...answers, delivery]) {
      assert.isBelow(status, 300, text)
      const seen = numbersIn(text + JSON.stringify([...headers]))
      assert.deepStrictEqual(
        [...seen].filter((each) => positions.has(each)),
        [],
      )
    }
    const cursors = answers[0]?.json.data.map(({ position }: { readonly position: string }) => position)
    assert.isTrue(cursors.every((each: string) => /^pos_[0-9a-hjkmnp-tv-z]{26}$/u.test(each)))
    assert.strictEqual(new Set(cursors).size, cursors.length)
  })

  // threat: positions
  it.effect("a cursor is a different text each time, whether the log has grown or not", function* () {
    const { call } = yield* setUp
    const other = yield* (yield* HttpWorld).account()
    const seen = new Set<string>()
    for (const grows of [false, false, true, true]) {
      if (grows) yield* Webhooks.acceptEmail(other)
      const { json } = yield* call("GET", "/v1/events?limit=1000")
      const empty = yield* call("GET", `/v1/events?after_position=${json.next_position}`)
      const stats = yield* call("GET", "/v1/stats")
      assert.deepStrictEqual(empty.json.data, [])
      for (const cursor of [json.next_position, empty.json.next_position, stats.json.up_to_position]) seen.add(cursor)
    }
    assert.strictEqual(seen.size, 12)
  })

  // threat: positions
  it.effect("a cursor of another account or an invented one is refused", function* () {
    const { call, key, webhook, world } = yield* setUp
    const theirs = yield* world.account()
    const { secret } = yield* world.key(theirs)
    const foreign = (yield* world.request("GET", "/v1/events", { key: secret })).json.data[0].position as string
    const range = { created_after: "2020-01-01T00:00:00Z", created_before: "2040-01-01T00:00:00Z" }
    for (const position of [foreign, `pos_${"0".repeat(26)}`, String(LOG_START), "pos_x"]) {
      const refused = [
        yield* call("GET", `/v1/events?after_position=${position}`),
        yield* call("GET", `/v1/events/stream?after_position=${position}`),
        yield* world.request("GET", "/v1/events/stream", { key, headers: { "last-event-id": position } }),
        yield* call("GET", `/v1/audit?after=${position}`),
        yield* call("POST", `/v1/webhooks/${webhook.id}/replay`, { ...range, after_position: position }),
      ]
      for (const { json, status } of refused) {
        assert.deepStrictEqual([status, json.error.reason, json.error.details.length], [400, "validation_failed", 1])
      }
    }
  })

  it.effect("a cursor beyond the end of the log is refused without a position in the message", function* () {
    const { account, call } = yield* setUp
    const cursors = yield* Effect.provide(Cursors, Cursors.layer)
    for (const ahead of [LOG_START * 2, Number.MAX_SAFE_INTEGER]) {
      const { json, status } = yield* call(
        "GET",
        `/v1/events?after_position=${cursors.ofEvent(account, BigInt(ahead))}`,
      )
      assert.deepStrictEqual(reasonOf({ json, status }), [422, "position_ahead"])
      assert.notMatch(json.error.message, /\d{2}/u)
    }
    const beyond = yield* call("GET", `/v1/events?after_position=${cursors.ofEvent(account, 2n ** 63n)}`)
    assert.strictEqual(beyond.status, 400)
  })
})
