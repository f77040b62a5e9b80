import * as Restore from "@waybill/store/backup/Restore"
import { Duration, Effect, Fiber, Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as BackupFolder from "../../../apps/server/src/operate/BackupFolder.ts"
import { makeBackups } from "../../../apps/server/src/worker/periodic/makeBackups.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-backups-"))),
  (made) => Effect.promise(() => fs.rm(made, { recursive: true, force: true })),
)

const OLD = ["waybill-2026-01-01T00-00-00-000Z.backup", "waybill-2026-01-02T00-00-00-000Z.backup"] as const
const OTHERS = ["waybill-before-the-upgrade.backup", "notes.txt"]

layer(Database.layerFresh, { excludeTestServices: true })("scheduled backups", (it) => {
  it.effect(
    "are made when the newest one is old, and leave as many as are kept and all other files",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const home = yield* folder
        const list = Effect.promise(() => fs.readdir(home))
        assert.strictEqual(yield* BackupFolder.age(home), Infinity)
        for (const name of [...OLD, ...OTHERS, `${OLD[0]}.unfinished`])
          yield* Effect.promise(() => fs.writeFile(path.join(home, name), ""))
        const aged = yield* BackupFolder.age(home)
        assert.isAbove(aged, Duration.toMillis("24 hours"))
        const running = yield* Effect.forkChild(makeBackups({ url, folder: home, every: Duration.hours(24), keep: 2 }))
        const names = yield* World.until(list, (found) => !found.includes(OLD[0]))
        yield* Fiber.interrupt(running)
        const made = names.filter((name) => ![...OLD, ...OTHERS].includes(name))
        assert.sameMembers(names, [OLD[1], ...OTHERS, ...made])
        assert.lengthOf(made, 1)
        yield* Restore.check(path.join(home, made[0] ?? ""))
        assert.isBelow(yield* BackupFolder.age(home), Duration.toMillis("24 hours"))
      }).pipe(Effect.scoped),
    60_000,
  )

  it.effect("that fail leave nothing, and no older one is removed", () =>
    Effect.gen(function* () {
      const home = yield* folder
      yield* Effect.promise(() => fs.writeFile(path.join(home, OLD[0]), ""))
      const { url } = yield* Database.Fresh
      const absent = new URL(Redacted.value(url))
      absent.pathname = "/absent"
      yield* Effect.flip(BackupFolder.add(Redacted.make(absent.href), home, 1))
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(home)), [OLD[0]])
    }).pipe(Effect.scoped),
  )
})
