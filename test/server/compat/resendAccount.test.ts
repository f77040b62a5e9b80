import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { good, refusal, setUp } from "./resendClient.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })(
  "the account of the package resend",
  (it) => {
    it.effect("makes keys with the permission and the domain of their request", function* () {
      const { request, client, resend } = yield* setUp
      const domain_id = (yield* good(() => resend.domains.create({ name: "acme.test" }))).id
      const { id, token } = yield* good(() =>
        resend.apiKeys.create({ name: "bound", permission: "sending_access", domain_id }),
      )
      const { domain, scopes } = (yield* request("GET", `/v1/api-keys/${id}`)).json
      assert.deepStrictEqual([domain, scopes], ["acme.test", ["email:send"]])
      const full = yield* good(() => resend.apiKeys.create({ name: "full" }))
      assert.deepStrictEqual((yield* request("GET", `/v1/api-keys/${full.id}`)).json.scopes, ["admin"])
      assert.deepStrictEqual((yield* refusal(() => client(token).domains.list())).slice(0, 2), [
        401,
        "restricted_api_key",
      ])
      const page = yield* good(() => resend.apiKeys.list({ limit: 2 }))
      assert.deepStrictEqual([page.data.map(({ name }) => name), page.has_more], [["full", "bound"], true])
      yield* good(() => resend.apiKeys.remove(full.id))
      assert.notInclude(
        (yield* good(() => resend.apiKeys.list())).data.map((each) => each.id),
        full.id,
      )
      const unknown = { name: "x", domain_id: "dom_00000000000000000000000000" }
      assert.deepStrictEqual(
        (yield* refusal(() => resend.apiKeys.create(unknown)))[2],
        "`domain_id` is not the id of a domain of this account.",
      )
    })

    it.effect("answers 201 where the service does", function* () {
      const { request } = yield* setUp
      const made = yield* Effect.forEach(
        [
          ["/api-keys", { name: "x" }],
          ["/domains", { name: "acme.test" }],
          ["/webhooks", { endpoint: "https://example.org/hook", events: ["email.sent"] }],
          ["/suppressions", { email: "a@x.test" }],
          ["/suppressions/batch/add", { emails: ["b@x.test"] }],
          ["/templates", { name: "x", html: "x" }],
        ] as const,
        ([path, body]) => request("POST", `/compat/resend${path}`, body),
      )
      assert.deepStrictEqual(
        made.map(({ status }) => status),
        made.map(() => 201),
      )
      const sent = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }
      assert.strictEqual((yield* request("POST", "/compat/resend/emails", sent)).status, 200)
    })

    it.effect("has webhooks, with their events", function* () {
      const { request, resend } = yield* setUp
      yield* good(() => resend.domains.create({ name: "acme.test" }))
      const endpoint = "https://example.org/hook"
      const made = yield* good(() => resend.webhooks.create({ endpoint, events: ["email.sent", "email.bounced"] }))
      assert.match(made.signing_secret, /^whsec_/u)
      const webhook = made.id
      assert.deepStrictEqual((yield* request("GET", `/v1/webhooks/${webhook}`)).json.events, [
        "email.sent",
        "email.bounced",
      ])
      const { created_at, ...shown } = yield* good(() => resend.webhooks.get(webhook))
      assert.deepStrictEqual(shown as object, {
        object: "webhook",
        id: webhook,
        status: "enabled",
        endpoint,
        events: ["email.sent", "email.bounced"],
        signing_secret: null,
      })
      const email = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }
      yield* good(() => resend.emails.send(email))
      const [event] = (yield* good(() => resend.webhooks.events.list({ webhookId: webhook, limit: 1 }))).data
      assert.deepStrictEqual([event?.type, event?.status], ["email.sent", "pending"])
      const ids = { webhookId: webhook, eventId: event?.id ?? "" }
      const detail = yield* good(() => resend.webhooks.events.get(ids))
      assert.deepStrictEqual([detail.object, typeof detail.payload.type], ["webhook_event", "string"])
      assert.deepStrictEqual((yield* good(() => resend.webhooks.events.attempts.list(ids))).data, [])
      assert.strictEqual((yield* good(() => resend.webhooks.events.replay(ids))).id, ids.eventId)
      const { signing_secret } = yield* good(() => resend.webhooks.rotateSigningSecret(webhook))
      assert.notStrictEqual(signing_secret, made.signing_secret)
      yield* good(() => resend.webhooks.update(webhook, { endpoint: `${endpoint}/2`, status: "disabled" }))
      const [listed] = (yield* good(() => resend.webhooks.list())).data
      assert.deepStrictEqual(
        [listed?.endpoint, listed?.status, listed?.created_at],
        [`${endpoint}/2`, "disabled", created_at],
      )
      const local = yield* refusal(() =>
        resend.webhooks.create({ endpoint: "https://10.0.0.1/", events: ["email.sent"] }),
      )
      assert.strictEqual(local[0], 422)
      const wrong = { endpoint: "not a URL", events: ["email.sent"] as const }
      assert.match(
        (yield* refusal(() => resend.webhooks.create({ ...wrong, events: ["email.sent"] })))[2],
        /^`endpoint` /u,
      )
      const contact = yield* refusal(() =>
        resend.webhooks.create({ endpoint, events: ["email.sent", "contact.created"] }),
      )
      assert.match(contact[2], /^`events\[1\]` must be one of email\.scheduled, /u)
      assert.isTrue((yield* good(() => resend.webhooks.remove(webhook))).deleted)
    })

    it.effect("shows each attempt of a call, also one without a response", function* () {
      const { resend, world } = yield* setUp
      yield* good(() => resend.domains.create({ name: "acme.test" }))
      const { id } = yield* good(() =>
        resend.webhooks.create({ endpoint: "https://example.org/", events: ["email.sent"] }),
      )
      yield* good(() => resend.emails.send({ from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }))
      const eventId = (yield* good(() => resend.webhooks.events.list({ webhookId: id }))).data[0]?.id ?? ""
      const attempt = {
        url: "https://example.org/",
        address: null,
        request_headers: {},
        response_headers: {},
        duration_ms: 1,
      }
      const history = [
        { ...attempt, at: "2026-01-01T00:00:00.000Z", status: null, response_body: null, error: "timed out" },
        { ...attempt, at: "2026-01-01T00:01:00.000Z", status: 500, response_body: "Sorry", error: null },
      ]
      yield* world.sql`UPDATE webhook_deliveries SET history = ${JSON.stringify(history)}::jsonb, attempts = 2
        WHERE id = ${Uuid.idOf("WebhookDeliveryId", eventId)}`.pipe(Effect.orDie)
      const ids = { webhookId: id, eventId }
      assert.strictEqual((yield* good(() => resend.webhooks.events.get(ids))).status, "attempting")
      const { data } = yield* good(() => resend.webhooks.events.attempts.list(ids))
      assert.deepStrictEqual(
        data.map(({ http_status_code, response, sent_at }) => [http_status_code, response, sent_at]),
        [
          [500, "Sorry", "2026-01-01T00:01:00.000Z"],
          [0, "timed out", "2026-01-01T00:00:00.000Z"],
        ],
      )
    })

    it.effect("has suppressions, by address and by id", function* () {
      const { request, resend } = yield* setUp
      const { suppressions } = resend
      yield* request("POST", "/v1/suppressions", { email: "bounced@example.org", reason: "hard_bounce" })
      const { id } = yield* good(() => suppressions.add({ email: "a+b@example.org" }))
      assert.strictEqual((yield* good(() => suppressions.add({ email: "a+b@example.org" }))).id, id)
      const { created_at: _, ...found } = yield* good(() => suppressions.get("a+b@example.org"))
      assert.deepStrictEqual(found as object, {
        object: "suppression",
        id,
        email: "a+b@example.org",
        origin: "manual",
        source_id: null,
      })
      assert.strictEqual((yield* good(() => suppressions.get(id))).email, "a+b@example.org")
      const added = yield* good(() => suppressions.batch.add({ emails: ["c@example.org", "d@example.org"] }))
      assert.lengthOf(added.data, 2)
      const page = yield* good(() => suppressions.list({ limit: 3 }))
      assert.deepStrictEqual(
        [page.data.map(({ email }) => email), page.has_more],
        [["d@example.org", "c@example.org", "a+b@example.org"], true],
      )
      const last = yield* good(() => suppressions.list({ after: id }))
      assert.deepStrictEqual(
        last.data.map(({ origin }) => origin),
        ["bounce"],
      )
      // An unsubscribed address is a manual one there.
      yield* request("POST", "/v1/suppressions", { email: "u@example.org", reason: "unsubscribe" })
      const ofOrigin = (options: Parameters<typeof suppressions.list>[0]) =>
        Effect.map(
          good(() => suppressions.list(options)),
          ({ data, has_more }) => [data.map(({ email }) => email), has_more],
        )
      const manual = ["u@example.org", "d@example.org", "c@example.org", "a+b@example.org"]
      assert.deepStrictEqual(yield* ofOrigin({ origin: "manual" }), [manual, false])
      assert.deepStrictEqual(yield* ofOrigin({ limit: 2, origin: "manual" }), [manual.slice(0, 2), true])
      const second = added.data[1]?.id ?? ""
      assert.deepStrictEqual(yield* ofOrigin({ after: second, limit: 2, origin: "manual" }), [manual.slice(2), false])
      assert.deepStrictEqual((yield* ofOrigin({ origin: "bounce" }))[1], false)
      const unknown = "none" as "manual"
      assert.match((yield* refusal(() => suppressions.list({ origin: unknown })))[2], /^`origin` must be bounce, /u)
      assert.match(
        (yield* refusal(() => suppressions.batch.add({ emails: ["e@example.org", "x"] })))[2],
        /^`emails\[1\]` /u,
      )
      assert.deepStrictEqual((yield* refusal(() => suppressions.get("e@example.org"))).slice(0, 2), [404, "not_found"])
      const gone = yield* good(() => suppressions.batch.remove({ ids: added.data.map((each) => each.id) }))
      assert.deepStrictEqual(
        gone.data.map(({ deleted }) => deleted),
        [true, true],
      )
      assert.deepStrictEqual((yield* good(() => suppressions.batch.remove({ emails: ["c@example.org"] }))).data, [])
      assert.deepStrictEqual(yield* good(() => suppressions.remove(id)), { object: "suppression", id, deleted: true })
      assert.strictEqual((yield* refusal(() => suppressions.remove(id)))[0], 404)
      assert.match(
        (yield* refusal(() => suppressions.batch.add({ emails: [] })))[2],
        /^`emails` or `ids` is|^`emails` is required/u,
      )
    })

    it.effect("links attachments so that they can be downloaded without a key, for some time", function* () {
      const { resend, world } = yield* setUp
      yield* good(() => resend.domains.create({ name: "acme.test" }))
      const attachments = [
        { filename: "größe.txt", content: Buffer.from("first") },
        { filename: "b.png", content: Buffer.from("second"), contentId: "logo" },
      ]
      const email = { from: "hi@acme.test", to: "ana@example.org", subject: "x", html: "<p>x</p>", attachments }
      const emailId = (yield* good(() => resend.emails.send(email))).id
      const { data, has_more } = yield* good(() => resend.emails.attachments.list({ emailId }))
      assert.deepStrictEqual(
        data.map(({ content_disposition, content_id, content_type, filename, size }) => [
          filename,
          size,
          content_type,
          content_disposition,
          content_id,
        ]),
        [
          ["größe.txt", 5, "text/plain", "attachment", undefined],
          ["b.png", 6, "image/png", "inline", "logo"],
        ],
      )
      assert.isFalse(has_more)
      const found = yield* good(() => resend.emails.attachments.get({ emailId, id: data[1]?.id ?? "" }))
      const ahead = Date.parse(found.expires_at) - Date.now()
      assert.isTrue(ahead > 59 * 60_000 && ahead <= 3_600_000, `${ahead} ms`)
      assert.isTrue(found.download_url.startsWith(`${world.url}/attachments/`), found.download_url)
      const path = (url = "") => new URL(url).pathname
      const file = yield* world.request("GET", path(found.download_url))
      assert.deepStrictEqual([file.status, file.text], [200, "second"])
      assert.strictEqual(file.headers.get("content-disposition"), "attachment; filename*=UTF-8''b.png")
      assert.strictEqual((yield* world.request("GET", path(data[0]?.download_url))).text, "first")
      const forged = path(found.download_url).replace("-1-", "-0-")
      assert.strictEqual((yield* world.request("GET", forged)).status, 404)
      const foreign = yield* refusal(() => resend.emails.attachments.get({ emailId, id: "att_x" }))
      assert.deepStrictEqual(foreign.slice(0, 2), [404, "not_found"])
    })

    it.effect("shows its usage, and a batch's violations by index", function* () {
      const { resend } = yield* setUp
      yield* good(() => resend.domains.create({ name: "acme.test" }))
      const email = { from: "hi@acme.test", to: ["ana@example.org", "bo@example.org"], subject: "x", text: "x" }
      yield* good(() => resend.emails.send(email))
      const { domains, emails, object } = yield* good(() => resend.usage.get())
      assert.deepStrictEqual([object, emails.monthly.used, emails.daily.limit, domains.used], ["usage", 2, null, 1])
      const bad = { ...email, tags: [{ name: "a:b", value: "c" }] }
      assert.deepStrictEqual(
        (yield* refusal(() => resend.batch.send([email, bad])))[2],
        "`[1].tags[0].name` must consist of letters, digits, underscores and hyphens.",
      )
      const foreign = { ...email, to: "not an address" }
      assert.match((yield* refusal(() => resend.batch.send([email, foreign])))[2], /^`\[1\]\.to/u)
      const { data, errors } = yield* good(() =>
        resend.batch.send([bad, email, foreign], { batchValidation: "permissive" }),
      )
      assert.deepStrictEqual([data.length, errors.map(({ index }) => index)], [1, [0, 2]])
      const nothing = { from: "hi@acme.test", to: "a@example.org", subject: "x", text: "x" }
      const attached = { ...nothing, attachments: [{ filename: "a.txt" }] }
      assert.deepStrictEqual((yield* refusal(() => resend.emails.send(attached))).slice(0, 2), [
        422,
        "invalid_attachment",
      ])
      const sender = yield* refusal(() => resend.emails.send({ ...nothing, from: "nobody" }))
      assert.deepStrictEqual(sender.slice(0, 2), [422, "invalid_from_address"])
      const key = yield* refusal(() => resend.emails.send(nothing, { idempotencyKey: "x".repeat(300) }))
      assert.deepStrictEqual(key.slice(0, 2), [400, "invalid_idempotency_key"])
    })

    it.effect("keeps a path's parameter within its route", function* () {
      const { resend } = yield* setUp
      yield* good(() => resend.suppressions.add({ email: "aAb@x.test" }))
      assert.strictEqual((yield* refusal(() => resend.suppressions.get("a%41b@x.test")))[0], 404)
      for (const id of ["%2e%2e%2flogs", "x%3Flimit=1", "x%2Fevents"])
        assert.deepStrictEqual((yield* refusal(() => resend.emails.get(id))).slice(0, 2), [404, "not_found"], id)
    })

    it.effect("refuses what is no id in its own words, without the names that ids have here", function* () {
      const { resend } = yield* setUp
      const unknown = [404, "not_found", "There is nothing with this id in this account."]
      const calls = [
        () => resend.emails.get("x"),
        () => resend.domains.get("x"),
        () => resend.apiKeys.remove("x"),
        () => resend.webhooks.get("x"),
        () => resend.suppressions.get("x"),
      ] as const
      for (const call of calls) assert.deepStrictEqual<unknown>(yield* refusal<unknown>(call), unknown)
    })
  },
)
