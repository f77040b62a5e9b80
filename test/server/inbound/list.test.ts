import * as RequestLogWriter from "@waybill/store/requests/RequestLogWriter"
import { Effect } from "effect"
import { nextMillisecond } from "../../support/WallClock.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { arrive } from "../../support/world/arrive.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

interface Listed {
  readonly id: string
}

interface Audited {
  readonly actor: { readonly type: string }
  readonly type: string
  readonly stream_id: string
}

const idsOf = ({ json }: { readonly json: { readonly data: ReadonlyArray<Listed> } }) => json.data.map(({ id }) => id)

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true, timeout: "180 seconds" })(
  "received mail",
  (it) => {
    it.effect("is found by each filter, alone and with others", function* () {
      const { account, call, send } = yield* signUp({ domains: ["shop.test", "other.test"] })
      yield* call("POST", "/v1/inbound/routes", { match: { subject: "spam" }, action: { type: "drop" } })
      const email = yield* send({ from: "hi@shop.test", subject: "Your order" })
      const first = yield* arrive(account, {
        from: "Ana <ana@example.org>",
        to: "support+7@shop.test",
        Subject: "Grüße: order 4711",
        text: "Hi",
      })
      yield* nextMillisecond
      const reply = {
        from: "bo@example.com",
        to: "hi@shop.test",
        "In-Reply-To": `<${email}@shop.test>`,
        text: "Thanks",
      }
      const second = yield* arrive(account, { ...reply, Subject: "Re: Your order" })
      yield* nextMillisecond
      const third = yield* arrive(account, {
        from: "eve@example.net",
        to: "x@other.test",
        Subject: "spam",
        text: "Buy",
      })
      const list = function* (query: string) {
        return idsOf(yield* call("GET", `/v1/inbound?${query}`))
      }
      const { json } = yield* call("GET", `/v1/inbound/${second}`)
      for (const [query, expected] of [
        ["", [third, second, first]],
        ["to=support%2B7@shop.test", [first]],
        ["from=bo@example.com", [second]],
        ["subject=order", [second, first]],
        ["subject=ORDER%204711", [first]],
        ["q=EXAMPLE.NET", [third]],
        ["q=thanks", []],
        ["domain=other.test", [third]],
        ["status=dropped", [third]],
        ["status=received", [second, first]],
        ["verdict=none", [third, second, first]],
        ["verdict=pass", []],
        [`email_id=${email}`, [second]],
        [`thread_id=${json.thread_id}`, [second]],
        [`created_after=${json.created_at}`, [third, second]],
        [`created_before=${json.created_at}`, [first]],
        ["limit=2", [third, second]],
        [`after=${second}`, [first]],
        [`before=${second}`, [third]],
        ["domain=shop.test&subject=order&from=ana@example.org", [first]],
      ] as const)
        assert.deepStrictEqual([query, yield* list(query)], [query, expected])
      for (const query of ["status=lost", "verdict=maybe", "limit=101", "sender=ana", `after=${first}&before=${third}`])
        assert.strictEqual((yield* call("GET", `/v1/inbound?${query}`)).status, 400, query)
    })

    it.effect("is in the feed, and what is changed about it is in the audit", function* () {
      const { account, call } = yield* signUp({ domains: ["shop.test"] })
      const { json: route } = yield* call("POST", "/v1/inbound/routes", { action: { type: "store" } })
      const id = yield* arrive(account, { from: "ana@example.org", to: "hi@shop.test", Subject: "Hi", text: "Hi" })
      const { json: feed } = yield* call("GET", "/v1/events?types=email.received")
      assert.deepStrictEqual(
        feed.data.map(({ data, type }: { type: string; data: { inbound_id: string } }) => [type, data.inbound_id]),
        [["email.received", id]],
      )
      yield* call("DELETE", `/v1/inbound/${id}`)
      yield* call("DELETE", `/v1/inbound/routes/${route.id}`)
      const { json: audit } = yield* call("GET", "/v1/audit")
      assert.includeMembers(
        audit.data.map(({ actor, stream_id, type }: Audited) => `${actor.type} ${type} ${stream_id}`),
        [
          `api_key inbound.route_created ${route.id}`,
          `api_key inbound.deleted ${id}`,
          `api_key inbound.route_deleted ${route.id}`,
        ],
      )
    })

    it.effect(
      "is in the request log by its calls, without what strangers wrote, and with the emails that they made",
      function* () {
        const { account, call } = yield* signUp({ domains: ["shop.test"] })
        const writer = yield* RequestLogWriter.RequestLogWriter
        const raw = Buffer.from("From: ana@example.org\r\n\r\nSecret").toString("base64")
        const made = yield* call("POST", "/v1/test/inbound", { to: "hi@shop.test", raw })
        const id = yield* arrive(account, { from: "ana@example.org", to: "hi@shop.test", text: "Secret" })
        const reply = yield* call("POST", `/v1/inbound/${id}/reply`, { from: "hi@shop.test", text: "Private" })
        const forward = yield* call("POST", `/v1/inbound/${id}/forward`, { to: "bo@example.org" })
        for (const path of ["", "/raw", "/attachments/att_1"]) yield* call("GET", `/v1/inbound/${id}${path}`)
        yield* writer?.flush ?? Effect.void
        const { json } = yield* call("GET", "/v1/requests?limit=6")
        assert.deepStrictEqual(
          json.data.map(({ method, path, status }: Readonly<Record<string, unknown>>) => `${method} ${path} ${status}`),
          [
            `GET /v1/inbound/${id}/attachments/att_1 404`,
            `GET /v1/inbound/${id}/raw 200`,
            `GET /v1/inbound/${id} 200`,
            `POST /v1/inbound/${id}/forward 200`,
            `POST /v1/inbound/${id}/reply 200`,
            "POST /v1/test/inbound 201",
          ],
        )
        const logged = (answer: { readonly headers: Headers }) =>
          Effect.map(call("GET", `/v1/requests/${answer.headers.get("x-request-id")}`), (found) => found.json)
        assert.deepStrictEqual((yield* logged(reply)).email_ids, [reply.json.id])
        assert.deepStrictEqual((yield* logged(forward)).email_ids, [forward.json.id])
        assert.notInclude((yield* logged(made)).body, raw)
        const route = {
          match: { to: "*@shop.test", verdict: "fail" },
          action: { type: "drop" },
          position: 3,
          stop: true,
        }
        const created = yield* call("POST", "/v1/inbound/routes", route)
        yield* writer?.flush ?? Effect.void
        assert.deepStrictEqual(JSON.parse((yield* logged(created)).body), route)
        assert.notInclude((yield* logged(reply)).body, "Private")
      },
    )
  },
)
