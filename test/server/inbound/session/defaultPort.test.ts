import { Effect } from "effect"
import { DEFAULT_MAIL_PORT } from "../../../../apps/server/src/settings/InboundSettings.ts"
import * as Smtp from "../../smtp/support.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

const LISTENS = /mail listener is listening[^\n]*"port":2526\b/u
const SAMPLE = "curl smtp://127.0.0.1:2526"
const TAKEN = "no mail comes in: port 2526 is in use; set MAIL_PORT to another"

layer(World.layer, { excludeTestServices: true })("an instance without MAIL_PORT", (it) => {
  it.effect(
    "receives mail on port 2526 of this machine, and starts without mail where another program has the port",
    function* () {
      const { url } = yield* Database.Fresh
      const settings = { LOG_LEVEL: "Info" }
      const nodes = [yield* ServiceProcess.start(url, settings), yield* ServiceProcess.start(url, settings)] as const
      // Other tests may have the port, too.
      const [listening, ...others] = nodes.filter((node) => LISTENS.test(node.output()))
      assert.lengthOf(others, 0)
      for (const node of nodes)
        if (node !== listening) {
          assert.include(node.output(), TAKEN)
          assert.notInclude(node.output(), SAMPLE)
        } else {
          assert.include(node.output(), SAMPLE)
          const { key } = yield* ServiceProcess.signUp(node, { domain: "usual.test" })
          const client = yield* Smtp.raw(DEFAULT_MAIL_PORT)
          yield* Effect.promise(() =>
            client.all(["EHLO x", "MAIL FROM:<ana@example.org>", "RCPT TO:<hi@usual.test>", "DATA"]),
          )
          client.write("Subject: usual\r\n\r\nHi\r\n.\r\n")
          const id = /inb_\w+/u.exec(yield* Effect.promise(() => client.reply()))?.[0] ?? ""
          const { json } = yield* Effect.promise(() => node.request("GET", `/v1/inbound/${id}`, { key }))
          assert.deepInclude(json, { subject: "usual", status: "received" })
        }
    },
    { timeout: 120_000 },
  )
})
