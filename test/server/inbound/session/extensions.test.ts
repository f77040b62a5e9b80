import { Effect, Layer } from "effect"
import * as InboundMail from "../../../../apps/server/src/smtp/InboundMail.ts"
import * as MailListener from "../../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { dnsZones } from "../../../support/mail/dnsZones.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"
import * as World from "../../../support/world/World.ts"
import * as Smtp from "../../smtp/support.ts"
import { idIn } from "../Sender.ts"

const { domain, secretKey } = World.RETURN_PATH
const NAME = "mx.waybill.test"

/** A customer, and a client of the mail port that has said EHLO. */
const start = Effect.fnUntraced(function* (name: string) {
  const port = yield* MailListener.listen({
    host: "127.0.0.1",
    port: 0,
    name: NAME,
    returnPath: { domain, secretKeys: [secretKey] },
    inbound: InboundMail.make({ days: 30, name: NAME, maxBytes: 1024 * 1024 }),
  })
  const { call } = yield* signUp({ domains: [name] })
  const client = yield* Smtp.raw(port)
  const offers = yield* Effect.promise(() => client.lines("EHLO mx.example.org"))
  const record = (reply: string) => Effect.map(call("GET", `/v1/inbound/${idIn(reply)}`), ({ json }) => json)
  const replies = (count: number) =>
    Effect.promise(async () => {
      const heard: Array<string> = []
      while (heard.length < count) heard.push(await client.reply())
      return heard
    })
  return { call, client, offers, record, replies }
})

layer(HttpWorld.layer().pipe(Layer.provideMerge(dnsZones({}))), { excludeTestServices: true })(
  "the mail port",
  (it) => {
    it.effect("offers what servers use, and takes a mail with all commands in one write", function* () {
      const { client, offers, record, replies } = yield* start("pipelined.test")
      for (const each of ["PIPELINING", "8BITMIME", "SMTPUTF8", "CHUNKING"]) assert.include(offers.join(" "), each)
      assert.match(offers.join(" "), /SIZE \d+/u)
      const content = "From: ana@example.org\r\n\r\nHi\r\n..\r\n.\r\n"
      client.write(
        `MAIL FROM:<ana@example.org>\r\nRCPT TO:<a@pipelined.test>\r\nRCPT TO:<b@elsewhere.test>\r\nDATA\r\n${content}QUIT\r\n`,
      )
      const heard = yield* replies(6)
      assert.deepStrictEqual(
        heard.map((reply) => reply.slice(0, 3)),
        ["250", "250", "550", "354", "250", "221"],
      )
      const { envelope, text } = yield* record(heard[4] ?? "")
      assert.deepStrictEqual(envelope.to, ["a@pipelined.test"])
      assert.strictEqual(text.trim(), "Hi\n.")
    })

    it.effect("takes a mail in chunks as it is", function* () {
      const { client, record, replies } = yield* start("chunked.test")
      const content = "From: ana@example.org\r\n\r\nHi\r\n.\r\nRSET\r\n"
      client.write(
        `MAIL FROM:<ana@example.org>\r\nRCPT TO:<a@chunked.test>\r\nBDAT 5\r\n${content.slice(0, 5)}BDAT ${content.length - 5} LAST\r\n${content.slice(5)}`,
      )
      const heard = yield* replies(4)
      assert.strictEqual((yield* record(heard[3] ?? "")).text.trim(), "Hi\n.\nRSET")
    })

    it.effect("takes addresses and headers beyond ASCII, and finds them", function* () {
      const { call, client, record } = yield* start("bücher.test")
      const action = { type: "store" }
      yield* call("POST", "/v1/inbound/routes", {
        match: { from: "*@örtlich.example", to: "büro+*@bücher.test" },
        action,
      })
      const envelope = [
        "MAIL FROM:<änna@örtlich.example> BODY=8BITMIME SMTPUTF8",
        "RCPT TO:<büro+ü@bücher.test>",
        "DATA",
      ]
      const said = yield* Effect.promise(() => client.all(envelope))
      assert.match(said.at(-1) ?? "", /^354/u, said.join("\n"))
      client.write(
        "From: Änna <änna@örtlich.example>\r\nTo: Büro <büro+ü@bücher.test>\r\nSubject: Grüße 🎉\r\n\r\nSchön\r\n.\r\n",
      )
      const mail = yield* record(yield* Effect.promise(() => client.reply()))
      assert.deepInclude(mail, {
        from: { address: "änna@örtlich.example", name: "Änna" },
        subject: "Grüße 🎉",
        domain: "xn--bcher-kva.test",
        mailbox_hash: "ü",
      })
      assert.lengthOf(mail.routes, 1)
      assert.deepInclude(mail.envelope, { from: "änna@örtlich.example", to: ["büro+ü@xn--bcher-kva.test"] })
      for (const query of [
        "from=änna@örtlich.example",
        "to=büro%2Bü@bücher.test",
        "subject=grüße",
        "domain=bücher.test",
      ])
        assert.deepStrictEqual(
          (yield* call("GET", `/v1/inbound?${query}`)).json.data?.map(({ id }: { readonly id: string }) => id),
          [mail.id],
          query,
        )
    })
  },
)
