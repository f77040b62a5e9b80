import { Sql } from "@waybill/store/postgres/Sql"
import { Duration, Effect } from "effect"
import nodemailer from "nodemailer"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const CLIENTS = 12
const MAILS = 150
const KILLS = 2
const PAUSE_MS = 50
const TIMEOUT = 240_000

const mail = (name: string) =>
  `From: ana@example.org\r\nMessage-ID: <${name}@example.org>\r\nSubject: ${name}\r\n\r\nHello ${name}\r\n`

/** Sends a mail on a connection of its own, and returns the reply; undefined if none was heard. */
const deliver = async (port: number, raw: string, to = "hi@shop.test"): Promise<string | undefined> => {
  const client = nodemailer.createTransport({ host: "127.0.0.1", port, name: "mx.example.org", ignoreTLS: true })
  try {
    return (await client.sendMail({ envelope: { from: "ana@example.org", to: [to] }, raw })).response
  } catch (error) {
    return (error as { readonly response?: string }).response
  } finally {
    client.close()
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("mail that comes in", (it) => {
  it.effect(
    "is there once after its 250, however often the process is killed",
    function* () {
      const { url } = yield* Database.Fresh
      const port = yield* Effect.promise(freePort)
      const settings = { MAIL_PORT: String(port), PORT: String(yield* Effect.promise(freePort)) }
      let node = yield* ServiceProcess.start(url, settings)
      const { account_id } = yield* ServiceProcess.signUp(node, { domain: "shop.test" })
      const heard = new Map<string, string>()
      let next = 0
      const client = async () => {
        while (next < MAILS) {
          const name = `mail${next++}`
          while (!heard.has(name)) {
            const reply = await deliver(port, mail(name))
            const [id] = /inb_\w+/u.exec(reply ?? "") ?? []
            if (id === undefined) await pause()
            else heard.set(name, id)
          }
        }
      }
      const clients = Promise.all(Array.from({ length: CLIENTS }, client))
      for (let kill = 1; kill <= KILLS; kill++) {
        yield* World.until(
          Effect.sync(() => heard.size),
          (count) => count >= (kill * MAILS) / (KILLS + 2),
          Duration.seconds(120),
        )
        yield* node.kill
        node = yield* ServiceProcess.start(url, settings)
      }
      yield* Effect.promise(() => clients)
      const { driver: sql } = yield* Sql
      const kept = yield* sql<{ readonly id: string; readonly message_id: string }>`
      SELECT i.id, i.message_id FROM inbound i JOIN inbound_content c USING (account_id, id) WHERE account_id = ${account_id}`
      const ids = new Map(kept.map(({ id, message_id }) => [message_id, id]))
      for (const [name, id] of heard) assert.strictEqual(ids.get(`<${name}@example.org>`), id)
      // The same bytes to the same recipients are one record, also when their 250 was not heard.
      assert.strictEqual(kept.length, MAILS)
    },
    TIMEOUT,
  )

  it.effect("is put off with 451 while the database is away, and taken afterwards", function* () {
    const { url } = yield* Database.Fresh
    const proxy = yield* faultProxy(url)
    const port = yield* Effect.promise(freePort)
    const node = yield* ServiceProcess.start(proxy.url, { MAIL_PORT: String(port) })
    yield* ServiceProcess.signUp(node, { domain: "away.test" })
    const send = Effect.promise(() => deliver(port, mail("away"), "hi@away.test"))
    proxy.down()
    const reply = yield* World.until(send, (said) => said !== undefined, Duration.seconds(30))
    assert.match(reply ?? "", /^451 4\.3\.0/u)
    proxy.up()
    yield* World.until(send, (said) => said?.startsWith("250 ") === true, Duration.seconds(60))
  })
})
