import * as ServerCell from "@waybill/store/cells/ServerCell"
import { Effect } from "effect"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as Standby from "../../../support/postgres/Standby.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

/** The test starts four servers and a process. */
const TIMEOUT = { timeout: 600_000 }
/** Mails of each account before, during and after each fault. */
const SOME = 20

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("three servers under load", (it) => {
  it.effect(
    "lose nothing and delay nobody else when one is frozen, killed and replaced by its standby",
    function* () {
      const servers = [yield* CellServers.make, yield* CellServers.make, yield* CellServers.make] as const
      const cells = ["cell_b", "cell_c", "cell_d"] as const
      for (const [nth, cell] of cells.entries()) yield* ServerCell.make(cell, (servers[nth] ?? servers[0]).url())
      const smtp = yield* SmtpServer.listen({ keep_bytes: false })
      const { url } = yield* Database.Fresh
      const node = yield* ServiceProcess.start(url, {
        TRANSPORT: "relay",
        SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      })
      const senders = yield* Effect.forEach(["public", ...cells], (cell) => Senders.senderOn(node, cell))
      const loads = yield* Effect.forEach(senders, (sender) => Senders.load(sender))
      const lost = loads[1]
      assert(lost !== undefined)
      const others = loads.filter((load) => load !== lost)
      const allGoOn = Effect.all(
        loads.map((load) => load.goesOn(SOME)),
        { concurrency: "unbounded", discard: true },
      )
      /** Waits until the one has been refused for some time, while the others go on. */
      const onlyOthersGoOn = Effect.suspend(() => {
        const before = lost.unavailable()
        return Effect.andThen(
          World.until(Effect.sync(lost.unavailable), (count) => count >= before + SOME, Senders.PATIENCE),
          Effect.all(
            others.map((load) => load.goesOn(SOME)),
            { concurrency: "unbounded", discard: true },
          ),
        )
      })
      const [server] = servers
      yield* allGoOn
      yield* server.freeze
      yield* onlyOthersGoOn
      yield* server.thaw
      yield* allGoOn
      yield* server.kill
      yield* onlyOthersGoOn
      yield* server.start
      yield* allGoOn
      const standby = yield* Standby.follow(server.running(), server.dataDir.replace(/\/cluster$/u, ""))
      yield* server.stop
      yield* onlyOthersGoOn
      yield* standby.promote
      yield* ServerCell.readdress(cells[0], standby.url)
      yield* allGoOn
      yield* Effect.forEach(loads, ({ stop }) => stop, { concurrency: "unbounded" })

      for (const load of loads) assert.deepStrictEqual(load.others, [], node.output())
      // A busy machine may make a few of theirs wait for too long; what waited for the lost server would be refused as often.
      for (const load of others) {
        assert.isBelow(load.unavailable(), lost.unavailable() / 10)
        assert.isAtMost(load.unconfirmed(), Senders.AT_ONCE)
      }
      // Commits that were under way at each of the three faults.
      assert.isAtMost(lost.unconfirmed(), 3 * Senders.AT_ONCE)
      for (const [nth, { cell }] of senders.entries())
        assert.deepStrictEqual(yield* Senders.missingIn(cell, loads[nth]?.accepted ?? []), [], cell)
    },
    TIMEOUT,
  )
})
