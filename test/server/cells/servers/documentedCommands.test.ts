import { Effect, Redacted } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as Standby from "../../../support/postgres/Standby.ts"
import * as DocCommands from "../../../support/process/DocCommands.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

const FILE = "docs/operating/cells.md"
/** Mails between two blocks of commands. */
const SOME = 5

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("the commands of cells.md", (it) => {
  it.effect(
    "put a cell on a server, move an account there, and fail over, while mail flows",
    function* () {
      const { url } = yield* Database.Fresh
      const server = yield* CellServers.make
      const smtp = yield* SmtpServer.listen({ keep_bytes: false })
      const node = yield* ServiceProcess.start(url, { TRANSPORT: "relay", SMTP_URL: `smtp://127.0.0.1:${smtp.port}` })
      const sender = yield* Senders.senderOn(node, "public")
      const load = yield* Senders.load(sender, 1)
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-cells-"))),
        (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
      )
      const shims = yield* Effect.promise(() => DocCommands.shims(join(folder, "bin")))
      const blocks = DocCommands.blocks(FILE).filter(({ how }) => how === "servers")
      assert.isAtLeast(blocks.length, 3)
      const instead: Record<string, string> = {
        "postgres://waybill:password@10.0.0.2:5432/waybill": Redacted.value(server.url()),
      }
      for (const block of blocks) {
        if (block.text.includes("pg_promote")) {
          const standby = yield* Standby.follow(server.running(), server.dataDir.replace(/\/cluster$/u, ""))
          instead["postgres://postgres@10.0.0.4/postgres"] = Redacted.value(standby.adminUrl)
          instead["postgres://waybill:password@10.0.0.4:5432/waybill"] = Redacted.value(standby.url)
          yield* server.stop
        }
        const { code, output } = yield* Effect.promise(() =>
          DocCommands.run(block, {
            checkout: process.cwd(),
            env: {
              PATH: `${shims}:${process.env["PATH"] ?? ""}`,
              HOME: folder,
              WAYBILL_DATA: folder,
              WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY,
              DATABASE_URL: Redacted.value(url),
              ACCOUNT: sender.account_id,
            },
            instead,
          }),
        )
        assert.strictEqual(code, 0, `${block.file}:${block.line}\n${output}`)
        yield* load.goesOn(SOME)
      }
      yield* load.stop
      assert.deepStrictEqual(load.others, [], node.output())
      assert.deepStrictEqual(yield* Senders.missingIn("cell_b", load.accepted), [])
    },
    { timeout: 300_000 },
  )
})
