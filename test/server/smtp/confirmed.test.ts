import * as EmailState from "@waybill/domain/email/EmailState"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { Fresh } from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as Smtp from "./support.ts"

const file = (name: string) => readFileSync(new URL(`../../fixtures/reports/${name}.eml`, import.meta.url), "latin1")

/** A relay that reports outcomes later, a worker that uses it, and the listener for its reports. */
const confirming = Effect.gen(function* () {
  const server = yield* SmtpServer.listen({ dsn: true })
  const { url } = yield* Fresh
  const relay = RelayTransport.layer(
    {
      host: server.host,
      port: server.port,
      tls: { mode: "none", verify: false },
      login: undefined,
      confirm: "dsn",
      connections: 2,
    },
    { name: "waybill.test" },
  )
  yield* Layer.build(World.worker(url, { relay }))
  const { domain, secretKey } = World.RETURN_PATH
  const port = yield* MailListener.listen({
    host: "127.0.0.1",
    port: 0,
    name: domain,
    inbound: Smtp.REPORTS_ONLY,
    returnPath: { domain, secretKeys: [secretKey] },
    limits: {},
  })
  return { server, port }
})

const report = Effect.fnUntraced(function* (port: number, to: string, text: string) {
  const client = yield* Smtp.raw(port)
  const stuffed = text.replaceAll(/^\./gmu, "..").replace(/\r?\n?$/u, "")
  return yield* Effect.promise(() =>
    client.all(["EHLO relay.test", "MAIL FROM:<>", `RCPT TO:<${to}>`, "DATA", `${stuffed}\r\n.`]),
  )
})

const statusOf = (ref: World.MessageRef) =>
  Effect.map(World.history(ref), ({ state }) => (state._tag === "Message" ? EmailState.status(state) : "not created"))

layer(Smtp.layer, { excludeTestServices: true })("mail by a relay that confirms deliveries", (it) => {
  it.effect("is sent until a report says that it was delivered or bounced", function* () {
    const { port, server } = yield* confirming
    const { sender } = yield* Smtp.customer()
    for (const [name, end, events] of [
      ["exchange-success", "delivered", ["EmailQueued", "EmailSent", "EmailDelivered"]],
      ["gmail", "bounced", ["EmailQueued", "EmailSent", "EmailBounced"]],
    ] as const) {
      const ref = yield* World.send(sender)
      yield* World.until(statusOf(ref), (status) => status === "sent")
      const mail = server.mails.find(({ messageId }) => messageId === `${ref.stream_id}@${sender.name}`)
      assert.include(mail?.mail_line ?? "", ` ENVID=${ref.stream_id}`)
      // The relay sends the report to the return path of the mail.
      const replies = yield* report(port, mail?.from ?? "", file(name))
      assert.match(replies.at(-1) ?? "", /^250 2\.6\.0 /u)
      assert.strictEqual(yield* statusOf(ref), end)
      assert.deepStrictEqual(yield* World.timeline(ref), [...events])
    }
  })
})
