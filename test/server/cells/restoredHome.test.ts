import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as PositionNumbers from "@waybill/store/cells/PositionNumbers"
import * as Backup from "@waybill/store/backup/Backup"
import * as Restore from "@waybill/store/backup/Restore"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as LeftAccounts from "@waybill/store/moves/LeftAccounts"
import * as DirectoryAudit from "@waybill/store/recovery/DirectoryAudit"
import { Cells } from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Sql } from "@waybill/store/postgres/Sql"
import { Duration, Effect, Exit, Fiber, Redacted } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as CellServers from "../../support/cells/servers.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as Database from "../../support/postgres/Database.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"
import { senderIn } from "./support.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }
/** The only process is the one that moves. */
const ALONE = { noticedAfter: Duration.millis(100) }

/** Runs commands on a home, on a machine that has the instance key. */
const commandsOn = (home: Redacted.Redacted) => {
  const env = { DATABASE_URL: Redacted.value(home), WAYBILL_DATA: NOWHERE, WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }
  return Effect.fnUntraced(function* (input: string, ...words: ReadonlyArray<string>) {
    const { errors, exit, output } = yield* CommandLine.typeInto(env, input, ...words)
    return { isDone: Exit.isSuccess(exit), printed: `${output}\n${errors}` }
  })
}

/** Restores home as it is now, on another server. */
const copyOfHome = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const restored = yield* CellServers.make
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-home-backup-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true })),
  )
  const file = join(folder, "home.backup")
  yield* Backup.make(url, file, "1.0.0")
  yield* Restore.restore(restored.url(), file)
  return restored.url()
})

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })(
  "a home that is older than its cells",
  (it) => {
    it.effect(
      "is told by the commands, which mend what is certain",
      function* () {
        for (const name of ["cell_b", "cell_c"]) yield* ServerCell.make(name, (yield* CellServers.make).url())
        const moved = yield* senderIn("cell_b", "moved.test")
        const left = yield* senderIn("public", "left.test")
        const lost = yield* senderIn("cell_b", "lost.test")
        const stays = yield* senderIn("cell_b", "stays.test")
        yield* World.key(lost.account_id)
        const sent = yield* World.send(left)
        const old = yield* copyOfHome

        yield* AccountMove.move(moved.account_id, "cell_c", ALONE)
        yield* AccountMove.move(left.account_id, "cell_b", ALONE)
        yield* AccountMove.move(lost.account_id, "public", ALONE)
        const sentSince = yield* World.send(left)
        yield* World.key(stays.account_id)
        const added = yield* CellServers.make
        yield* ServerCell.make("cell_d", added.url())
        const fresh = yield* senderIn("cell_d", "fresh.test")
        for (const cell of ["cell_b", "cell_c", "cell_d"]) yield* inCell(cell, PositionNumbers.note())
        assert.deepStrictEqual(yield* DirectoryAudit.audit(), [])

        // A worker that looks for accounts whose mover died lets none go on whose rows are gone.
        const looking = Effect.provide(inCell("cell_b", LeftAccounts.restore()), World.services(old, 4))
        yield* Effect.scoped(looking)
        const waybill = commandsOn(old)
        const said = {
          cell_b: [
            "home was restored from before a change of cells",
            `1 account (${left.account_id}) lives here, but not by home's directory`,
            `1 account (${left.account_id}) lives also where that says`,
            `2 accounts (${moved.account_id}, ${lost.account_id}) are here by home's directory, but not found here`,
            "home lacks 1 of the keys, users and tracking hosts",
          ],
          cell_c: [`1 account (${moved.account_id}) lives here, but not by home's directory`],
        }
        const checked = yield* waybill("", "cells", "check")
        assert.isFalse(checked.isDone)
        const examined = yield* waybill("", "doctor", "--json")
        for (const line of Object.values(said).flat()) {
          assert.include(checked.printed, line)
          assert.include(examined.printed, line)
        }
        const over = yield* waybill("", "accounts", "move", "--account", left.account_id, "--to", "cell_b")
        assert.isFalse(over.isDone)
        assert.include(over.printed, `${left.account_id} lives in cell_b already, although home places it elsewhere`)

        // The cell that was added since, by the steps of docs/operating/backup.md.
        const [again, home] = [yield* CellServers.make, yield* otherClient(old)]
        assert.isTrue((yield* waybill(Redacted.value(again.url()), "cells", "add", "cell_d", "--url", "-")).isDone)
        const [row] = yield* home.query("SELECT identity FROM cells WHERE name = 'cell_d'")
        const known = yield* otherClient(added.url())
        yield* known.query(`COMMENT ON SCHEMA public IS 'waybill cell ${String(row?.["identity"])}'`)
        const address = ["cells", "address", "cell_d", "--url", "-", "--leave-former"]
        const readdressed = yield* waybill(Redacted.value(added.url()), ...address)
        assert.isTrue(readdressed.isDone, readdressed.printed)

        const repaired = yield* waybill("", "cells", "check", "--repair")
        assert.include(repaired.printed, "Home placed 3 accounts in their cells")
        assert.include(repaired.printed, `waybill accounts move --account ${left.account_id} --to cell_b`)
        const cleaned = yield* waybill("", "accounts", "move", "--account", left.account_id, "--to", "cell_b")
        assert.isTrue(cleaned.isDone, cleaned.printed)
        const rest = yield* waybill("", "cells", "check")
        assert.include(rest.printed, `1 account (${lost.account_id}) is here by home's directory, but not found here`)
        for (const line of [...said.cell_b.slice(0, 3), ...said.cell_c, "home lacks"])
          assert.notInclude(rest.printed, line)
        yield* home.query("DELETE FROM account_names WHERE account_id = $1", [lost.account_id])
        yield* home.query("DELETE FROM account_cells WHERE account_id = $1", [lost.account_id])
        assert.isTrue((yield* waybill("", "cells", "check")).isDone)

        const served = Effect.gen(function* () {
          const { of } = yield* Cells
          const found = yield* Effect.forEach([moved, left, stays, fresh], ({ account_id }) => of(account_id))
          assert.deepStrictEqual(found, ["cell_c", "cell_b", "cell_b", "cell_d"])
          for (const sender of [moved, left, stays, fresh]) yield* World.send(sender)
          for (const ref of [sent, sentSince]) assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued"])
          const sql = yield* Sql
          assert.lengthOf(yield* sql`SELECT FROM events WHERE account_id = ${left.account_id}`, 0)
        })
        yield* Effect.scoped(Effect.provide(served, World.services(old, 4)))
      },
      TIMEOUT,
    )

    it.effect(
      "is not seen while accounts move, are made and get keys",
      function* () {
        for (const name of ["cell_f", "cell_g"]) yield* ServerCell.make(name, (yield* CellServers.make).url())
        const { account_id } = yield* senderIn("cell_f", "moves.test")
        let isOver = false
        const auditing = yield* Effect.forkChild(
          Effect.repeat(
            Effect.tap(DirectoryAudit.audit(), (found) => Effect.sync(() => assert.deepStrictEqual(found, []))),
            { until: () => isOver },
          ),
        )
        for (const to of ["cell_g", "cell_f", "public", "cell_g"]) {
          yield* AccountMove.move(account_id, to, ALONE)
          yield* World.key(yield* World.accountIn("cell_f"))
        }
        isOver = true
        yield* Fiber.join(auditing)
      },
      TIMEOUT,
    )
  },
)
