import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as FolderLock from "@waybill/embedded-postgres/server/FolderLock"
import { Effect, Fiber } from "effect"
import * as fs from "node:fs/promises"
import * as net from "node:net"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { assert, describe, it } from "../../support/effectTest.ts"
import {
  end,
  exists,
  folder,
  isLinux,
  prepared,
  query,
  refusal as startError,
  serve,
  trial,
  until,
} from "../program.ts"

/** Tests need not survive a power failure. */
const settings = { fsync: "off" }
/** Timeout of operations that take a moment. */
const TIMEOUT = "60 seconds"
/** A folder with an initialised cluster, which makes starts faster. Most tests hold for any start. */
const servedBefore = prepared({ settings })

describe("folder lock", () => {
  it.live("a folder in use is refused, and the error names the process", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const { answer, child } = yield* serve({ dataDir, settings })
    // A scratch server removes its folder at the end, but only one that it has locked.
    const error = yield* Effect.flip(Effect.scoped(EmbeddedPostgres.start({ dataDir, settings, scratch: true })))
    assert.strictEqual(error._tag, "FolderHeld")
    assert.include(error.message, `process ${child.pid}`)
    assert.include(error.message, "serve.ts")
    assert.lengthOf(yield* query(answer.url, "SELECT 1"), 1)
    yield* end(child, "SIGTERM")
    yield* EmbeddedPostgres.start({ dataDir, settings })
  })

  it.live("of several concurrent starts one gets the folder", function* () {
    const dataDir = path.join(yield* folder, "data")
    const tries = yield* Effect.all(
      [1, 2, 3].map(() => trial({ dataDir, settings })),
      { concurrency: "unbounded" },
    )
    const refused = tries.filter(({ answer }) => answer.error !== undefined)
    assert.lengthOf(refused, 2)
    for (const { answer } of refused) assert.include(answer.error, "is in use by process")
  })

  it.live("a lock of a process that has ended, or of a reused pid, is taken over", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    // The pid of this process with another start time, as after a reuse of the pid.
    yield* Effect.promise(() => fs.writeFile(path.join(dataDir, "holder"), `${process.pid} 1@before\n`))
    yield* EmbeddedPostgres.start({ dataDir, settings })
  })
})

/** These tests mostly wait, so they run concurrently. */
describe.concurrent("folder lock from another container", () => {
  /** A lock from another container or machine, whose pid has no meaning here. */
  const heldElsewhere = Effect.gen(function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const lock = path.join(dataDir, "holder")
    yield* Effect.promise(() => fs.writeFile(lock, "14 1@boot far-away/pid:[1]/boot\n"))
    return { dataDir, lock }
  })
  const refusal = (dataDir: string) => Effect.flip(Effect.scoped(EmbeddedPostgres.start({ dataDir, settings })))

  it.live("a folder is refused while its server answers", function* () {
    const { dataDir } = yield* heldElsewhere
    const socket = path.join(dataDir, "run/.s.PGSQL.5432")
    yield* Effect.promise(() => fs.mkdir(path.dirname(socket), { recursive: true }))
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => net.createServer().listen(socket)),
      (server) => Effect.sync(() => server.close()),
    )
    yield* Effect.promise(() => new Promise((resolve) => server.once("listening", resolve)))
    const error = yield* refusal(dataDir)
    assert.include(error.message, "in use by process 14 (in another container or machine, far-away)")
    // Without its lock the server still runs, and its socket must not be taken.
    yield* Effect.promise(() => fs.rm(path.join(dataDir, "holder")))
    assert.include((yield* refusal(dataDir)).message, "A server in another container or machine uses")
    assert.isTrue(yield* Effect.promise(() => exists(socket)))
  })

  it.live("a folder is refused while its lock is touched, and free afterwards", function* () {
    const { dataDir, lock } = yield* heldElsewhere
    let seconds = 1
    const touch = Effect.promise(() => fs.utimes(lock, seconds, seconds++))
    const touching = yield* Effect.forkChild(Effect.forever(Effect.andThen(touch, Effect.sleep("50 millis"))))
    assert.include((yield* refusal(dataDir)).message, "in use by process 14")
    yield* Fiber.interrupt(touching)
    yield* EmbeddedPostgres.start({ dataDir, settings })
    // The new holder touches the lock.
    const touched = () => fs.stat(lock).then(({ mtimeMs }) => mtimeMs)
    const before = yield* Effect.promise(touched)
    yield* until(async () => (await touched()) !== before).pipe(Effect.timeout(TIMEOUT))
  })

  it.live.skipIf(!isLinux)("a process that was suspended during the check refuses the folder", () =>
    Effect.gen(function* () {
      const { dataDir, lock } = yield* heldElsewhere
      let seconds = 1
      const touch = Effect.promise(() => fs.utimes(lock, seconds, seconds++))
      yield* Effect.forkChild(Effect.forever(Effect.andThen(touch, Effect.sleep("50 millis"))))
      const starting = yield* Effect.forkChild(startError({ dataDir, settings }))
      const pid = yield* checkingProcess(dataDir)
      process.kill(pid, "SIGSTOP")
      yield* Effect.sleep(FolderLock.WATCH_MS + 500)
      process.kill(pid, "SIGCONT")
      assert.include(yield* Fiber.join(starting), "in use by process 14")
    }),
  )
})

/** Starts a process that checks the lock of this folder, and returns its pid once it does. */
const checkingProcess = (dataDir: string) =>
  Effect.promise(async (signal) => {
    while (!signal.aborted) {
      const names = await fs.readdir(dataDir)
      const pid = names.flatMap((name) => /^holder\.new\.(\d+)$/u.exec(name)?.[1] ?? [])[0]
      // The first check takes some milliseconds, and the next follows after 200.
      await pause(100)
      if (pid !== undefined) return Number(pid)
    }
    throw new Error("nobody looks")
  })
