import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import * as NodemailerTransport from "@waybill/mail/transport/NodemailerTransport"
import { Transport } from "@waybill/mail/transport/Transport"
import { Effect, Layer } from "effect"
import { createTransport } from "nodemailer"
import { PROVIDERS } from "../../../apps/server/src/providers/formats/ProviderEvent.ts"
import * as AccessToken from "../../../apps/server/src/providers/AccessToken.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import { Transports } from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as HandedOver from "../../../apps/server/src/providers/HandedOver.ts"
import { MAX_CALL_BYTES } from "../../../apps/server/src/providers/HookRoutes.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import * as Amazon from "./amazon.ts"
import * as Calls from "./calls.ts"
import { makeHook, SECRETS, setUp } from "./support.ts"

const world = HttpWorld.layer({ zones: Amazon.ZONES }).pipe(Layer.provide(Amazon.layer))

layer(world, { excludeTestServices: true, timeout: "90 seconds" })("hooks of mail providers", (it) => {
  for (const provider of PROVIDERS)
    it.effect(`${provider}: events become those of the message, whatever their order and number`, function* () {
      const { call, mail } = yield* setUp()
      const { numbers, report } = yield* makeHook(provider)
      const orders = [
        ["complained", "bounced", "delivered", "delivered"],
        ["deferred", "bounced", "bounced", "complained", "delivered"],
      ] as const
      for (const [nth, order] of orders.entries()) {
        const to = `${provider}${nth}@example.org`
        const message = yield* mail(to)
        for (const kind of order)
          assert.strictEqual((yield* report(message.about(kind))).text, "Thank you\n", `${provider} ${kind}`)
        assert.strictEqual((yield* message.log).status, "complained", order.join())
        const { json } = yield* call("GET", `/v1/suppressions/${to}`)
        assert.include(["hard_bounce", "complaint"], json.reason)
        assert.strictEqual(json.email_id, message.id)
      }
      const bounced = yield* mail(`bounced-${provider}@example.org`)
      yield* report(bounced.about("bounced"))
      const { recipients } = yield* bounced.log
      assert.deepInclude(recipients[0], { status: "bounced" })
      assert.match(recipients[0].smtp.response, /exist|no such user/u)
      const read = yield* mail(`read-${provider}@example.org`)
      for (const kind of ["delivered", "opened", "opened", "clicked", "clicked"] as const)
        yield* report(read.about(kind))
      const seen = (log: { readonly opens: number; readonly clicks: number }) => log.opens + log.clicks
      while (seen(yield* read.log) < 2) yield* Effect.sleep("5 millis")
      assert.deepInclude(yield* read.log, { status: "delivered", opens: 1, clicks: 1 })
      const counted = yield* numbers
      assert.deepInclude(counted, { refused: 0, unmatched: 0, malformed: 0 })
      assert.isAtLeast(counted?.recorded ?? 0, 7)
      assert.isNotNull(counted?.last_event_at)
      assert.isAtMost(counted?.lag_ms ?? Infinity, 60_000)
    })

  it.effect("events about a forward are those of the message that was handed over, not of its author's", function* () {
    const { mail } = yield* setUp()
    const other = yield* setUp()
    // Mailgun names a message by its Message-ID alone.
    for (const provider of PROVIDERS.filter((each) => each !== "mailgun")) {
      const { report } = yield* makeHook(provider)
      const original = yield* mail(`author-${provider}@example.org`)
      const to = `forward-${provider}@example.org`
      const forward = yield* other.mail(to)
      yield* report({ ...original.about("bounced"), to, ref: forward.ref })
      assert.strictEqual((yield* forward.log).status, "bounced", provider)
      assert.strictEqual((yield* original.log).status, "queued", provider)
    }
  })

  // threat: provider-calls
  it.effect("calls that are forged, replayed, cut or too large change nothing and are counted", function* () {
    const { mail } = yield* setUp()
    const { request } = yield* HttpWorld
    const DAY_MS = 86_400_000
    for (const provider of PROVIDERS) {
      const { numbers, path, send } = yield* makeHook(provider)
      const message = yield* mail(`forged-${provider}@example.org`)
      const body = Calls.BODIES[provider](message.about("bounced"))
      const good = Calls.SIGNERS[provider](body, Date.now(), SECRETS[provider])
      const other = Calls.SIGNERS[provider](
        Calls.BODIES[provider]({ ...message.about("bounced"), to: "x@example.org", id: "other" }),
        Date.now(),
        SECRETS[provider],
      )
      const refusals: Array<readonly [number, number]> = []
      const refused = (expected: number, call: Calls.SignedCall) =>
        Effect.map(send(call), ({ status }) => refusals.push([expected, status]))
      // A signature over the body is checked before the body is parsed.
      const isSigned = provider === "sendgrid" || provider === "resend"
      const malformed = isSigned ? 401 : 400
      yield* refused(malformed, { ...good, raw: good.raw.slice(0, good.raw.length / 2) })
      yield* refused(malformed, { ...good, raw: "" })
      yield* refused(malformed, { ...good, raw: "[".repeat(50_000) })
      yield* refused(413, { ...good, raw: " ".repeat(MAX_CALL_BYTES + 1) })
      if (provider === "postmark" || provider === "sparkpost") {
        yield* refused(401, { ...good, headers: {} })
        yield* refused(401, Calls.SIGNERS[provider](body, Date.now(), "waybill:guess"))
      } else {
        yield* refused(401, Calls.SIGNERS[provider](body, Date.now() - DAY_MS, SECRETS[provider]))
        yield* refused(401, isSigned ? { ...good, raw: other.raw } : { ...good, raw: flipped(good.raw) })
        if (isSigned) yield* refused(401, { ...good, headers: {} })
      }
      assert.deepStrictEqual(
        refusals.map(([, status]) => status),
        refusals.map(([expected]) => expected),
        provider,
      )
      const counted = yield* numbers
      assert.deepInclude(counted, { recorded: 0, refused: refusals.length })
      assert.isNotNull(counted?.last_refusal)
      assert.strictEqual((yield* message.log).status, "queued")
      const guessed = `${path.slice(0, -1)}${path.endsWith("0") ? "1" : "0"}`
      for (const wrong of [guessed, `/hooks/${provider}/x`, path.replace(provider, "other")])
        assert.strictEqual((yield* request("POST", wrong, good)).status, 404)
      yield* ProviderHooks.remove(counted?.id ?? "")
      assert.strictEqual((yield* send(good)).status, 404)
    }
  })

  it.effect("sparkpost: gets an access token for its client, which proves calls for an hour", function* () {
    const { mail } = yield* setUp()
    const { request } = yield* HttpWorld
    const { numbers, path, send } = yield* makeHook("sparkpost")
    const [client_id = "", client_secret = ""] = SECRETS.sparkpost.split(":")
    const ask = (raw: string, type: string) =>
      request("POST", `${path}/access`, { raw, headers: { "content-type": type } })
    const json = (body: unknown) => ask(JSON.stringify(body), "application/json")
    const grants = [
      yield* json({ client_id, client_secret, grant_type: "client_credentials" }),
      yield* json({ client_id, client_secret }),
      yield* ask(
        String(new URLSearchParams({ client_id, client_secret, grant_type: "client_credentials" })),
        "application/x-www-form-urlencoded",
      ),
    ]
    const message = yield* mail("oauth@example.org")
    const { raw } = Calls.SIGNERS.sparkpost(Calls.BODIES.sparkpost(message.about("delivered")), Date.now())
    const call = (value: string) =>
      Effect.map(send({ raw, headers: { authorization: `Bearer ${value}` } }), ({ status }) => status)
    for (const { headers, json: grant, status } of grants) {
      assert.deepStrictEqual([status, grant.token_type, grant.expires_in], [200, "Bearer", AccessToken.LIFETIME_S])
      assert.strictEqual(headers.get("cache-control"), "no-store")
      assert.strictEqual(yield* call(grant.access_token), 200)
    }
    assert.strictEqual((yield* message.log).status, "delivered")
    const token = String(grants[0]?.json.access_token)
    const ended = AccessToken.make(SECRETS.sparkpost, Date.now() - AccessToken.LIFETIME_S * 1_000)
    const [, proof = ""] = token.split(".")
    for (const wrong of [ended, `9999999999.${proof}`, AccessToken.make("waybill:other", Date.now()), proof, ""])
      assert.strictEqual(yield* call(wrong), 401, wrong)
    for (const [expected, body] of [
      [401, { client_id, client_secret: "guess" }],
      [401, { client_id: "other", client_secret }],
      [400, { client_id, client_secret, grant_type: "password" }],
      [400, { client_id }],
      [400, [client_id]],
      [400, null],
      [413, { client_id, client_secret, more: " ".repeat(AccessToken.MAX_REQUEST_BYTES) }],
    ] as const)
      assert.strictEqual((yield* json(body)).status, expected)
    assert.deepInclude(yield* numbers, { refused: 12 })
    const other = yield* makeHook("postmark")
    assert.strictEqual((yield* request("POST", `${other.path}/access`, { raw: "{}" })).status, 404)
    // Postmark has no OAuth, so its password makes no token.
    const forged = AccessToken.make(SECRETS.postmark, Date.now())
    assert.strictEqual((yield* other.send({ raw: "{}", headers: { authorization: `Bearer ${forged}` } })).status, 401)
  })

  it.effect("the property holds: mangled, doubled and mixed calls are never an error of the service", function* () {
    const { mail } = yield* setUp()
    const message = yield* mail("mangled@example.org")
    for (const provider of PROVIDERS) {
      const { numbers, send } = yield* makeHook(provider)
      const bodies = PROVIDERS.map((each) => Calls.BODIES[each](message.about("opened")))
      const texts = JSON.stringify(Calls.BODIES[provider](message.about("opened")))
      const values = [null, 7, "text", [], {}, [[]], [null, {}], ...bodies, [bodies, bodies].flat(2), texts]
      for (const value of values) {
        const body = provider === "mailgun" ? { "event-data": value } : value
        const { status, text } = yield* send(Calls.SIGNERS[provider](body, Date.now(), SECRETS[provider]))
        assert.include([200, 400, 401], status, `${provider} ${JSON.stringify(value).slice(0, 200)} ${text}`)
      }
      assert.isAbove((yield* numbers)?.malformed ?? 0, 0)
    }
    assert.strictEqual((yield* message.log).status, "queued")
  })

  // threat: provider-calls
  it.effect("a subscription of Amazon SNS is confirmed at Amazon only, and certificates are checked", function* () {
    const { send } = yield* makeHook("ses")
    const confirmation = (SubscribeURL: string, at = Date.now()) =>
      Calls.notification(
        {
          Type: "SubscriptionConfirmation",
          Token: "2336412f37",
          Message: "You have chosen to subscribe",
          SubscribeURL,
        },
        at,
      )
    const path = "/?Action=ConfirmSubscription&Token=2336412f37"
    assert.strictEqual(
      (yield* send({ raw: confirmation(`https://${Calls.SNS_HOST}${path}`), headers: {} })).status,
      200,
    )
    assert.include(Amazon.asked, path)
    const before = Amazon.asked.length
    for (const url of [`https://evil.example/${path}`, `http://${Calls.SNS_HOST}/`, "https://127.0.0.1/", ""])
      assert.strictEqual((yield* send({ raw: confirmation(url), headers: {} })).status, 400, url)
    const forged = JSON.parse(Calls.notification({ Type: "Notification", Message: "{}" }, Date.now()))
    const at = (SigningCertURL: string) => send({ raw: JSON.stringify({ ...forged, SigningCertURL }), headers: {} })
    assert.strictEqual((yield* at("https://sns.us-east-1.amazonaws.com.evil.example/a.pem")).status, 400)
    assert.strictEqual(Amazon.asked.length, before)
    // The authority's own certificate is not one of Amazon SNS.
    assert.strictEqual((yield* at(`https://${Calls.SNS_HOST}/a-forged.pem`)).status, 401)
    const topic = yield* send({
      raw: Calls.notification({ Type: "Notification", Message: "{}", TopicArn: `${Calls.TOPIC}2` }, Date.now()),
      headers: {},
    })
    assert.strictEqual(topic.text, "Refused: topic_wrong. Nothing was changed.\n")
  })

  it.effect("mail that a provider took and does not send is bounced, and suppresses nothing", function* () {
    const { call, mail } = yield* setUp()
    for (const [provider, name] of [
      ["ses", "address on the account's list"],
      ["ses", "reject"],
      ["mailgun", "address that bounced before"],
      ["sendgrid", "dropped after a bounce"],
      ["sparkpost", "policy_rejection"],
      ["resend", "email.suppressed"],
    ] as const) {
      const { send } = yield* makeHook(provider)
      const to = `${provider}-${name.length}@example.org`
      const message = yield* mail(to)
      const form = Calls.FORMS[provider](message.about("bounced"))[name]
      yield* send(Calls.SIGNERS[provider](form?.body, Date.now(), SECRETS[provider]))
      assert.strictEqual((yield* message.log).status, "bounced", name)
      assert.strictEqual((yield* call("GET", `/v1/suppressions/${to}`)).status, 404, name)
    }
  })

  it.effect("ses: texts about the topic, and reports that a mail is no spam, change nothing", function* () {
    const { mail } = yield* setUp()
    const { numbers, send } = yield* makeHook("ses")
    const message = yield* mail("topic@example.org")
    const notify = (Message: string) =>
      send({ raw: Calls.notification({ Type: "Notification", Message }, Date.now()), headers: {} })
    const { "set up of a topic": setUpOfTopic } = Calls.FORMS.ses(message.about("delivered"))
    const complaint = Calls.BODIES.ses(message.about("complained"))
    for (const text of [
      "Successfully validated SNS topic for Amazon SES event publishing.",
      JSON.stringify(setUpOfTopic?.body),
      JSON.stringify(complaint).replace('"abuse"', '"not-spam"'),
    ])
      assert.strictEqual((yield* notify(text)).status, 200, text)
    assert.deepInclude(yield* numbers, { recorded: 0, malformed: 0, unmatched: 0, refused: 0 })
    assert.strictEqual((yield* message.log).status, "queued")
  })

  it.effect("the provider's id of a message is kept at the hand-over", function* () {
    const { send: sendMail } = yield* setUp()
    yield* makeHook("postmark")
    const ref = "b7bc2f4a-e38e-4336-af7d-e6c392c2f817"
    const transporter = createTransport({
      name: "provider",
      version: "1",
      // The worker also delivers the mail of the tests before.
      send: ({ data }, done) => {
        const isOurs = JSON.stringify(data.envelope).includes("kept@example.org")
        done(null, { envelope: { from: "", to: [] }, messageId: isOurs ? ref : "other" } as never)
      },
    })
    const transport = Layer.succeed(Transport, NodemailerTransport.make("provider", transporter))
    const { url } = yield* Database.Fresh
    yield* Layer.build(
      Worker.layer({ url, delivery: { returnPath: World.RETURN_PATH } }).pipe(
        Layer.provide([Transports.layer("relay", { relay: transport }), HandedOver.layer()]),
        Layer.provide(World.delivering),
      ),
    )
    const email = yield* sendMail({ to: "kept@example.org" })
    while ((yield* ProviderMessages.find([ref])).length === 0) yield* Effect.sleep("10 millis")
    assert.strictEqual((yield* ProviderMessages.find([ref]))[0]?.email_id, email)
  })
})

/** Changes a character in the middle of the signature. */
const flipped = (raw: string): string =>
  raw.replace(
    /("[Ss]ignature":"[^"]{10})(.)/u,
    (_, start: string, char: string) => `${start}${char === "0" ? "1" : "0"}`,
  )
