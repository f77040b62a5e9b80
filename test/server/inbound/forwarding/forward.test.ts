import { Context, Effect, Layer } from "effect"
import { authenticate } from "mailauth"
import { dkimSign } from "mailauth/lib/dkim/sign.js"
import { generateKeyPairSync, randomBytes } from "node:crypto"
import * as dns from "node:dns/promises"
import { assert, layer } from "../../../support/effectTest.ts"
import * as DnsServer from "../../../support/mail/dnsServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { freePort } from "../../../support/process/service.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"
import * as Sender from "../Sender.ts"

const RETURN_PATH = "bounces.waybill.test"
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const PUBLIC = publicKey.export({ format: "der", type: "spki" }).toString("base64")
const ZONES = {
  "example.org": { TXT: ["v=spf1 ip4:127.0.0.1 -all"], A: ["127.0.0.1"] },
  "s1._domainkey.example.org": { TXT: [`v=DKIM1; k=rsa; p=${PUBLIC}`] },
  "_dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] },
}

/** A running service, whose DNS has the keys of its customers. */
const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const names = yield* DnsServer.listen(ZONES)
  const port = yield* Effect.promise(freePort)
  const node = yield* ServiceProcess.start(url, {
    MAIL_PORT: String(port),
    RETURN_PATH_DOMAIN: RETURN_PATH,
    EHLO_NAME: "mx.waybill.test",
    DNS_SERVERS: names.server,
  })
  const customer = Effect.fnUntraced(function* (domain: string) {
    const { account_id, key } = yield* ServiceProcess.signUp(node, { domain })
    const call = (method: string, path: string, body?: unknown) =>
      Effect.promise(() => node.request(method, path, { key, ...(body === undefined ? {} : { body }) }))
    const { json } = yield* call("GET", `/v1/domains/${domain}`)
    for (const { name, purpose, value } of json.records)
      if (purpose === "dkim") names.set(name, { TXT: [value.match(/.{1,250}/gu)] })
    return { account_id, call, key }
  })
  const deliver = (raw: string | Buffer, to: string | ReadonlyArray<string>, from?: string) =>
    Effect.promise(() => Sender.send(port, raw, to, from))
  const resolver = new dns.Resolver()
  resolver.setServers([names.server])
  const judge = (raw: Buffer) =>
    Effect.promise(() =>
      authenticate(raw, {
        ip: "127.0.0.1",
        helo: "mx.test",
        sender: "x@bounces.waybill.test",
        mta: "mx.test",
        disableBimi: true,
        resolver: ((name: string, type: string) => resolver.resolve(name, type)) as never,
      }),
    )
  return { customer, deliver, judge }
})

class Running extends Context.Service<Running, Effect.Success<typeof start>>()("test/server/inbound/Forwarding") {
  static readonly layer = Layer.effect(Running, start)
}

type Call = Effect.Success<ReturnType<Effect.Success<typeof start>["customer"]>>["call"]

const mail = (headers: ReadonlyArray<string>, text = "Where is my order?") =>
  [
    "From: Ana <ana@example.org>",
    "To: Support <support@shop.test>",
    "Date: Sun, 29 Nov 2026 10:00:00 +0100",
    "Subject: Order",
    "MIME-Version: 1.0",
    ...headers,
    "",
    text,
    "",
  ].join("\r\n")

const signed = (raw: string) =>
  Effect.promise(async () => {
    const { signatures } = await dkimSign(Buffer.from(raw), {
      canonicalization: "simple/simple",
      algorithm: "rsa-sha256",
      signatureData: [
        {
          signingDomain: "example.org",
          selector: "s1",
          privateKey: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
        },
      ],
    } as never)
    return `${signatures}${raw}`
  })

/** Waits for the result of the routes and forwards of a mail. */
const settled = Effect.fnUntraced(function* (call: Call, id: string) {
  while (true) {
    const { json } = yield* call("GET", `/v1/inbound/${id}`)
    const results = [...json.routes, ...json.forwards].map(({ result }: { readonly result: string }) => result)
    if (!results.includes("pending")) return json
    yield* Effect.sleep("20 millis")
  }
})

const captured = Effect.fnUntraced(function* (call: Call, email_id: string) {
  const { json } = yield* call("GET", `/v1/sandbox/messages/${email_id}`)
  return { ...json, raw: Buffer.from(json.raw, "base64") }
})

layer(Running.layer.pipe(Layer.provideMerge(World.layer)), { excludeTestServices: true, timeout: "120 seconds" })(
  "mail that is forwarded",
  (it) => {
    it.effect("goes out as it came, sealed, and is judged whole by the next server and the one after it", function* () {
      const { customer, deliver, judge } = yield* Running
      const { call } = yield* customer("shop.test")
      const route = yield* call("POST", "/v1/inbound/routes", {
        match: { to: "support@shop.test" },
        action: { type: "forward", to: ["bo@example.com", "cy@example.net"] },
      })
      assert.strictEqual(route.status, 201, JSON.stringify(route.json))
      const raw = yield* signed(mail(["Message-ID: <f1@example.org>"]))
      const id = Sender.idIn(yield* deliver(raw, "support@shop.test"))
      const record = yield* settled(call, id)
      assert.lengthOf(record.routes, 1, JSON.stringify(record.routes))
      const [{ email_id, ...applied }] = record.routes
      assert.deepStrictEqual(applied, { id: route.json.id, action: "forward", result: "delivered", reason: null })
      const email = (yield* call("GET", `/v1/email/logs/${email_id}`)).json
      assert.deepInclude(email, {
        from: "Ana <ana@example.org>",
        to: ["bo@example.com", "cy@example.net"],
        subject: "Order",
        domain: "shop.test",
        message_id: "<f1@example.org>",
        forward_of: id,
        status: "delivered",
        content: null,
      })

      const first = yield* captured(call, email_id)
      assert.isTrue(first.raw.subarray(-raw.length).equals(Buffer.from(raw)))
      assert.match(first.mail_from, /^b-\w+-\w+@bounces\.waybill\.test$/u)
      const judged = yield* judge(first.raw)
      assert.deepStrictEqual(judged.arc && judged.arc.status.result, "pass")
      assert.deepStrictEqual(
        judged.dkim.results.map(({ status }) => status.result),
        ["pass"],
      )

      // A second hop: another customer of this installation, who forwards too.
      const other = yield* customer("other.test")
      const inner = yield* other.call("POST", "/v1/inbound/routes", {
        action: { type: "forward", to: ["di@example.com"] },
      })
      const second = Sender.idIn(yield* deliver(first.raw, "hi@other.test", first.mail_from))
      const next = yield* settled(other.call, second)
      assert.strictEqual(next.auth.arc, "pass")
      assert.deepInclude(next.routes[0], { id: inner.json.id, result: "delivered" })
      const twice = yield* judge((yield* captured(other.call, next.routes[0].email_id)).raw)
      assert.strictEqual(twice.arc && twice.arc.status.result, "pass")
      assert.strictEqual(twice.arc && twice.arc.i, 2)

      // Back at its first address, it is refused, whatever its server; a mail for others beside it is taken.
      assert.strictEqual(
        yield* deliver(first.raw, "support@shop.test", first.mail_from),
        "554 5.4.6 The mail was forwarded from this address before",
      )
      assert.match(yield* deliver(first.raw, ["support@shop.test", "else@shop.test"], first.mail_from), /^250 /u)
    })

    it.effect("keeps the files of a large mail byte for byte", function* () {
      const { customer, deliver, judge } = yield* Running
      const { call } = yield* customer("large.test")
      yield* call("POST", "/v1/inbound/routes", { action: { type: "forward", to: ["bo@example.com"] } })
      const file = randomBytes(6 * 1024 * 1024)
        .toString("base64")
        .replaceAll(/.{76}/gu, (line) => `${line}\r\n`)
      const raw = yield* signed(mail(["Message-ID: <l1@x>", "Content-Transfer-Encoding: base64"], file))
      // A busy database puts a large mail off.
      const reply = yield* World.until(deliver(raw, "hi@large.test"), (said) => !/^45\d /u.test(said))
      const record = yield* settled(call, Sender.idIn(reply))
      assert.deepInclude(record.routes[0], { result: "delivered" })
      const forwarded = yield* captured(call, record.routes[0].email_id)
      assert.isTrue(forwarded.raw.subarray(-raw.length).equals(Buffer.from(raw)))
      const { arc, dkim } = yield* judge(forwarded.raw)
      assert.deepStrictEqual([arc && arc.status.result, dkim.results[0]?.status.result], ["pass", "pass"])
    })

    it.effect("shows a target that bounces, and is not sent to it again", function* () {
      const { customer, deliver } = yield* Running
      const { call } = yield* customer("bounce.test")
      yield* call("POST", "/v1/inbound/routes", { action: { type: "forward", to: ["bounced+suppress@x.test"] } })
      const first = yield* settled(call, Sender.idIn(yield* deliver(mail(["Message-ID: <b1@x>"]), "a@bounce.test")))
      assert.deepInclude(first.routes[0], { action: "forward", result: "bounced", reason: null })
      const second = yield* settled(call, Sender.idIn(yield* deliver(mail(["Message-ID: <b2@x>"]), "a@bounce.test")))
      assert.deepInclude(second.routes[0], { result: "failed", email_id: null, reason: "all_recipients_suppressed" })

      // A report that comes later goes to our return path, and not to the author of the mail.
      const sent = yield* call(
        "POST",
        `/v1/inbound/${Sender.idIn(yield* deliver(mail([]), "a@bounce.test"))}/forward`,
        {
          to: "later@example.com",
        },
      )
      const bounced = () => Effect.map(call("GET", `/v1/email/logs/${sent.json.id}`), ({ json }) => json.status)
      while ((yield* bounced()) !== "delivered") yield* Effect.sleep("20 millis")
      const { mail_from } = yield* captured(call, sent.json.id)
      const report = [
        "From: MAILER-DAEMON@example.com",
        `To: ${mail_from}`,
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
        "",
        "--b",
        "Content-Type: message/delivery-status",
        "",
        "Reporting-MTA: dns; mx.example.com",
        "",
        "Final-Recipient: rfc822; later@example.com",
        "Action: failed",
        "Status: 5.1.1",
        "Diagnostic-Code: smtp; 550 5.1.1 No such user",
        "",
        "--b--",
        "",
      ].join("\r\n")
      assert.match(yield* deliver(report, mail_from, ""), /^250 2\.6\.0 /u)
      assert.strictEqual(yield* bounced(), "bounced")
    })

    it.effect("counts and is refused like every email", function* () {
      const { customer, deliver } = yield* Running
      const { account_id, call } = yield* customer("gone.test")
      const own = `any@${account_id.slice("acc_".length)}.in.${RETURN_PATH}`
      yield* call("POST", "/v1/inbound/routes", {
        action: { type: "forward", to: ["bo@example.com", "cy@example.com"] },
      })
      const usage = Effect.map(call("GET", "/v1/account"), ({ json }) => json.usage.emails)
      const before = yield* usage
      const first = yield* settled(call, Sender.idIn(yield* deliver(mail(["Message-ID: <q1@x>"]), own)))
      assert.deepInclude(first.routes[0], { result: "delivered" })
      assert.strictEqual((yield* call("GET", `/v1/email/logs/${first.routes[0].email_id}`)).json.domain, "gone.test")
      assert.strictEqual(yield* usage, before + 2)
      // Without a domain that may send, the mail is kept, and nothing leaves.
      yield* call("DELETE", "/v1/domains/gone.test")
      const second = yield* settled(call, Sender.idIn(yield* deliver(mail(["Message-ID: <q2@x>"]), own)))
      assert.deepInclude(second.routes[0], { result: "failed", email_id: null, reason: "domain_not_verified" })
    })

    it.effect("is a reply without In-Reply-To to the address that the email named", function* () {
      const { customer, deliver } = yield* Running
      const { call } = yield* customer("track.test")
      const email = {
        from: "Shop <hi@track.test>",
        to: "ana@example.org",
        subject: "Order",
        text: "?",
        reply_to: "Desk <desk@example.com>",
        reply_tracking: { forward: true },
      }
      const { json: sent } = yield* call("POST", "/v1/email/send", email)
      const status = Effect.map(call("GET", `/v1/email/logs/${sent.id}`), ({ json }) => json.status)
      while ((yield* status) !== "delivered") yield* Effect.sleep("20 millis")
      const { headers } = yield* captured(call, sent.id)
      const replyTo = headers.find(({ name }: { readonly name: string }) => name.toLowerCase() === "reply-to").value
      const [, address = ""] = /^Desk <(r-[^>]+)>$/u.exec(replyTo) ?? []
      const answer = yield* settled(
        call,
        Sender.idIn(yield* deliver(yield* signed(mail(["Message-ID: <t1@x>"])), address)),
      )
      assert.strictEqual(answer.email_id, sent.id)
      assert.deepInclude(answer.forwards[0], { result: "delivered", reason: null })
      const forward = yield* captured(call, answer.forwards[0].email_id)
      assert.deepStrictEqual(forward.recipients, ["desk@example.com"])
    })

    it.effect(
      "is no more than a result if it goes round, or answers itself, or the account may not send",
      function* () {
        const { customer, deliver } = yield* Running
        const { account_id, call } = yield* customer("round.test")
        const forward = (to: string, target: string) =>
          call("POST", "/v1/inbound/routes", { match: { to }, action: { type: "forward", to: [target] } })
        const reasonOf = (answer: {
          readonly status: number
          readonly json: { readonly error: { readonly reason: string } }
        }) => [answer.status, answer.json.error.reason]
        assert.deepStrictEqual(reasonOf(yield* forward("*@round.test", "a@round.test")), [422, "forward_loop"])
        assert.strictEqual((yield* forward("a@round.test", "b@round.test")).status, 201)
        assert.strictEqual((yield* forward("b@round.test", "c@round.test")).status, 201)
        const third = forward("c@round.test", `any@${account_id.slice("acc_".length)}.in.${RETURN_PATH}`)
        const open = yield* third
        assert.strictEqual(open.status, 201)
        const closing = forward(`any@${account_id.slice("acc_".length)}.in.${RETURN_PATH}`, "b@round.test")
        assert.deepStrictEqual(reasonOf(yield* closing), [422, "forward_loop"])
        const changed = yield* call("PATCH", `/v1/inbound/routes/${open.json.id}`, {
          action: { type: "forward", to: ["a@round.test"] },
        })
        assert.deepStrictEqual(reasonOf(changed), [422, "forward_loop"])

        // An auto-reply of somebody at the target's own domain.
        yield* forward("auto@round.test", "bo@example.org")
        const answer = mail(["Message-ID: <a1@example.org>", "Auto-Submitted: auto-replied"])
        const automatic = yield* settled(call, Sender.idIn(yield* deliver(answer, "auto@round.test")))
        assert.deepInclude(automatic.routes[0], { result: "failed", email_id: null, reason: "automatic" })

        const found = Sender.idIn(yield* deliver(mail(["Message-ID: <a2@x>"]), "free@round.test"))
        const back = yield* call("POST", `/v1/inbound/${found}/forward`, { to: "free@round.test" })
        assert.deepStrictEqual(reasonOf(back), [422, "forward_loop"])
        const sent = yield* call("POST", `/v1/inbound/${found}/forward`, { to: "eva@example.org" })
        assert.deepInclude(sent.json, { status: "queued" })
        const record = yield* settled(call, found)
        assert.deepStrictEqual(record.forwards, [{ result: "delivered", email_id: sent.json.id, reason: null }])
        yield* call("DELETE", `/v1/inbound/${found}`)
        assert.strictEqual((yield* call("POST", `/v1/inbound/${found}/forward`, { to: "eva@example.org" })).status, 404)
      },
    )
  },
)
