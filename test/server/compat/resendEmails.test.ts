import { Effect } from "effect"
import { Resend } from "resend"
import { MAX_REMOTE_BYTES } from "../../../apps/server/src/compat/RemoteFile.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { good, refusal, setUp } from "./resendClient.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the package resend", (it) => {
  it.effect("sends an email, and reads an error", function* () {
    const world = yield* HttpWorld
    const { secret } = yield* world.key(yield* world.account())
    yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
    const resend = new Resend(secret, { baseUrl: `${world.url}/compat/resend` })
    const email = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "x", text: "Hello" }
    const sent = yield* Effect.promise(() => resend.emails.send(email, { idempotencyKey: "a" }))
    assert.match(sent.data?.id ?? JSON.stringify(sent), /^[0-9a-f]{8}-[0-9a-f]{4}-7/u)
    const again = yield* Effect.promise(() => resend.emails.send(email, { idempotencyKey: "a" }))
    assert.strictEqual(again.data?.id, sent.data?.id)
    const reused = yield* Effect.promise(() => resend.emails.send({ ...email, subject: "y" }, { idempotencyKey: "a" }))
    assert.deepStrictEqual([reused.error?.statusCode, reused.error?.name], [409, "invalid_idempotent_request"])
    const foreign = yield* Effect.promise(() => resend.emails.send({ ...email, from: "x@other.test" }))
    assert.deepStrictEqual([foreign.error?.statusCode, foreign.error?.name], [403, "validation_error"])
    const anonymous = new Resend("re_123", { baseUrl: `${world.url}/compat/resend` })
    const refused = yield* Effect.promise(() => anonymous.emails.send(email))
    assert.deepStrictEqual([refused.error?.statusCode, refused.error?.name], [403, "invalid_api_key"])
    const unknown = yield* Effect.promise(() => resend.broadcasts.list())
    assert.deepStrictEqual([unknown.error?.statusCode, unknown.error?.name], [404, "not_found"])
  })

  it.effect("lists, gets, reschedules and cancels emails", function* () {
    const world = yield* HttpWorld
    const { secret } = yield* world.key(yield* world.account())
    yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
    const { batch, emails } = new Resend(secret, { baseUrl: `${world.url}/compat/resend` })
    const email = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "x", text: "Hello" }
    const tags = [
      { name: "category", value: "welcome" },
      { name: `${"n".repeat(63)}-1`, value: "short" },
      ...Array.from({ length: 72 }, (_, nth) => ({
        name: `name${String(nth).padStart(2, "0")}`,
        value: "v".repeat(256),
      })),
      { name: "n".repeat(256), value: "long" },
    ]
    const replyTo = ["help@acme.test"]
    const sent = yield* Effect.promise(() => emails.send({ ...email, replyTo, tags, scheduledAt: "in 1 hour" }))
    const id = sent.data?.id ?? ""
    const got = yield* Effect.promise(() => emails.get(id))
    const { last_event, reply_to, scheduled_at, tags: shown, text } = got.data ?? assert.fail(JSON.stringify(got))
    assert.deepStrictEqual([last_event, reply_to, text], ["scheduled", replyTo, "Hello"])
    assert.sameDeepMembers(shown as unknown as Array<object>, tags)
    const ahead = Date.parse(scheduled_at ?? "") - Date.now()
    assert.isTrue(ahead > 59 * 60_000 && ahead <= 60 * 60_000, `${ahead} ms ahead`)
    const at = new Date(Date.now() + 7_200_000).toISOString()
    assert.deepStrictEqual((yield* Effect.promise(() => emails.update({ id, scheduledAt: at }))).data, {
      object: "email",
      id,
    })
    assert.strictEqual((yield* Effect.promise(() => emails.get(id))).data?.scheduled_at, at)
    assert.deepStrictEqual((yield* Effect.promise(() => emails.cancel(id))).data, { object: "email", id })
    const two = yield* Effect.promise(() => batch.send([email, email]))
    assert.strictEqual(two.data?.data.length, 2)
    const bad = { ...email, from: "x@other.test" }
    const permissive = yield* Effect.promise(() => batch.send([bad, email], { batchValidation: "permissive" }))
    assert.deepStrictEqual([permissive.data?.data.length, permissive.data?.errors[0]?.index], [1, 0])
    const page = yield* Effect.promise(() => emails.list({ limit: 2 }))
    assert.deepStrictEqual([page.data?.data.length, page.data?.has_more], [2, true])
    const words = yield* Effect.promise(() => emails.send({ ...email, scheduledAt: "whenever" }))
    assert.match(words.error?.message ?? "", /scheduled_at/u)
    // A time in words that would be read, but is too long.
    const long = { ...email, scheduledAt: `in ${"1 hour and ".repeat(8)}1 hour` }
    assert.match((yield* Effect.promise(() => emails.send(long))).error?.message ?? "", /scheduled_at/u)
    const topic = yield* Effect.promise(() => emails.send({ ...email, topicId: "t" }))
    assert.match(topic.error?.message ?? "", /topic_id/u)
  })
})

const zones = { "files.test": { A: ["127.0.0.1"] } }
layer(HttpWorld.layer({ zones, attachmentNetworks: ["127.0.0.0/8"] }), {
  excludeTestServices: true,
  timeout: "90 seconds",
})("attachments that the package resend names by URL", (it) => {
  it.effect("are fetched, and counted over a batch", function* () {
    const answer = ({ path }: WebhookReceiver.Received): WebhookReceiver.Answer =>
      path === "/large"
        ? { status: 200, body: "x".repeat(MAX_REMOTE_BYTES - 6) }
        : { status: 200, headers: { "content-type": "text/csv" }, body: "a,b\n" }
    const files = yield* Effect.acquireRelease(
      Effect.promise(() => WebhookReceiver.open({ answer })),
      ({ close }) => Effect.promise(close),
    )
    const { resend } = yield* setUp
    yield* good(() => resend.domains.create({ name: "acme.test" }))
    const base = `http://files.test:${files.port}`
    const email = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }
    const small = { ...email, attachments: [{ path: `${base}/table.csv` }] }
    const sent = yield* good(() => resend.emails.send(small))
    const [file] = (yield* good(() => resend.emails.attachments.list({ emailId: sent.id }))).data
    assert.deepStrictEqual([file?.filename, file?.content_type, file?.size], ["table.csv", "text/csv", 4])
    const large = { ...email, attachments: [{ path: `${base}/large`, filename: "a.txt" }] }
    const tooMuch = `\`[2].attachments[0].path\` is larger than ${MAX_REMOTE_BYTES} bytes, together with the other files.`
    assert.deepStrictEqual(yield* refusal(() => resend.batch.send([small, small, large])), [
      422,
      "invalid_attachment",
      tooMuch,
    ])
    const metadata = { ...email, attachments: [{ path: "http://169.254.169.254/latest" }] }
    assert.deepStrictEqual(yield* refusal(() => resend.emails.send(metadata)), [
      422,
      "invalid_attachment",
      "`attachments[0].path` has a host without a public address: 169.254.169.254.",
    ])
  })

  // threat: doors
  it.effect("are not fetched for a message, or a batch, that is refused anyway", function* () {
    const files = yield* Effect.acquireRelease(
      Effect.promise(() => WebhookReceiver.open({ answer: () => ({ status: 200, body: "x" }) })),
      ({ close }) => Effect.promise(close),
    )
    const { key, keyWith, world } = yield* signUp({ domains: ["acme.test"] })
    const file = { path: `http://files.test:${files.port}/a.txt` }
    const good = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x", attachments: [file] }
    const refused = (path: string, body: unknown, secret = key) =>
      Effect.map(world.request("POST", `/compat/resend${path}`, { key: secret, body }), ({ status, text }) => {
        assert.isAtLeast(status, 400, text)
        assert.lengthOf(files.calls, 0, JSON.stringify(body))
        return text
      })
    yield* refused("/emails", good, yield* keyWith({ scopes: ["stats:read"] }))
    for (const change of [
      { to: "nobody" },
      { from: "nobody" },
      { subject: "a\nb" },
      { headers: { Received: "x" } },
      { tags: [{ name: "a", value: "x".repeat(257) }] },
      { tags: [{ name: "a".repeat(257), value: "x" }] },
      { scheduled_at: "whenever" },
      { scheduled_at: "2027-01-31T99:00:00Z" },
      { attachments: [file, { path: "file:///etc/passwd", filename: "a" }] },
      { attachments: [file, { filename: "a.txt" }] },
      { attachments: [file, { filename: "a.txt", content: "!" }] },
      { attachments: [file, { ...file, content_type: "x" }] },
      { attachments: Array.from({ length: 21 }, () => file) },
    ])
      yield* refused("/emails", { ...good, ...change })
    const eleven = { ...good, attachments: Array.from({ length: 11 }, () => file) }
    yield* refused("/emails/batch", [eleven, eleven])
    yield* refused("/emails/batch", [good, { ...good, attachments: [], to: "nobody" }])
    yield* refused("/emails/batch", [good, {}])
    const both = yield* world.request("POST", "/compat/resend/emails/batch", {
      key,
      body: [{ ...good, to: "nobody" }, good],
      headers: { "x-batch-validation": "permissive" },
    })
    assert.deepStrictEqual([both.json.data.length, both.json.errors.length, files.calls.length], [1, 1, 1], both.text)
  })
})
