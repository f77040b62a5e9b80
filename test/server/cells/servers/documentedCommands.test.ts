import * as Migrations from "@waybill/store/database/Migrations"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { Effect, Redacted } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, describe, it as test, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { faultProxy } from "../../../support/postgres/faultProxy.ts"
import { otherClient } from "../../../support/postgres/otherClient.ts"
import * as Standby from "../../../support/postgres/Standby.ts"
import * as DocCommands from "../../../support/process/DocCommands.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

const TIMEOUT = { timeout: 600_000 }
/** Mails between two blocks of commands. */
const SOME = 5
const STANDBY = "postgres://postgres@10.0.0.4/postgres"
const PROMOTED = "postgres://waybill:password@10.0.0.4:5432/waybill"

/** A process that relays mail, and a way to run commands of documents beside it. */
const installation = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const smtp = yield* SmtpServer.listen({ keep_bytes: false })
  const node = yield* ServiceProcess.start(url, { TRANSPORT: "relay", SMTP_URL: `smtp://127.0.0.1:${smtp.port}` })
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-cells-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  )
  const shims = yield* Effect.promise(() => DocCommands.shims(join(folder, "bin")))
  const instead: Record<string, string> = {}
  const run = Effect.fnUntraced(function* (block: DocCommands.Block, env: Readonly<Record<string, string>>) {
    const { code, output } = yield* Effect.promise(() =>
      DocCommands.run(block, {
        checkout: process.cwd(),
        env: {
          PATH: `${shims}:${process.env["PATH"] ?? ""}`,
          HOME: folder,
          WAYBILL_DATA: folder,
          WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY,
          ...env,
        },
        instead,
      }),
    )
    assert.strictEqual(code, 0, `${block.file}:${block.line}\n${output}`)
  })
  return { node, instead, run }
})

/** Makes the standby of a server that the documents name. */
const standbyOf = Effect.fnUntraced(function* (server: CellServers.CellServer, instead: Record<string, string>) {
  const standby = yield* Standby.follow(server.running(), server.dataDir.replace(/\/cluster$/u, ""))
  instead[STANDBY] = Redacted.value(standby.adminUrl)
  instead[PROMOTED] = Redacted.value(standby.url)
  return standby
})

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("the commands of cells.md", (it) => {
  it.effect(
    "put a cell on a server, move an account there, and fail over, while mail flows",
    function* () {
      const { url } = yield* Database.Fresh
      const server = yield* CellServers.make
      const { instead, node, run } = yield* installation(url)
      const sender = yield* Senders.senderOn(node, "public")
      const load = yield* Senders.load(sender, 1)
      const blocks = DocCommands.blocks("docs/operating/cells.md").filter(({ how }) => how === "servers")
      assert.isAtLeast(blocks.length, 3)
      instead["postgres://waybill:password@10.0.0.2:5432/waybill"] = Redacted.value(server.url())
      for (const block of blocks) {
        if (block.text.includes("pg_promote")) {
          yield* standbyOf(server, instead)
          yield* server.stop
        }
        yield* run(block, { DATABASE_URL: Redacted.value(url), ACCOUNT: sender.account_id })
        yield* load.goesOn(SOME)
      }
      yield* load.stop
      assert.deepStrictEqual(load.others, [], node.output())
      assert.deepStrictEqual(yield* Senders.missingIn("cell_b", load.accepted), [])
    },
    TIMEOUT,
  )
})

describe("the commands of failover.md", () => {
  test.live(
    "bring the first server to its synchronous standby, without a restart or a loss",
    () =>
      Effect.gen(function* () {
        const [home, own] = [yield* CellServers.make, yield* CellServers.make]
        yield* Migrations.migrate(home.url())
        const address = yield* faultProxy(home.url())
        const { instead, node, run } = yield* installation(address.url)
        const begun = Effect.gen(function* () {
          yield* ServerCell.make("cell_b", own.url())
          return [yield* Senders.senderOn(node, "public"), yield* Senders.senderOn(node, "cell_b")] as const
        })
        const [here, elsewhere] = yield* Effect.scoped(Effect.provide(begun, World.services(home.url(), 4)))
        // The process learns of the cell meanwhile.
        yield* World.until(elsewhere.post(0), ({ status }) => status === Senders.ACCEPTED)
        const loads = [yield* Senders.load(here, 1), yield* Senders.load(elsewhere, 1)] as const
        const standby = yield* standbyOf(home, instead)
        // The standby of the test has another name.
        instead["'standby1'"] = "'*'"
        const admin = yield* otherClient(home.running().adminUrl)
        const [ADMIN_URL, DATABASE_URL] = [home.running().adminUrl, standby.url].map((url) => Redacted.value(url))
        const all = DocCommands.blocks("docs/operating/failover.md")
        for (const block of all.filter(({ how }) => how === "servers")) {
          const isLoss = block.text.includes("pg_promote")
          if (isLoss) {
            const states = admin.query("SELECT sync_state FROM pg_stat_replication")
            yield* World.until(states, ([row]) => row?.["sync_state"] === "sync", Senders.PATIENCE)
            for (const load of loads) yield* load.goesOn(SOME)
            yield* home.kill
            yield* loads[1].goesOn(SOME)
          }
          yield* run(block, { ADMIN_URL: ADMIN_URL ?? "" })
          if (isLoss) address.lead(standby.url)
          for (const load of loads) yield* load.goesOn(SOME)
        }
        for (const load of loads) yield* load.stop
        for (const block of all.filter(({ how }) => how === "run"))
          yield* run(block, { DATABASE_URL: DATABASE_URL ?? "" })
        const missing = Effect.all([
          Senders.missingIn("public", loads[0].accepted),
          Senders.missingIn("cell_b", loads[1].accepted),
        ])
        assert.deepStrictEqual(yield* Effect.scoped(Effect.provide(missing, World.services(standby.url, 4))), [[], []])
        for (const { others } of loads) assert.deepStrictEqual(others, [], node.output())
      }).pipe(Effect.scoped),
    TIMEOUT.timeout,
  )
})
