import { Context, Effect, Layer } from "effect"
import { dkimSign } from "mailauth/lib/dkim/sign.js"
import { generateKeyPairSync } from "node:crypto"
import { assert, layer } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"
import * as Sender from "./Sender.ts"

const RETURN_PATH = "bounces.waybill.test"
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const PUBLIC = publicKey.export({ format: "der", type: "spki" }).toString("base64")
const ZONES = {
  "example.org": { TXT: ["v=spf1 ip4:127.0.0.1 -all"], A: ["127.0.0.1"] },
  "s1._domainkey.example.org": { TXT: [`v=DKIM1; k=rsa; p=${PUBLIC}`] },
  "_dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] },
}

const FILE = Buffer.from("%PDF-1.4\r\nnot a real one\n")

/** A running service, and a customer of it. */
const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const dns = yield* DnsServer.listen(ZONES)
  const receiver = yield* WebhookReceiver.listen()
  const port = yield* Effect.promise(freePort)
  const node = yield* ServiceProcess.start(url, {
    MAIL_PORT: String(port),
    RETURN_PATH_DOMAIN: RETURN_PATH,
    EHLO_NAME: "mx.waybill.test",
    DNS_SERVERS: dns.server,
    WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
  })
  const { account_id, key, post } = yield* ServiceProcess.signUp(node, { domain: "shop.test" })
  yield* post("/v1/webhooks", { url: receiver.url, events: ["email.received"] })
  const call = (method: string, path: string, body?: unknown) =>
    Effect.promise(() => node.request(method, path, { key, ...(body === undefined ? {} : { body }) }))
  const download = (path: string) =>
    Effect.promise(async () => {
      const answer = await fetch(path.startsWith("http") ? path : `${node.url}${path}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
    })
  const deliver = (raw: string | Buffer, to: string | ReadonlyArray<string>, from?: string) =>
    Effect.promise(() => Sender.send(port, raw, to, from))
  return { account_id, call, deliver, download, node, post, receiver }
})

class Running extends Context.Service<Running, Effect.Success<typeof start>>()("test/server/inbound/Running") {
  static readonly layer = Layer.effect(Running, start)
}

const mail = (headers: ReadonlyArray<string>, ...lines: ReadonlyArray<string>) =>
  [
    "From: Ana <ana@example.org>",
    "To: Support <support+42@shop.test>",
    "Date: Sun, 29 Nov 2026 10:00:00 +0100",
    "MIME-Version: 1.0",
    ...headers,
    "",
    ...lines,
    "",
  ].join("\r\n")

const PARTS = mail(
  [
    "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
    "Message-ID: <one@example.org>",
    'Content-Type: multipart/mixed; boundary="b"',
  ],
  "--b",
  'Content-Type: text/plain; charset="utf-8"',
  "",
  "It works.",
  "",
  "On Sun, Nov 29, 2026 at 9:00 AM Shop <hi@shop.test> wrote:",
  "> Does it?",
  "--b",
  'Content-Type: application/pdf; name="a.pdf"',
  "Content-Transfer-Encoding: base64",
  'Content-Disposition: attachment; filename="a.pdf"',
  "",
  FILE.toString("base64"),
  "--b--",
)

const signed = Effect.promise(async () => {
  const { signatures } = await dkimSign(Buffer.from(PARTS), {
    canonicalization: "relaxed/relaxed",
    algorithm: "rsa-sha256",
    signatureData: [
      {
        signingDomain: "example.org",
        selector: "s1",
        privateKey: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
      },
    ],
  } as never)
  return `${signatures}${PARTS}`
})

layer(Running.layer.pipe(Layer.provideMerge(World.layer)), { excludeTestServices: true, timeout: "120 seconds" })(
  "mail that comes in",
  (it) => {
    it.effect("is recorded with its parts, judged, kept as it came and told to webhooks", function* () {
      const { account_id, call, deliver, download, receiver } = yield* Running
      const raw = yield* signed
      const reply = yield* deliver(raw, "support+42@shop.test")
      assert.match(reply, /^250 2\.0\.0 Received as inb_/u)
      const id = Sender.idIn(reply)

      const { json: record, status } = yield* call("GET", `/v1/inbound/${id}`)
      assert.strictEqual(status, 200, JSON.stringify(record))
      assert.deepInclude(record, {
        object: "inbound_email",
        id,
        status: "received",
        livemode: true,
        email_id: null,
        from: { address: "ana@example.org", name: "Ana" },
        to: [{ address: "support+42@shop.test", name: "Support" }],
        subject: "Grüße",
        date: "2026-11-29T09:00:00.000Z",
        message_id: "<one@example.org>",
        mailbox_hash: "42",
        domain: "shop.test",
        automatic: null,
        complete: true,
        size_bytes: raw.length,
        stripped_text: "It works.",
        html: null,
      })
      assert.deepStrictEqual(record.auth, {
        spf: "pass",
        dkim: [{ domain: "example.org", result: "pass" }],
        dmarc: "pass",
        arc: "none",
      })
      assert.deepInclude(record.envelope, {
        from: "ana@example.org",
        to: ["support+42@shop.test"],
        remote_ip: "127.0.0.1",
        tls: null,
      })
      assert.include(record.text, "> Does it?")
      const [file] = record.attachments
      assert.deepInclude(file, {
        id: "att_1",
        filename: "a.pdf",
        content_type: "application/pdf",
        size_bytes: FILE.length,
      })
      assert.deepStrictEqual((yield* download(`/v1/inbound/${id}/raw`)).bytes.toString(), raw)
      assert.deepStrictEqual((yield* download(`/v1/inbound/${id}/attachments/att_1`)).bytes, FILE)
      assert.deepStrictEqual((yield* download(file.url)).bytes, FILE)
      assert.strictEqual((yield* download(`/v1/inbound/${id}/attachments/att_2`)).status, 404)

      while (receiver.calls.length === 0) yield* Effect.sleep("20 millis")
      const { data, type } = JSON.parse(receiver.calls[0]?.body ?? "")
      assert.strictEqual(type, "email.received")
      assert.deepInclude(data, { id, stripped_text: "It works.", subject: "Grüße", mailbox_hash: "42" })
      assert.deepStrictEqual((yield* download(data.attachments[0].url)).bytes, FILE)

      // The same mail again is the same record: its server has not heard the answer.
      assert.strictEqual(Sender.idIn(yield* deliver(raw, "support+42@shop.test")), id)
      // An address that needs no domain.
      const token = account_id.slice("acc_".length)
      const own = Sender.idIn(yield* deliver(raw, `any@${token}.in.${RETURN_PATH}`))
      assert.notStrictEqual(own, id)
      const { json: list } = yield* call("GET", "/v1/inbound?q=gr%C3%BC")
      assert.deepStrictEqual(
        list.data.map((each: { readonly id: string }) => each.id),
        [own, id],
      )
      assert.strictEqual((yield* call("GET", "/v1/inbound?to=nobody@shop.test")).json.data.length, 0)
      assert.strictEqual((yield* call("GET", `/v1/inbound?before=${id}&limit=1`)).json.data[0].id, own)

      assert.strictEqual((yield* call("DELETE", `/v1/inbound/${id}`)).status, 200)
      assert.strictEqual((yield* call("GET", `/v1/inbound/${id}`)).status, 404)
      assert.strictEqual((yield* download(`/v1/inbound/${id}/raw`)).status, 404)
      assert.strictEqual((yield* download(file.url)).status, 404)
    })

    it.effect("joins the thread of the email that it answers", function* () {
      const { call, deliver, post } = yield* Running
      const email = { from: "hi@shop.test", to: "ana@example.org", subject: "Your order", text: "Is it there?" }
      const { json: sent } = yield* post("/v1/email/send", email)
      const message_id = `<${sent.id}@shop.test>`
      const answer = (id: string, to: string) =>
        mail([`Message-ID: <${id}@example.org>`, `In-Reply-To: ${to}`, "Subject: Re: Your order"], "Yes.")
      const first = Sender.idIn(yield* deliver(answer("a", message_id), "hi@shop.test"))
      const second = Sender.idIn(yield* deliver(answer("b", "<a@example.org>"), "hi@shop.test"))
      const { json: record } = yield* call("GET", `/v1/inbound/${second}`)
      const { json: thread } = yield* call("GET", `/v1/threads/${record.thread_id}`)
      assert.deepStrictEqual(
        thread.data.map((each: { readonly id: string; readonly direction: string }) => [each.direction, each.id]),
        [
          ["sent", sent.id],
          ["received", first],
          ["received", second],
        ],
      )
      assert.strictEqual((yield* call("GET", `/v1/inbound/${first}`)).json.email_id, sent.id)
      assert.strictEqual((yield* call("GET", `/v1/inbound?email_id=${sent.id}`)).json.data[0].id, first)
    })

    it.effect("is refused for addresses that nobody has, in circles, and too large", function* () {
      const { deliver } = yield* Running
      const one = mail(["Message-ID: <c@example.org>"], "Hi")
      assert.match(yield* deliver(one, "x@elsewhere.test"), /^550 5\.1\.1 /u)
      assert.match(yield* deliver(one, "x@in.bounces.waybill.test"), /^550 5\.1\.1 /u)
      const passed = Array.from({ length: 51 }, (_, nth) => `Received: from mx${nth}.example.org`)
      assert.match(yield* deliver(mail(passed, "Hi"), "x@shop.test"), /^554 5\.4\.6 /u)
      assert.match(yield* deliver(Buffer.alloc(26 * 1024 * 1024, "x\r\n"), "x@shop.test"), /^552 5\.3\.4 /u)
    })

    it.effect("is refused, dropped or told to one webhook by routes", function* () {
      const { deliver, node, receiver } = yield* Running
      const { key, post: create } = yield* ServiceProcess.signUp(node, { domain: "routed.test" })
      const get = (path: string) => Effect.promise(() => node.request("GET", path, { key }))
      const other = yield* WebhookReceiver.listen()
      yield* create("/v1/webhooks", { url: receiver.url, events: ["email.received"] })
      const { json: named } = yield* create("/v1/webhooks", { url: other.url, events: ["email.bounced"] })
      const route = (to: string, action: object) => create("/v1/inbound/routes", { match: { to }, action })
      yield* route("no@routed.test", { type: "reject", message: "Write to support" })
      yield* route("sink@routed.test", { type: "drop" })
      yield* route("one@routed.test", { type: "webhook", webhook_id: named.id })

      const one = (id: string) => mail([`Message-ID: <${id}@example.org>`, "Subject: Routed"], "Hi")
      assert.strictEqual(yield* deliver(one("r1"), "no@routed.test"), "550 5.7.1 Write to support")
      // Its server may try again; the answer is the same, and so is the record.
      assert.strictEqual(yield* deliver(one("r1"), "no@routed.test"), "550 5.7.1 Write to support")
      const { json: rejected } = yield* get("/v1/inbound?status=rejected")
      assert.lengthOf(rejected.data, 1)
      // Another account takes it.
      const shared = Sender.idIn(yield* deliver(one("r2"), ["no@routed.test", "hi@shop.test"]))
      assert.match(shared, /^inb_/u)
      assert.match(yield* deliver(one("r3"), "sink@routed.test"), /^250 /u)
      const told = Sender.idIn(yield* deliver(one("r4"), "one@routed.test"))
      while (other.calls.length === 0) yield* Effect.sleep("20 millis")
      const [{ body } = { body: "" }] = other.calls
      assert.strictEqual(JSON.parse(body).data.id, told)
      const routesOf = Effect.map(get(`/v1/inbound/${told}`), ({ json }) => json.routes)
      while ((yield* routesOf)[0].result === "pending") yield* Effect.sleep("20 millis")
      assert.deepInclude((yield* routesOf)[0], { action: "webhook", result: "delivered" })
      yield* create(`/v1/inbound/${told}/replay`, {})
      while (other.calls.length === 1) yield* Effect.sleep("20 millis")
      // The same event, for the same webhook alone.
      const events = other.calls.map(({ body }) => JSON.parse(body).id)
      assert.deepStrictEqual(events, [events[0], events[0]])
      const subjects = receiver.calls.map(({ body }) => JSON.parse(body).data.envelope.to[0])
      assert.notIncludeMembers(subjects, ["no@routed.test", "sink@routed.test", "one@routed.test"])
    })

    it.effect("is made up by a test", function* () {
      const { call, post, receiver } = yield* Running
      const { json, status } = yield* post("/v1/test/inbound", {
        from: "Ana <ana@example.org>",
        to: "support@shop.test",
        subject: "Help",
        text: "Please.",
      })
      assert.strictEqual(status, 201, JSON.stringify(json))
      assert.strictEqual((yield* call("GET", `/v1/inbound/${json.id}`)).json.text.trim(), "Please.")
      const isTold = () => receiver.calls.some(({ body }) => JSON.parse(body).data.id === json.id)
      while (!isTold()) yield* Effect.sleep("20 millis")
    })
  },
)
