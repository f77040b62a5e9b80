import * as ServerCell from "@waybill/store/cells/ServerCell"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { faultProxy } from "../../../support/postgres/faultProxy.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

const MAILS = 20

const hashOf = (secret: string) => createHash("sha256").update(secret).digest("hex")

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("the first server", (it) => {
  it.effect(
    "gets no statement about a message of an account on another server, from its acceptance to its delivery",
    function* () {
      const { url } = yield* Database.Fresh
      yield* ServerCell.make("cell_b", (yield* CellServers.make).url())
      const smtp = yield* SmtpServer.listen()
      const home = yield* faultProxy(url)
      const node = yield* ServiceProcess.start(home.url, {
        TRANSPORT: "relay",
        SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      })
      const sender = yield* Senders.senderOn(node, "cell_b")
      const other = yield* World.key(sender.account_id)
      const arrived = (count: number) =>
        World.until(
          Effect.sync(() => smtp.mails.length),
          (now) => now >= count,
        )
      yield* World.until(sender.post(0), ({ status }) => status === Senders.ACCEPTED)
      yield* arrived(1)
      const seen = home.watchFor("msg_", sender.account_id, hashOf(sender.key), hashOf(other.secret))
      for (let nth = 1; nth <= MAILS; nth++) assert.strictEqual((yield* sender.post(nth)).status, Senders.ACCEPTED)
      yield* arrived(1 + MAILS)
      const log = yield* World.until(sender.get("/v1/email/logs?limit=100"), ({ json }) =>
        json.data.every(({ status }: { readonly status: string }) => status === "delivered"),
      )
      assert.lengthOf(log.json.data, 1 + MAILS)
      assert.deepStrictEqual(seen(), [])
      // A key that the process does not know is looked up there.
      const asked = yield* Effect.promise(() => node.request("GET", "/v1/email/logs", { key: other.secret }))
      assert.strictEqual(asked.status, 200)
      assert.include(seen(), hashOf(other.secret))
    },
    { timeout: 600_000 },
  )
})
