import { Effect, Layer } from "effect"
import * as InboundMail from "../../../../apps/server/src/smtp/InboundMail.ts"
import * as MailListener from "../../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { dnsZones } from "../../../support/mail/dnsZones.ts"
import { HttpWorld, reasonOf, signUp } from "../../../support/world/HttpWorld.ts"
import * as World from "../../../support/world/World.ts"
import * as Smtp from "../../smtp/support.ts"
import { idIn } from "../Sender.ts"

const { domain, secretKey } = World.RETURN_PATH

const connect = Effect.gen(function* () {
  const inbound = InboundMail.make({ days: 30, name: "mx.waybill.test", maxBytes: 1024 * 1024 })
  const returnPath = { domain, secretKeys: [secretKey] }
  const client = yield* Smtp.raw(
    yield* MailListener.listen({ host: "127.0.0.1", port: 0, name: "mx.waybill.test", returnPath, inbound }),
  )
  yield* Effect.promise(() => client.say("EHLO mx.example.org"))
  const say = (line: string) => Effect.promise(() => client.say(line))
  const receive = Effect.fnUntraced(function* (sender: string, to: string, author = "ana@example.org") {
    for (const line of [`MAIL FROM:${sender}`, `RCPT TO:<${to}>`]) assert.match(yield* say(line), /^250 /u, line)
    yield* say("DATA")
    return idIn(yield* say(`From: ${author}\r\nSubject: Order\r\n\r\nWhere is it?\r\n.`))
  })
  return { receive, say }
})

/** Senders as Postfix reads them by default, and how they are shown. */
const SENDERS: ReadonlyArray<readonly [sender: string, shown: string]> = [
  ["<a@my_host.example.com>", "a@my_host.example.com"],
  ["<_a@_b._c_.example.com>", "_a@_b._c_.example.com"],
  ["<first..last@docomo.ne.jp>", "first..last@docomo.ne.jp"],
  ["<first.last.@docomo.ne.jp>", "first.last.@docomo.ne.jp"],
  ["<.first@docomo.ne.jp>", ".first@docomo.ne.jp"],
  ['<"first..last"@docomo.ne.jp>', '"first..last"@docomo.ne.jp'],
  ['<"John Doe"@example.com> SIZE=100', '"John Doe"@example.com'],
  ['<"a@b"@example.com>', '"a@b"@example.com'],
  ['<"a\\"b"@example.com>', '"a\\"b"@example.com'],
  ["<a@example.com.>", "a@example.com"],
  ["<root>", "root"],
  ["a@example.com BODY=8BITMIME", "a@example.com"],
]

const HOSTILE: ReadonlyArray<string> = [
  "<a@b.c",
  "a@b.c>",
  "<<a@b.c>",
  "<a@b.c>>",
  "<a@b.c><d@e.f>",
  "<a<b>@c.d>",
  '<"a>b"@c.d>',
  '<"a<b"@c.d>',
  "<a b@c.d>",
  "<a@b c.d>",
  "< a@b.c>",
  "<a@b.c >",
  "<a\tb@c.d>",
  "<a\u00a0b@c.d>",
  "<a\u2028b@c.d>",
  "a b@c.d",
  "<a\u0000@b.c>",
  '<"a\u0000b"@c.d>',
  "<a@b\u0000.c>",
  "<a\u0001@b.c>",
  "<a\u001b[2J@b.c>",
  "<a\u007f@b.c>",
  '<"a\rb"@c.d>',
  "<a\rRCPT TO:<x@y.z>@b.c>",
  "<a@b.c>\rRCPT TO:<x@y.z>",
  '<"a\tb"@c.d>',
  "<a\u0085@b.c>",
  "<a@b@c.d>",
  "<@b.c>",
  "<a@>",
  "<@>",
  "<@@>",
  "<a@.b.c>",
  "<a@b..c>",
  "<a@b.c..>",
  "<a@b-.c>",
  "<a@b/c.d>",
  "<a@b.c;d>",
  "<a@b,c.d>",
  "<a@b:25>",
  "<a@[b]>",
  "<a@[1.2.3]>",
  "<a@[IPv6:x]>",
  "<a@b(c).d>",
  "<a@b%0ac.d>",
  '<"a@b.c>',
  '<a"@b.c>',
  '<a"b@c.d>',
  '<"a""@c.d>',
  '<"a\\"@c.d>',
  "<a\u200b@b.c>",
  "<a@b\ufeff.c>",
  `<${"a".repeat(250)}@b.c>`,
  `<${'"'.repeat(15_001)}@b.c>`,
  "<".repeat(15_000),
  `${"a@".repeat(7_000)}"`,
  `<${'"\\'.repeat(7_000)}>`,
  `<@${",@a".repeat(5_000)}a@b.c>`,
]

layer(HttpWorld.layer().pipe(Layer.provideMerge(dnsZones({}))), { excludeTestServices: true })(
  "the sender of a received mail",
  (it) => {
    it.effect("may be what Postfix takes, and is shown as it was given", function* () {
      const { call } = yield* signUp({ domains: ["shop.test"] })
      const { receive } = yield* connect
      for (const [sender, shown] of SENDERS) {
        const { json } = yield* call("GET", `/v1/inbound/${yield* receive(sender, "hi@shop.test")}`)
        assert.deepInclude(json.envelope, { from: shown }, sender)
      }
    })

    it.effect("is answered with its dots in quotes", function* () {
      const { call } = yield* signUp({ domains: ["dots.test"] })
      const { receive } = yield* connect
      const answered = Effect.fnUntraced(function* (sender: string, author: string) {
        const id = yield* receive(sender, "hi@dots.test", author)
        const sent = yield* call("POST", `/v1/inbound/${id}/reply`, { from: "hi@dots.test", text: "Here." })
        if (sent.status !== 200) return reasonOf(sent)
        return (yield* call("GET", `/v1/email/logs/${sent.json.id}`)).json.to
      })
      const quoted = '"first..last"@docomo.ne.jp'
      assert.deepStrictEqual(yield* answered("<>", "Ana <first..last@docomo.ne.jp>"), [`Ana <${quoted}>`])
      assert.deepStrictEqual(yield* answered("<>", quoted), [quoted])
      assert.deepStrictEqual(yield* answered("<first..last@docomo.ne.jp>", "nobody"), [quoted])
      // RFC 5321 has no name of a mail server with an underscore.
      assert.deepStrictEqual(yield* answered("<>", "a@my_host.example.com"), [422, "no_reply_address"])
    })

    // threat: injected-lines
    it.effect("is refused with characters that could be read as something else", function* () {
      const { call } = yield* signUp({ domains: ["hostile.test"] })
      const { receive, say } = yield* connect
      assert.isAbove(HOSTILE.length, 55)
      for (const [nth, sender] of HOSTILE.entries()) {
        assert.match(yield* say(`MAIL FROM:${sender}`), /^501 5\.(?:1\.7|5\.4) /u, JSON.stringify(sender.slice(0, 80)))
        // The connection goes on, and nothing of the sender was kept.
        if (nth % 10 === 0) yield* receive("<>", "hi@hostile.test")
      }
      const { json } = yield* call("GET", "/v1/inbound?limit=100")
      for (const { envelope } of json.data) assert.strictEqual(envelope.from, "")
    })

    it.effect("may be unusual, but not a recipient here", function* () {
      yield* signUp({ domains: ["strict.test"] })
      const { say } = yield* connect
      assert.match(yield* say("MAIL FROM:<>"), /^250 /u)
      for (const local of ["a..b", "a.", ".a", '"a..b"', '"a"', '"a b"'])
        assert.match(yield* say(`RCPT TO:<${local}@strict.test>`), /^550 5\.1\.1 /u, local)
      for (const path of ["hi@strict.test", "<hi>", "<hi@strict.test.>"])
        assert.match(yield* say(`RCPT TO:${path}`), /^501 5\.1\.3 /u, path)
      assert.match(yield* say("RCPT TO:<hi@strict.test>"), /^250 /u)
    })
  },
)
