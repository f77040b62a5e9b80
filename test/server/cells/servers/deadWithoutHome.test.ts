import * as Migrations from "@waybill/store/database/Migrations"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { Effect } from "effect"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import { otherClient } from "../../../support/postgres/otherClient.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

/** The test starts two servers and two processes. */
const TIMEOUT = 600_000
const MAILS = 8

describe("a process that dies while the first server is away", () => {
  it.live(
    "is found dead by the server of the cell, and another one takes over its work there",
    () =>
      Effect.gen(function* () {
        const [home, own] = [yield* CellServers.make, yield* CellServers.make]
        yield* Migrations.migrate(home.url())
        const smtp = yield* SmtpServer.listen()
        const steps = Effect.gen(function* () {
          yield* ServerCell.make("cell_b", own.url())
          const node = ServiceProcess.start(home.url(), {
            TRANSPORT: "relay",
            SMTP_URL: `smtp://127.0.0.1:${smtp.port}?connections=${MAILS}`,
          })
          const server = yield* otherClient(own.url())
          const rowsOf = (statement: string) => server.query(`SELECT ${statement}`)
          const dies = yield* node
          const sender = yield* Senders.senderOn(dies, "cell_b")
          // Attempts that wait for the answer of the relay, with leases.
          smtp.setScript(({ phase }) => (phase === "data" ? "hang" : undefined))
          for (let nth = 0; nth < MAILS; nth++)
            yield* World.until(sender.post(nth), ({ status }) => status === Senders.ACCEPTED)
          const leased = rowsOf("lease_owner FROM outbox WHERE kind = 'delivery' AND lease_until IS NOT NULL")
          const [row] = yield* World.until(leased, ({ length }) => length === MAILS)
          const owner = String(row?.["lease_owner"])
          const lives = yield* node
          yield* World.until(rowsOf("id FROM processes"), ({ length }) => length === 2)
          const other = yield* Senders.senderOn(lives, "cell_b")
          yield* World.until(other.post(0), ({ status }) => status === Senders.ACCEPTED)
          yield* home.stop
          smtp.setScript(undefined)
          yield* dies.kill
          const [living] = yield* World.until(rowsOf("id FROM processes"), ({ length }) => length === 1)
          assert.notStrictEqual(living?.["id"], owner)
          yield* World.until(rowsOf(`id FROM outbox WHERE lease_owner = '${owner}'`), ({ length }) => length === 0)
          const before = smtp.mails.length
          yield* World.until(other.post(1), ({ status }) => status === Senders.ACCEPTED)
          yield* World.until(
            Effect.sync(() => smtp.mails.length),
            (count) => count > before,
          )
        })
        yield* Effect.scoped(steps).pipe(Effect.provide(World.services(home.url(), 4)))
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})
