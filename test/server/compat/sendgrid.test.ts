import * as Labels from "@waybill/domain/email/Labels"
import sendgrid from "@sendgrid/mail"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { email, type MailService, sendgridCalls } from "./sendgridCalls.ts"

interface Failure {
  readonly code: number
  readonly response: {
    readonly body: {
      readonly errors: ReadonlyArray<{ readonly message: string; readonly field: string | null; readonly help: null }>
    }
  }
}

const { MailService: MailServices } = sendgrid as unknown as { readonly MailService: new () => MailService }

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret } = yield* world.key(account)
  yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
  const mailOf = (key: string) => {
    const mail = new MailServices()
    mail.setApiKey(key)
    mail.client.setDefaultRequest("baseUrl", `${world.url}/compat/sendgrid`)
    return mail
  }
  const logOf = (id: string) =>
    Effect.map(world.request("GET", `/v1/email/logs/${id}`, { key: secret }), ({ json }) => json)
  return { world, account, secret, mail: mailOf(secret), mailOf, logOf }
})

/** Shows what is wrong in a refusal that is not expected. */
const sent = <A>(call: () => Promise<A>) =>
  Effect.promise(() => call().catch((error: unknown) => assert.fail(JSON.stringify((error as Failure).response.body))))

const refusal = (call: () => Promise<unknown>) =>
  Effect.promise(() =>
    call().then(
      (answer) => assert.fail(`not refused: ${JSON.stringify(answer)}`),
      (error: unknown) => {
        const { code, response } = error as Failure
        return { code, errors: response.body.errors }
      },
    ),
  )

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the package @sendgrid/mail", (it) => {
  it.effect("every call gives what its row says", function* () {
    const { mail } = yield* setUp
    for (const { call, gives, run } of sendgridCalls) {
      const outcome = yield* Effect.promise(() =>
        run(mail).then(
          () => "accepted",
          ({ code, response }: Failure) =>
            `${code}, ${response.body.errors.map(({ field, message }) => `${field}: ${message}`).join("; ")}`,
        ),
      )
      assert.strictEqual(outcome, /^\d{3}, /u.test(gives) ? gives : "accepted", call)
    }
  })

  it.effect("sends a message with every field", function* () {
    const { logOf, mail } = yield* setUp
    const sendAt = Math.floor(Date.now() / 1000) + 3600
    const [response, body] = yield* sent(() =>
      mail.send({
        from: { email: "hi@acme.test", name: "Acme, Inc." },
        replyToList: [{ email: "help@acme.test" }, { email: "more@acme.test", name: "More" }],
        subject: "Your receipt",
        text: "Thank you!",
        html: '<p>Thank you! <img src="cid:logo"></p>',
        personalizations: [
          {
            to: [{ email: "ana@example.org", name: "Ana" }, "bo@example.org"],
            cc: "cy@example.org",
            bcc: "di@example.org",
            subject: "Ana's receipt",
            headers: { "X-Order": "7041" },
            customArgs: { order: "7041" },
          },
        ],
        headers: { "X-Shop": "acme" },
        categories: ["receipt"],
        customArgs: { shop: "acme", order: "none" },
        sendAt,
        trackingSettings: { clickTracking: { enable: false }, openTracking: { enable: false } },
        mailSettings: { sandboxMode: { enable: false } },
        attachments: [
          { content: "iVBORw==", filename: "logo.png", type: "image/png", disposition: "inline", contentId: "logo" },
        ],
      }),
    )
    assert.deepStrictEqual([response.statusCode, body, response.headers["content-length"]], [202, "", "0"] as unknown)
    const log = yield* logOf(response.headers["x-message-id"] as string)
    assert.deepStrictEqual(
      [log.from, log.to, log.cc, log.bcc],
      [
        '"Acme, Inc." <hi@acme.test>',
        ["Ana <ana@example.org>", "bo@example.org"],
        ["cy@example.org"],
        ["di@example.org"],
      ],
    )
    assert.deepStrictEqual(log.reply_to, ["help@acme.test", "More <more@acme.test>"])
    assert.deepStrictEqual([log.subject, log.tags], ["Ana's receipt", ["receipt"]])
    assert.deepStrictEqual(log.metadata, { order: "7041", shop: "acme" })
    assert.strictEqual(log.scheduled_at, new Date(sendAt * 1000).toISOString())
    assert.deepStrictEqual(log.tracking, { opens: false, clicks: false })
    assert.deepStrictEqual([log.content.text, log.content.attachments[0].content_id], ["Thank you!", "logo"])
  })

  it.effect("takes unique_args, the old name of custom_args, which count before them", function* () {
    const { logOf, secret: key, world } = yield* setUp
    const body = {
      from: { email: "hi@acme.test" },
      subject: "s",
      content: [{ type: "text/plain", value: "x" }],
      unique_args: { shop: 7, order: "none" },
      custom_args: { shop: "acme" },
      personalizations: [{ to: [{ email: "ana@example.org" }], unique_args: { order: "7041" } }],
    }
    const { headers } = yield* world.request("POST", "/compat/sendgrid/v3/mail/send", { key, body })
    assert.deepStrictEqual((yield* logOf(headers.get("x-message-id") ?? "")).metadata, { order: "7041", shop: "acme" })
    const long = { ...body, unique_args: { ["n".repeat(65)]: "x" } }
    const { json } = yield* world.request("POST", "/compat/sendgrid/v3/mail/send", { key, body: long })
    assert.match(json.errors[0].field, /^unique_args\.n{64}/u)
  })

  it.effect("attaches a file with an id, unless it is inline or the HTML shows it", function* () {
    const { logOf, mail } = yield* setUp
    const file = (filename: string, change: object) => ({ content: "iVBORw==", filename, type: "image/png", ...change })
    const attachments = [
      file("a.png", { disposition: "attachment", contentId: "a" }),
      file("b.png", { contentId: "b" }),
      file("c.png", { disposition: "attachment", contentId: "c" }),
      file("d.png", { disposition: "inline", contentId: "d" }),
    ]
    const html = '<p>Thank you! <img src="cid:c"></p>'
    const [response] = yield* Effect.promise(() => mail.send(email({ html, attachments } as object)))
    const { content } = yield* logOf(response.headers["x-message-id"] as string)
    assert.deepStrictEqual(
      content.attachments.map(({ content_id }: { readonly content_id: string | null }) => content_id),
      [null, null, "c", "d"],
    )
  })

  it.effect("keeps categories that are too long or too many for tags", function* () {
    const { logOf, mail } = yield* setUp
    const categories = ["a", "b".repeat(255), "c", "d", "e", "f", "g", "h", "i", "j"]
    const [response] = yield* Effect.promise(() => mail.send(email({ categories, customArgs: { order: "7041" } })))
    const { metadata, tags } = yield* logOf(response.headers["x-message-id"] as string)
    assert.deepStrictEqual(tags, ["a", "c", "d", "e", "f"])
    assert.deepStrictEqual(Labels.pairsOf(metadata), { order: "7041" })
    assert.deepStrictEqual(Labels.labelsOf(tags, metadata).toSorted(), categories)
  })

  it.effect("makes an email of each personalization, all or none", function* () {
    const { logOf, mail, secret, world } = yield* setUp
    const [response] = yield* Effect.promise(() =>
      mail.send(email({ personalizations: [{ to: "ana@example.org" }, { to: "bo@example.org", subject: "Yours" }] })),
    )
    const ids = String(response.headers["x-message-ids"]).split(",")
    assert.strictEqual(ids[0], response.headers["x-message-id"])
    const logs = yield* Effect.forEach(ids, logOf)
    assert.deepStrictEqual(
      logs.map(({ subject, to }) => [subject, to]),
      [
        ["Your receipt", ["ana@example.org"]],
        ["Yours", ["bo@example.org"]],
      ],
    )
    const failed = yield* refusal(() => mail.sendMultiple(email({ to: ["ana@example.org", "nobody"] })))
    assert.deepStrictEqual(
      [failed.code, failed.errors.map(({ field }) => field)],
      [400, ["personalizations.1.to.0.email"]],
    )
    const shared = yield* refusal(() =>
      mail.sendMultiple(email({ from: "nobody", to: ["ana@example.org", "bo@example.org"] })),
    )
    assert.deepStrictEqual(
      shared.errors.map(({ field }) => field),
      ["from.email"],
    )
    const many = Array.from({ length: 1_001 }, (_, nth) => `r${nth}@example.org`)
    assert.strictEqual(
      (yield* refusal(() => mail.sendMultiple(email({ to: many })))).errors[0]?.field,
      "personalizations",
    )
    // Each of the 100 emails would have a copy of the half megabyte.
    const large = email({ to: many.slice(0, 100), text: "x".repeat(500_000) })
    const tooLarge = yield* refusal(() => mail.sendMultiple(large))
    assert.deepStrictEqual([tooLarge.code, tooLarge.errors[0]?.field], [413, "personalizations"])
    const customArgs = Object.fromEntries(Array.from({ length: 900 }, (_, nth) => [`arg${nth}`, "x".repeat(50)]))
    const tagged = email({ to: many.slice(0, 100), customArgs })
    assert.strictEqual((yield* refusal(() => mail.sendMultiple(tagged))).errors[0]?.field, "custom_args")
    const { json } = yield* world.request("GET", "/v1/email/logs", { key: secret })
    assert.strictEqual(json.data.length, 2)
  })

  it.effect("refuses with SendGrid's statuses, and names the field in its spelling", function* () {
    const { mail, mailOf, secret, world } = yield* setUp
    const post = (change: object) =>
      Effect.map(
        world.request("POST", "/compat/sendgrid/v3/mail/send", {
          key: secret,
          body: {
            personalizations: [{ to: [{ email: "ana@example.org" }] }],
            from: { email: "hi@acme.test" },
            subject: "x",
            content: [{ type: "text/plain", value: "x" }],
            ...change,
          },
        }),
        ({ json, status }) => [status, json?.errors[0].field],
      )
    const to = [{ email: "ana@example.org" }]
    const file = { content: "aGk=", filename: "a.txt" }
    const rows: ReadonlyArray<readonly [object, unknown]> = [
      [{ personalizations: [] }, [400, "personalizations"]],
      [{ personalizations: undefined }, [400, "personalizations"]],
      [{ personalizations: [{ to: [] }] }, [400, "personalizations.0.to"]],
      [{ personalizations: [{ to, subject: "a\nb" }] }, [400, "personalizations.0.subject"]],
      [{ personalizations: [{ to, send_at: 4_102_444_800 }] }, [400, "personalizations.0.send_at"]],
      [{ personalizations: [{ to, headers: { Received: "x" } }] }, [400, "personalizations.0.headers.Received"]],
      [{ personalizations: [{ to, custom_args: { a: "x".repeat(501) } }] }, [400, "personalizations.0.custom_args.a"]],
      [{ headers: { Received: "x" } }, [400, "headers.Received"]],
      [{ subject: undefined }, [400, "subject"]],
      [{ categories: ["x".repeat(256)] }, [400, "categories.0"]],
      [{ custom_args: { a: "x".repeat(501) } }, [400, "custom_args.a"]],
      [{ categories: Array.from({ length: 11 }, String) }, [400, "categories"]],
      [{ content: [{ type: "text/x-amp-html", value: "x" }] }, [400, "content.0.type"]],
      [{ content: [{ type: "text/calendar; x=(", value: "x" }] }, [400, "content.0.type"]],
      [{ reply_to: { email: "nobody" } }, [400, "reply_to.email"]],
      [{ reply_to: to[0], reply_to_list: to }, [400, "reply_to_list"]],
      [{ attachments: [{ ...file, content: "!" }] }, [400, "attachments.0.content"]],
      [{ attachments: [{ ...file, type: "x" }] }, [400, "attachments.0.type"]],
      [{ attachments: [{ ...file, disposition: "inline" }] }, [400, "attachments.0.content_id"]],
      [
        { tracking_settings: { click_tracking: { enable: true, enable_text: true } } },
        [400, "tracking_settings.click_tracking.enable_text"],
      ],
      [{ sendAt: 1 }, [400, "sendAt"]],
      [{ from: { email: "x@other.test" } }, [403, "from.email"]],
    ]
    for (const [change, expected] of rows)
      assert.deepStrictEqual(yield* post(change), expected, JSON.stringify(change).slice(0, 200))
    const anonymous = yield* refusal(() => mailOf("SG.x.y").send(email()))
    assert.deepStrictEqual([anonymous.code, anonymous.errors[0]?.field], [401, null])
    const reader = yield* world.key(yield* world.account(), { scopes: ["email:logs:read"] })
    assert.strictEqual((yield* refusal(() => mailOf(reader.secret).send(email()))).code, 403)
    const many = email({ text: "x".repeat(11 * 1024 * 1024) })
    assert.strictEqual((yield* refusal(() => mail.send(many))).code, 413)
    const free = yield* world.account("starter")
    const { secret: key } = yield* world.key(free)
    yield* world.request("POST", "/v1/domains", { key, body: { name: "free.test" } })
    const recipients = Array.from({ length: 51 }, (_, nth) => `r${nth}@example.org`)
    const limited = yield* refusal(() => mailOf(key).send(email({ from: "hi@free.test", to: recipients })))
    assert.deepStrictEqual([limited.code, limited.errors[0]?.field], [400, "personalizations.0.to"])
  })
  it.effect("takes what adapters send without need, and refuses a template for itself", function* () {
    const { logOf, secret, world } = yield* setUp
    const body = {
      personalizations: [{ to: [{ email: "ana@example.org" }], dynamic_template_data: { order: 7 } }],
      from: { email: "hi@acme.test" },
      subject: "x",
      attachments: [{ content: "aGk=", filename: "a.bin", content_type: "application/pdf" }],
    }
    const content = [{ type: "text/html", value: "Hello" }]
    const post = (change: object) =>
      world.request("POST", "/compat/sendgrid/v3/mail/send", { key: secret, body: { ...body, ...change } })
    const log = yield* logOf((yield* post({ content })).headers.get("x-message-id") ?? "")
    assert.strictEqual(log.content.attachments[0].content_type, "application/pdf")
    const refused = [yield* post({}), yield* post({ template_id: "d-1" })]
    assert.deepStrictEqual(
      refused.map(({ json, status }) => [status, json.errors.map(({ field }: { readonly field: string }) => field)]),
      [
        [400, ["content"]],
        [400, ["template_id"]],
      ],
    )
  })
})
