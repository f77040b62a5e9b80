import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Effect, Fiber, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { fieldOf, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

/** Every byte, so that none is changed on the way. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, nth) => nth))

/** Creates an account with a domain, and a worker that keeps mail. */
const setUp = signUp({ domains: ["acme.test"] })

const worker = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const capture = yield* Layer.build(Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer)))
  yield* Layer.build(World.worker(url, { capture: Layer.succeedContext(capture) }))
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the sandbox", (it) => {
  it.effect("and the log name no live key or template to a test key that searches", function* () {
    const { call, world } = yield* setUp
    const tester = yield* call("POST", "/v1/api-keys", { name: "Tester", scopes: ["admin"], mode: "test" })
    const template = { name: "Receipt", alias: "receipt", subject: "Hi", text: "Hi" }
    assert.deepStrictEqual([tester.status, (yield* call("POST", "/v1/templates", template)).status], [201, 201])
    for (const path of ["/v1/email/logs", "/v1/sandbox/messages"]) {
      const typed = (q: string) => world.request("GET", `${path}?q=${q}`, { key: tester.json.key })
      assert.match((yield* typed("key:e")).json.error.message, /names of API keys are not shown to you/u)
      assert.match((yield* typed("template:receipt")).json.error.message, /No template has the alias/u)
    }
  })

  it.effect("is searched as the log is, page by page", function* () {
    const { call, send } = yield* setUp
    yield* worker
    const found = (query: string) =>
      Effect.map(call("GET", `/v1/sandbox/messages?${query}`), ({ json, status }) => ({
        status,
        ids: json.data?.map(({ id }: { readonly id: string }) => id),
        next: json.next_cursor,
      }))
    const receipt = yield* send({ to: "ana@example.org", subject: "Receipt", metadata: { customer: "cus_3" } })
    const second = yield* send({ to: "bo@gmail.com", subject: "Receipt two", tags: ["eu"] })
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const waits = yield* send({ to: "bo@example.org", subject: "Receipt three", scheduled_at })
    for (const to of ["ana@example.org", "bo@gmail.com"]) yield* call("GET", `/v1/sandbox/messages?to=${to}&wait=60s`)
    for (const [q, ids] of [
      ["receipt", [second, receipt]],
      ["to:ana", [receipt]],
      ["cus_3", [receipt]],
      ["provider:google%20tag:eu", [second]],
      // It has not arrived.
      [`id:${waits}`, []],
      ["nothing", []],
    ] as const)
      assert.deepStrictEqual(yield* found(`q=${q}`), { status: 200, ids, next: null }, q)
    assert.deepStrictEqual(yield* found("q=receipt&to=ana@example.org"), { status: 200, ids: [receipt], next: null })
    const first = yield* found("q=receipt%20is:delivered&limit=1")
    assert.deepStrictEqual(first, { status: 200, ids: [second], next: second })
    assert.deepStrictEqual((yield* found(`q=receipt%20is:delivered&limit=1&after=${first.next}`)).ids, [receipt])
    for (const query of ["q=lost:x", "q=receipt&wait=1s"]) assert.strictEqual((yield* found(query)).status, 400, query)
    const other = yield* setUp
    assert.deepStrictEqual((yield* other.call("GET", "/v1/sandbox/messages?q=receipt")).json.data, [])
  })

  it.effect("returns a mail to a waiting test, with its parts and exact bytes", function* () {
    const { call, send } = yield* setUp
    yield* worker
    const waiting = yield* Effect.forkChild(call("GET", "/v1/sandbox/messages?to=ANA%40example.org&wait=60s"), {
      startImmediately: true,
    })
    const id = yield* send({
      to: ["Ana <ana@example.org>"],
      bcc: ["cy@example.org"],
      subject: "Grüße",
      html: '<p>Hi <img src="cid:logo"></p>',
      text: "Hi",
      headers: { "X-Order": "7" },
      attachments: [
        { filename: "größe.txt", content: Buffer.from("receipt").toString("base64") },
        { filename: "logo.png", content: BYTES.toString("base64"), content_id: "logo" },
      ],
    })
    const { json: list, status } = yield* Fiber.join(waiting)
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(
      list.data.map((each: { readonly id: string }) => each.id),
      [id],
    )
    assert.deepStrictEqual(
      [list.object, list.data[0].recipients, list.data[0].subject],
      ["list", ["ana@example.org", "cy@example.org"], "Grüße"],
    )

    const { json: mail } = yield* call("GET", `/v1/sandbox/messages/${id}`)
    assert.deepStrictEqual([mail.html.trim(), mail.text.trim()], ['<p>Hi <img src="cid:logo"></p>', "Hi"])
    assert.deepStrictEqual(
      mail.attachments
        .map(({ content, content_id, content_type, filename }: Record<string, string>) => [
          filename,
          content_type,
          content_id?.replaceAll(/[<>]/gu, "") ?? null,
          content,
        ])
        .toSorted(),
      [
        ["größe.txt", "text/plain", null, Buffer.from("receipt").toString("base64")],
        ["logo.png", "image/png", "logo", BYTES.toString("base64")],
      ],
    )
    const header = (name: string) =>
      mail.headers.flatMap((each: { readonly name: string; readonly value: string }) =>
        each.name.toLowerCase() === name ? [each.value] : [],
      )
    assert.deepStrictEqual([header("x-order"), header("bcc")], [["7"], []])
    const raw = Buffer.from(mail.raw, "base64").toString()
    assert.strictEqual(Buffer.from(mail.raw, "base64").length, mail.size_bytes)
    assert.include(raw, `Message-ID: <${id}@acme.test>`)
    assert.notInclude(raw, "cy@example.org")
  })

  it.effect("returns an empty list after the wait, and refuses an invalid wait", function* () {
    const { call } = yield* setUp
    const { json } = yield* call("GET", "/v1/sandbox/messages?wait=1s&to=nobody%40example.org")
    assert.deepStrictEqual(json, { object: "list", has_more: false, next_cursor: null, data: [] })
    for (const wait of ["10", "61s", "-1s", "1m", "s"]) {
      assert.deepStrictEqual(fieldOf(yield* call("GET", `/v1/sandbox/messages?wait=${wait}`)), [400, "wait"], wait)
    }
  })

  it.effect("pages, and deletes one mail or all", function* () {
    const { call, send } = yield* setUp
    yield* worker
    const ids = yield* Effect.forEach([1, 2, 3], () => send())
    const list = (query = "") =>
      Effect.map(call("GET", `/v1/sandbox/messages${query}`), ({ json }) => ({
        ids: json.data.map(({ id }: { readonly id: string }) => id) as ReadonlyArray<string>,
        next: json.next_cursor as string | null,
      }))
    yield* World.until(list(), (list) => list.ids.length === ids.length)
    const first = yield* list("?limit=2")
    const second = yield* list(`?limit=2&after=${first.next}`)
    assert.deepStrictEqual([...first.ids, ...second.ids], ids.toReversed())

    const [one = ""] = ids
    const gone = yield* call("DELETE", `/v1/sandbox/messages/${one}`)
    assert.deepStrictEqual([gone.status, gone.json], [200, { object: "sandbox", deleted: 1 }])
    assert.strictEqual((yield* call("GET", `/v1/sandbox/messages/${one}`)).status, 404)
    assert.strictEqual((yield* call("DELETE", `/v1/sandbox/messages/${one}`)).status, 404)
    assert.strictEqual((yield* call("GET", `/v1/email/logs/${one}`)).status, 200)
    assert.deepStrictEqual((yield* call("DELETE", "/v1/sandbox/messages")).json, { object: "sandbox", deleted: 2 })
    assert.deepStrictEqual((yield* list()).ids, [])
  })

  it.effect("continues beyond the largest page", function* () {
    const { account, call, world } = yield* signUp()
    // Inserted, since delivery of so many takes seconds.
    yield* Effect.orDie(world.sql`
        INSERT INTO sandbox_messages (account_id, id, recipients, subject, mail_from, size_bytes, bytes, expires_at)
        SELECT ${account}, 'msg_' || lpad(n::text, 26, '0'), '{}', '', '', 0, '', now() + interval '1 day'
        FROM generate_series(1, 101) AS n`)
    const page = (query: string) =>
      Effect.map(call("GET", `/v1/sandbox/messages?limit=100${query}`), ({ json }) => json)
    const first = yield* page("")
    assert.deepStrictEqual([first.data.length, first.has_more], [100, true])
    const second = yield* page(`&after=${first.next_cursor}`)
    assert.deepStrictEqual([second.data.length, second.has_more, second.next_cursor], [1, false, null])
  })
})

for (const transport of ["relay", "direct"] as const) {
  layer(HttpWorld.layer({ transport }), { excludeTestServices: true, timeout: "60 seconds" })(
    `an instance that sends by ${transport}`,
    (it) => {
      it.effect("has no sandbox", function* () {
        const { call } = yield* setUp
        const some = "/v1/sandbox/messages/msg_01m7ysmwp0e41861050r3gg28a"
        for (const [method, path] of [
          ["GET", "/v1/sandbox/messages"],
          ["DELETE", "/v1/sandbox/messages"],
          ["GET", some],
          ["DELETE", some],
        ] as const)
          assert.strictEqual((yield* call(method, path)).status, 404, `${method} ${path}`)
      })
    },
  )
}
