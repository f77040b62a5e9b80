import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import { Effect, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { Fresh } from "../../support/postgres/Database.ts"
import * as ReturnPathKeys from "../../../apps/server/src/installation/ReturnPathKeys.ts"
import { feedbackHeaders } from "../../../apps/server/src/worker/delivery/feedbackHeaders.ts"
import * as World from "../../support/world/World.ts"
import { browser, House } from "../signIn/house.ts"

const DAY_MS = 86_400_000

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("previews of mail", (it) => {
  const owner = Effect.gen(function* () {
    const { key, owner, url } = yield* House
    const page = browser(url)
    assert.strictEqual((yield* page.signIn(owner)).status, 200)
    const send = (to: string, over: object = {}) =>
      Effect.map(
        page.request("POST", "/v1/email/send", {
          body: { from: "hello@acme.test", to, subject: "Grüße", html: "<p>Grüße ✓</p>", ...over },
        }),
        ({ json }) => json.id as string,
      )
    const raw = (id: string) => page.request("GET", `/preview/emails/${id}/raw`)
    const statusOf = (id: string) => Effect.map(page.request("GET", `/v1/email/logs/${id}`), ({ json }) => json.status)
    return { key, page, raw, send, statusOf }
  })

  it.effect("name their charset, whatever the mail says", function* () {
    const { page, send } = yield* owner
    const id = yield* send("ana@example.org", {
      html: `<html><head><meta charset="iso-8859-1"></head><body>Grüße ✓</body></html>`,
    })
    const seen = yield* page.request("GET", `/preview/emails/${id}`)
    assert.strictEqual(seen.headers.get("content-type"), "text/html; charset=utf-8")
    assert.include(seen.json, "Grüße ✓")
    const source = yield* page.request("GET", `/preview/emails/${id}/raw`)
    assert.strictEqual(source.headers.get("content-type"), "text/plain; charset=utf-8")
  })

  it.effect("show the same source before, without and after an attempt", function* () {
    const { page, raw, send, statusOf } = yield* owner
    const { url } = yield* Fresh
    const scheduled_at = new Date(Date.now() + DAY_MS).toISOString()
    const scheduled = yield* send("ana@example.org", { scheduled_at })
    const canceled = yield* send("ana@example.org", { scheduled_at })
    assert.strictEqual((yield* page.request("POST", `/v1/email/${canceled}/cancel`)).status, 200)
    const sent = yield* send("ana@example.org")
    const bounced = yield* send("bounced@customers.test")
    const ids = [scheduled, canceled, sent, bounced]
    const before = yield* Effect.forEach(ids, raw)
    for (const [nth, { headers, json, status }] of before.entries()) {
      assert.deepStrictEqual([status, headers.get("x-waybill-attempted")], [200, "false"])
      assert.match(json, new RegExp(`^Message-ID: <${ids[nth]}@acme.test>\r$`, "mu"))
      assert.match(json, /^Date: /mu)
    }
    const kept = new Map<string, string>()
    const capture = SandboxTransport.layer(({ message }) =>
      Effect.sync(() => void kept.set(message.emailId, Buffer.from(message.bytes).toString())),
    )
    const headers = feedbackHeaders(yield* ReturnPathKeys.returnPathKey)
    yield* Layer.build(World.worker(url, { capture }, { feedbackHeaders: headers }))
    yield* World.until(Effect.forEach([sent, bounced], statusOf), (found) => found.join(" ") === "delivered bounced")
    const after = yield* Effect.forEach(ids, raw)
    assert.deepStrictEqual(
      after.map(({ json }) => json),
      before.map(({ json }) => json),
    )
    assert.deepStrictEqual(
      after.map(({ headers }) => headers.get("x-waybill-attempted")),
      ["false", "false", "true", "true"],
    )
    const unsigned = kept.get(sent)?.replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/u, "")
    assert.strictEqual(unsigned, after[2]?.json)
  })

  it.effect("say that content is no longer kept, and that mail was not captured", function* () {
    const { key, page, raw, send } = yield* owner
    const { url } = yield* House
    const id = yield* send("ana@example.org", { html: "<p>Kept for a while</p>" })
    const captured = yield* Effect.promise(async () => {
      const response = await fetch(`${url}/v1/sandbox/messages/${id}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      return { status: response.status, json: JSON.parse(await response.text()) }
    })
    assert.deepStrictEqual([captured.status, captured.json.error.reason], [404, "email_not_captured"])
    const sql = yield* Sql
    yield* sql`DELETE FROM content`
    for (const seen of [yield* raw(id), yield* page.request("GET", `/preview/emails/${id}`)]) {
      assert.deepStrictEqual([seen.status, seen.json.error.reason], [422, "content_expired"])
      assert.include(seen.json.error.message, "no longer kept")
    }
  })
})
