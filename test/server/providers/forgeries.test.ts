import { Layer } from "effect"
import { createHmac, createSign, generateKeyPairSync } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import * as AccessToken from "../../../apps/server/src/providers/AccessToken.ts"
import { PROVIDERS } from "../../../apps/server/src/providers/formats/ProviderEvent.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as Amazon from "./amazon.ts"
import * as Calls from "./calls.ts"
import { makeHook, SECRETS, setUp } from "./support.ts"

const MINUTE_MS = 60_000
const world = HttpWorld.layer({ zones: Amazon.ZONES }).pipe(Layer.provide(Amazon.layer))

type Forge = (good: Calls.SignedCall) => Calls.SignedCall

/** Replaces fields of a body in JSON. */
const withFields =
  (change: (body: Record<string, unknown>) => Record<string, unknown>): Forge =>
  (good) => ({ ...good, raw: JSON.stringify(change(JSON.parse(good.raw) as Record<string, unknown>)) })

const withHeader =
  (name: string, change: (value: string) => string): Forge =>
  (good) => ({ ...good, headers: { ...good.headers, [name]: change(good.headers[name] ?? "") } })

const without =
  (name: string): Forge =>
  ({ headers, raw }) => ({
    raw,
    headers: Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name)),
  })

/** Values in the place of a field of a proof. */
const VALUES: ReadonlyArray<unknown> = [undefined, null, "", " ", 0, true, [], {}, ["x"], { toString: "x" }]

const signed = (body: Record<string, unknown>, change: Record<string, unknown>) => ({
  ...body,
  signature: { ...(body["signature"] as object), ...change },
})

const other = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
const curve = generateKeyPairSync("ec", { namedCurve: "secp384r1" })
const SENDGRID = "x-twilio-email-event-webhook-"
const now = () => String(Math.floor(Date.now() / 1000))

const authorization: Readonly<Record<string, Forge>> = {
  "no header": without("authorization"),
  "an empty header": withHeader("authorization", () => ""),
  "a scheme alone": withHeader("authorization", () => "Basic "),
  "an empty password": withHeader("authorization", () => "Basic Og=="),
  "another scheme": withHeader("authorization", (value) => value.replace("Basic", "Digest")),
  "a cut password": withHeader("authorization", (value) => value.slice(0, -4)),
  "a longer password": withHeader("authorization", (value) => `${value.replace(/=+$/u, "")}AAAA`),
  "a password twice": withHeader("authorization", (value) => `${value}, ${value}`),
  "a password of another hook": withHeader("authorization", () => "Basic d2F5YmlsbDpvdGhlcg=="),
  "a token by an empty secret": withHeader("authorization", () => `Bearer ${AccessToken.make("", Date.now())}`),
}

/** Calls that somebody makes who has seen a genuine one, by provider. */
const FORGERIES: Readonly<Record<(typeof PROVIDERS)[number], Readonly<Record<string, Forge>>>> = {
  ses: {
    ...Object.fromEntries(
      ["Type", "SignatureVersion", "Signature", "SigningCertURL", "Timestamp", "TopicArn"].flatMap((field) =>
        [...VALUES, "constructor", "__proto__"].map((value) => [
          `${field} ${JSON.stringify(value)}`,
          withFields((body) => ({ ...body, [field]: value })),
        ]),
      ),
    ),
    "another message": withFields((body) => ({
      ...body,
      Message: String(body["Message"]).replace("Permanent", "permanent"),
    })),
    "a subject that was not signed": withFields((body) => ({ ...body, Subject: "x" })),
    "version 1 of the signature": withFields((body) => ({ ...body, SignatureVersion: "1" })),
  },
  mailgun: {
    "no proof": withFields(({ signature: _, ...body }) => body),
    "a proof as a list": withFields((body) => ({ ...body, signature: [body["signature"]] })),
    ...Object.fromEntries(
      ["signature", "timestamp", "token"].flatMap((field) =>
        VALUES.map((value) => [
          `${field} ${JSON.stringify(value)}`,
          withFields((body) => signed(body, { [field]: value })),
        ]),
      ),
    ),
    "a signature in capitals": withFields((body) =>
      signed(body, { signature: String((body["signature"] as Record<string, unknown>)["signature"]).toUpperCase() }),
    ),
    "the key of another account": withFields((body) => {
      const [timestamp, token] = [now(), "0123456789abcdef0123456789"]
      const signature = createHmac("sha256", "key-other")
        .update(timestamp + token)
        .digest("hex")
      return { ...body, signature: { timestamp, token, signature } }
    }),
    "an empty key": withFields((body) => {
      const [timestamp, token] = [now(), "0123456789abcdef0123456789"]
      const signature = createHmac("sha256", "")
        .update(timestamp + token)
        .digest("hex")
      return { ...body, signature: { timestamp, token, signature } }
    }),
    "a time of another form": withFields((body) => {
      const timestamp = `${now()}e0`
      const token = "0123456789abcdef0123456789"
      const signature = createHmac("sha256", SECRETS.mailgun)
        .update(timestamp + token)
        .digest("hex")
      return { ...body, signature: { timestamp, token, signature } }
    }),
  },
  sendgrid: {
    "no signature": without(`${SENDGRID}signature`),
    "no time": without(`${SENDGRID}timestamp`),
    "an empty signature": withHeader(`${SENDGRID}signature`, () => ""),
    "a signature that is no DER": withHeader(`${SENDGRID}signature`, () => Buffer.alloc(70, 0x30).toString("base64")),
    "a signature of zeros": withHeader(`${SENDGRID}signature`, () =>
      Buffer.from("3006020100020100", "hex").toString("base64"),
    ),
    "two signatures": withHeader(`${SENDGRID}signature`, (value) => `x, ${value}`),
    "a later time": withHeader(`${SENDGRID}timestamp`, (value) => String(Number(value) + 1)),
    "a time with a sign": withHeader(`${SENDGRID}timestamp`, (value) => `+${value}`),
    "the key of another account": (good) => ({
      ...good,
      headers: {
        ...good.headers,
        [`${SENDGRID}signature`]: createSign("sha256")
          .update(good.headers[`${SENDGRID}timestamp`] + good.raw)
          .sign(other.privateKey, "base64"),
      },
    }),
    "a key of another curve": (good) => ({
      ...good,
      headers: {
        ...good.headers,
        [`${SENDGRID}signature`]: createSign("sha256")
          .update(good.headers[`${SENDGRID}timestamp`] + good.raw)
          .sign(curve.privateKey, "base64"),
      },
    }),
    "the same body written anew": (good) => ({ ...good, raw: JSON.stringify(JSON.parse(good.raw)) }),
    "a digit of the time in the body": (good) => ({
      raw: `${good.headers[`${SENDGRID}timestamp`]?.slice(-1)}${good.raw}`,
      headers: { ...good.headers, [`${SENDGRID}timestamp`]: good.headers[`${SENDGRID}timestamp`]?.slice(0, -1) ?? "" },
    }),
  },
  resend: {
    "no signature": without("svix-signature"),
    "no id": without("svix-id"),
    "no time": without("svix-timestamp"),
    "an empty signature": withHeader("svix-signature", () => ""),
    "a version alone": withHeader("svix-signature", () => "v1,"),
    "another version": withHeader("svix-signature", (value) => value.replaceAll("v1,", "v1a,")),
    "no version": withHeader("svix-signature", (value) => value.replaceAll("v1,", "")),
    "a signature twice": withHeader("svix-signature", (value) => `${value}, ${value},`),
    "another id": withHeader("svix-id", (value) => `${value}x`),
    "a later time": withHeader("svix-timestamp", (value) => String(Number(value) + 1)),
    "the same body written anew": (good) => ({ ...good, raw: JSON.stringify(JSON.parse(good.raw), null, 1) }),
    "an id that takes the time": (good) => ({
      ...good,
      headers: {
        ...good.headers,
        "svix-id": `${good.headers["svix-id"]}.${good.headers["svix-timestamp"]}`,
        "svix-timestamp": "",
      },
    }),
    "an empty key": (good) => ({
      ...good,
      headers: {
        ...good.headers,
        "svix-signature": `v1,${createHmac("sha256", "").update(`${good.headers["svix-id"]}.${good.headers["svix-timestamp"]}.${good.raw}`).digest("base64")}`,
      },
    }),
  },
  postmark: authorization,
  sparkpost: authorization,
}

layer(world, { excludeTestServices: true, timeout: "120 seconds" })("forged calls of mail providers", (it) => {
  for (const provider of PROVIDERS)
    it.effect(`${provider}: change nothing, and are refused`, function* () {
      const { mail } = yield* setUp()
      const { send } = yield* makeHook(provider)
      const message = yield* mail(`forgery-${provider}@example.org`)
      const body = Calls.BODIES[provider](message.about("bounced"))
      for (const [name, forge] of Object.entries(FORGERIES[provider])) {
        const good = Calls.SIGNERS[provider](body, Date.now(), SECRETS[provider])
        const { status, text } = yield* send(forge(good))
        assert.include([400, 401], status, `${name}: ${text}`)
      }
      assert.strictEqual((yield* message.log).status, "queued")
      // The call that all of them were made of is genuine.
      assert.strictEqual((yield* send(Calls.SIGNERS[provider](body, Date.now(), SECRETS[provider]))).status, 200)
      assert.strictEqual((yield* message.log).status, "bounced")
    })

  for (const provider of PROVIDERS)
    // threat: provider-calls
    it.effect(`${provider}: are refused if the secret of the hook is lost`, function* () {
      const { mail } = yield* setUp()
      const { id, send } = yield* makeHook(provider)
      const sql = yield* Sql
      yield* sql`DELETE FROM secrets WHERE id = ${id}`
      const message = yield* mail(`lost-${provider}@example.org`)
      const body = Calls.BODIES[provider](message.about("bounced"))
      const good = Calls.SIGNERS[provider](body, Date.now(), SECRETS[provider])
      const empty = FORGERIES[provider]["an empty key"] ?? FORGERIES[provider]["a token by an empty secret"]
      if (empty === undefined) return
      assert.include([401, 503], (yield* send(empty(good))).status)
      assert.strictEqual((yield* message.log).status, "queued")
    })

  // threat: provider-calls
  it.effect("mailgun: a proof that was used proves its own event only", function* () {
    const { mail } = yield* setUp()
    const { send } = yield* makeHook("mailgun")
    const [first, second] = [yield* mail("first@example.org"), yield* mail("second@example.org")]
    const call = Calls.SIGNERS.mailgun(Calls.BODIES.mailgun(first.about("delivered")), Date.now())
    assert.strictEqual((yield* send(call)).status, 200)
    // Mailgun repeats a call with its first proof.
    assert.strictEqual((yield* send(call)).status, 200)
    const { signature } = JSON.parse(call.raw) as { readonly signature: unknown }
    for (const about of [second.about("bounced"), first.about("complained")]) {
      const raw = JSON.stringify({ ...(Calls.BODIES.mailgun(about) as object), signature })
      const { status, text } = yield* send({ raw, headers: {} })
      assert.deepStrictEqual([status, text], [401, "Refused: token_used. Nothing was changed.\n"])
    }
    assert.strictEqual((yield* first.log).status, "delivered")
    assert.strictEqual((yield* second.log).status, "queued")
  })

  it.effect("names that every object has, NUL and long texts are read as what they are", function* () {
    const { mail } = yield* setUp()
    const message = yield* mail("odd@example.org")
    for (const provider of PROVIDERS) {
      const { numbers, send } = yield* makeHook(provider)
      const text = JSON.stringify(Calls.BODIES[provider](message.about("clicked")))
      const bodies = [
        ...["constructor", "valueOf", "__proto__"].map((name) =>
          text.replaceAll(/"(?:[Cc]lick|clicked|Click|email\.clicked)"/gu, JSON.stringify(name)),
        ),
        text.replaceAll(message.ref, `${message.ref}\\u0000`),
        text.replaceAll("https://shop.test/o?id=7", `https://shop.test/\\u0000${"\\u20ac".repeat(3_000)}`),
      ]
      for (const body of bodies) {
        const { status } = yield* send(Calls.SIGNERS[provider](JSON.parse(body), Date.now(), SECRETS[provider]))
        assert.strictEqual(status, 200, `${provider} ${body.slice(0, 300)}`)
      }
      assert.deepInclude(yield* numbers, { refused: 0 })
    }
  })

  it.effect("an old call is refused, however it was proven", function* () {
    for (const provider of ["ses", "mailgun", "sendgrid", "resend"] as const) {
      const { mail } = yield* setUp()
      const { send } = yield* makeHook(provider)
      const message = yield* mail(`old-${provider}@example.org`)
      const body = Calls.BODIES[provider](message.about("bounced"))
      const MAX_MINUTES = { ses: 120, mailgun: 12 * 60, sendgrid: 15, resend: 15 }[provider]
      for (const minutes of [-MAX_MINUTES - 1, MAX_MINUTES + 1]) {
        const old = Calls.SIGNERS[provider](body, Date.now() + minutes * MINUTE_MS, SECRETS[provider])
        assert.strictEqual((yield* send(old)).text, "Refused: signature_too_old. Nothing was changed.\n", provider)
      }
      assert.strictEqual((yield* message.log).status, "queued")
    }
  })
})
