import * as Livemode from "@waybill/domain/account/Livemode"
import type { EmailId } from "@waybill/domain/values/Id"
import { Effect, Layer } from "effect"
import PostalMime from "postal-mime"
import * as TrackedLinks from "../../../apps/server/src/links/TrackedLinks.ts"
import * as UnsubscribeLinks from "../../../apps/server/src/links/UnsubscribeLinks.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"

const BASE = "https://track.acme.test"
const TARGET = "https://shop.test/o?id=7"
const MESSAGE = {
  from: "Shop <hi@shop.example>",
  to: "ana@example.org",
  subject: "Hello",
  html: `<html><body><a href="${TARGET}">Order</a></body></html>`,
  tracking: { opens: true, clicks: true },
  list_unsubscribe: true,
}

layer(HttpWorld.layer({ tracks: true }), { excludeTestServices: true })("links in test mail", (it) => {
  it.effect("count opens and clicks, and unsubscribe, in test mode only", function* () {
    const { account, call, keyWith, world } = yield* signUp()
    const key = yield* keyWith({ mode: "test" })
    const callTest = (method: string, path: string, body?: unknown) => world.request(method, path, { key, body })
    const { url } = yield* Database.Fresh
    const [trackingKey = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    const [unsubscribeKey = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
    const way = { base: BASE, customers: false, secretKey: trackingKey, stopped: { has: () => false } }
    yield* Layer.build(
      World.worker(
        url,
        {},
        {
          track: TrackedLinks.trackingOf(way),
          unsubscribeUrl: UnsubscribeLinks.unsubscribeUrl(BASE, unsubscribeKey),
        },
      ),
    )
    const id = (yield* callTest("POST", "/v1/email/send", MESSAGE)).json.id as EmailId
    yield* World.settled({ account_id: Livemode.testAccountOf(account), stream_id: id })
    const { json } = yield* callTest("GET", `/v1/sandbox/messages/${id}`)
    const mail = yield* Effect.promise(() => PostalMime.parse(Buffer.from(json.raw, "base64")))
    const pathIn = (text: string, pattern: RegExp) => (pattern.exec(text)?.[1] ?? "").slice(BASE.length)
    const visit = (path: string, method = "GET", raw?: string) =>
      world.request(method, path, {
        headers: {
          "user-agent": "Mail/1.0",
          ...(raw === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        },
        ...(raw === undefined ? {} : { raw }),
      })
    assert.strictEqual((yield* visit(pathIn(mail.html ?? "", /src="([^"]+)"/u))).status, 200)
    const clicked = yield* visit(pathIn(mail.html ?? "", /href="([^"]+)"/u))
    assert.deepStrictEqual([clicked.status, clicked.headers.get("location")], [302, TARGET])
    yield* World.until(
      callTest("GET", `/v1/email/logs/${id}`),
      (answer) => answer.json.opens === 1 && answer.json.clicks === 1,
    )

    const offered = mail.headers.find((header) => header.key === "list-unsubscribe")?.value ?? ""
    const left = yield* visit(pathIn(offered, /<([^>]+)>/u), "POST", "List-Unsubscribe=One-Click")
    assert.strictEqual(left.status, 200, left.text)
    const lists = yield* Effect.forEach([callTest, call], (ask) => ask("GET", "/v1/suppressions"))
    assert.deepStrictEqual(
      lists.map((list) => list.json.data.map((each: Record<string, unknown>) => [each["email"], each["reason"]])),
      [[["ana@example.org", "unsubscribe"]], []],
    )
    const again = yield* callTest("POST", "/v1/email/send", MESSAGE)
    assert.strictEqual(again.json.error?.reason, "all_recipients_suppressed")
  })
})
