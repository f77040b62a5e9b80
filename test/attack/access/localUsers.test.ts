import * as Users from "@waybill/embedded-postgres/ownership/Users"
import { Effect, Fiber } from "effect"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { promisify } from "node:util"
import {
  end,
  folder,
  isLinux,
  isRoot,
  NATIVE,
  prepared,
  query,
  refusal,
  serve,
  somebody,
  until,
} from "../../embedded-postgres/program.ts"
import { assert, describe, it, type TestContext } from "../../support/effectTest.ts"
import * as Production from "../../support/process/Production.ts"

const settings = { fsync: "off" }
const NOBODY = 65_534
const servedBefore = prepared({ settings })

const owner = (file: string) => Effect.promise(() => fs.lstat(file).then(({ uid }) => uid))
const run = promisify(execFile)

/** Returns what a process of this user can access in a data folder, one word for each success. */
const accessOf = (dataDir: string, uid: number, gid: number) =>
  Effect.promise(async () => {
    const script = [
      `cat "$1/cluster/PG_VERSION" >/dev/null && echo read`,
      `ls "$1/cluster/base" >/dev/null && echo list`,
      `(: >> "$1/cluster/pg_hba.conf") && echo write`,
      `[ -S "$1/run/.s.PGSQL.5432" ] && echo socket`,
      `cat "$1/password" >/dev/null && echo password`,
      `cat "$1/postgres.log" >/dev/null && echo log`,
      `mv "$1/cluster" "$1/away" && echo move`,
      "true",
    ].join("\n")
    const { stdout } = await run("/bin/sh", ["-c", script, "sh", dataDir], { uid, gid })
    return stdout.trim().split("\n").join(" ")
  })

/**
 * Creates a data folder as earlier versions left it: owned by root and traversable, with a cluster owned by `nobody`.
 */
const folderOfNobody = Effect.fnUntraced(function* (parent: string) {
  const dataDir = yield* servedBefore(parent)
  yield* Effect.promise(async () => {
    await run("chown", ["-hR", `${NOBODY}:${NOBODY}`, path.join(dataDir, "cluster"), path.join(dataDir, "run")])
    await run("chown", ["0:0", dataDir])
    await fs.chmod(dataDir, 0o711)
  })
  return dataDir
})

/** Starts a process that only sleeps, as this user. */
const idleProcess = (uid: number, cwd: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn("/bin/sleep", ["600"], { uid, gid: uid, cwd, stdio: "ignore" })
      await once(child, "spawn")
      return child
    }),
    (child) => end(child, "SIGKILL"),
  )

/** Mounts a file system owned by `nobody`; `false` in a container that may not mount. */
const mountTmpfs = (at: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      run("mount", ["-t", "tmpfs", "-o", `uid=${NOBODY},gid=${NOBODY}`, "tmpfs", at]).then(
        () => true,
        () => false,
      ),
    ),
    (isMounted) => (isMounted ? Effect.promise(() => run("umount", [at])) : Effect.void),
  )

const filesOfOthers = (cluster: string, uid: number) =>
  Effect.promise(async () => {
    const { stdout } = await run("find", [cluster, "!", "-uid", String(uid)])
    return stdout.trim()
  })

describe.skipIf(!isRoot || !isLinux)("the embedded Postgres of root (as root on Linux)", () => {
  // threat: local-users
  it.live("is closed to other programs of the machine and to the server of another installation", function* () {
    const [first, second] = [yield* servedBefore(yield* folder), yield* servedBefore(yield* folder)]
    const one = yield* serve({ dataDir: first, settings })
    const two = yield* serve({ dataDir: second, settings })
    const [mine, other] = [yield* owner(`/proc/${one.answer.pid}`), yield* owner(`/proc/${two.answer.pid}`)]
    assert.notStrictEqual(mine, other)
    for (const uid of [NOBODY, other]) assert.strictEqual(yield* accessOf(first, uid, uid), "")
    for (const uid of [NOBODY, mine]) assert.strictEqual(yield* accessOf(second, uid, uid), "")
    // Output of the script when nothing is denied.
    assert.strictEqual(yield* accessOf(first, mine, mine), "read list write socket")
    assert.lengthOf(yield* query(one.answer.url, "SELECT 1"), 1)
  })

  // threat: local-users
  it.live("has a user id that a copy of its folder does not share", function* () {
    const original = yield* servedBefore(yield* folder)
    const first = yield* serve({ dataDir: original, settings })
    const mine = yield* owner(`/proc/${first.answer.pid}`)
    yield* query(first.answer.url, "CREATE TABLE kept AS SELECT 42 AS answer")
    yield* end(first.child, "SIGTERM")
    const parent = yield* folder
    yield* Effect.promise(() => run("cp", ["-a", original, parent]))
    const dataDir = path.join(parent, "data")
    const copy = yield* serve({ dataDir, settings })
    assert.notStrictEqual(yield* owner(`/proc/${copy.answer.pid}`), mine)
    assert.deepStrictEqual(yield* query(copy.answer.url, "SELECT answer FROM kept"), [{ answer: 42 }])
    assert.strictEqual(yield* accessOf(dataDir, mine, mine), "")
    const restarted = yield* serve({ dataDir: original, settings })
    assert.strictEqual(yield* owner(`/proc/${restarted.answer.pid}`), mine)
  })

  // threat: local-users
  it.live("takes another user id if another program runs with its user id", function* () {
    const parent = yield* folder
    const rootHome = path.join(parent, "lib")
    const dataDir = yield* servedBefore(parent)
    const first = yield* serve({ dataDir, rootHome, settings })
    const mine = yield* owner(`/proc/${first.answer.pid}`)
    yield* end(first.child, "SIGTERM")
    yield* idleProcess(mine, "/")
    const restarted = yield* serve({ dataDir, rootHome, settings })
    const other = yield* owner(`/proc/${restarted.answer.pid}`)
    assert.notStrictEqual(other, mine)
    assert.strictEqual(yield* filesOfOthers(path.join(dataDir, "cluster"), other), "")
    assert.strictEqual(yield* accessOf(dataDir, mine, mine), "")
    // The former user stays released from this folder, whatever happens to the program that runs as that user.
    assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(path.join(rootHome, "users"))), [String(other)])
  })

  // threat: local-users
  it.live("takes over a cluster of the user nobody, also after a start that was killed halfway", function* () {
    const dataDir = yield* folderOfNobody(yield* folder)
    const cluster = path.join(dataDir, "cluster")
    // Simulates a kill in between: root owns the folder, and the new user owns some of the files.
    yield* Effect.promise(async () => {
      await fs.chown(cluster, 0, 0)
      const [{ first } = { first: 0 }] = await Users.availableHere()
      await fs.chown(path.join(cluster, "PG_VERSION"), first, first)
    })
    const { answer } = yield* serve({ dataDir, settings })
    const uid = yield* owner(`/proc/${answer.pid}`)
    assert.notStrictEqual(uid, NOBODY)
    assert.strictEqual(yield* filesOfOthers(cluster, uid), "")
    assert.strictEqual(yield* accessOf(dataDir, NOBODY, NOBODY), "")
    assert.lengthOf(yield* query(answer.url, "SELECT 1"), 1)
  })

  // threat: local-users
  it.live("changes no file outside a crafted cluster of the user nobody", function* () {
    const parent = yield* folder
    const dataDir = yield* folderOfNobody(parent)
    const cluster = path.join(dataDir, "cluster")
    const victim = path.join(parent, "victim")
    yield* Effect.promise(() => fs.writeFile(victim, "root's"))
    for (const [name, make] of [
      ["a symbolic link", (at: string) => fs.symlink(victim, at)],
      ["a file of root's with several hard links", (at: string) => fs.link(victim, at)],
      ["neither a file nor a folder", (at: string) => run("mkfifo", [at])],
      [
        `belongs to user ${somebody}`,
        (at: string) => fs.writeFile(at, "").then(() => fs.chown(at, somebody, somebody)),
      ],
    ] as const) {
      const trap = path.join(cluster, "base/trap")
      yield* Effect.promise(async () => void (await make(trap)))
      assert.include(yield* refusal({ dataDir, settings }), name)
      assert.strictEqual(yield* owner(victim), 0)
      // The refused start changed nothing, so the earlier version still works with the folder.
      assert.strictEqual(yield* owner(cluster), NOBODY)
      assert.strictEqual(yield* owner(path.join(cluster, "PG_VERSION")), NOBODY)
      yield* Effect.promise(() => fs.rm(trap))
    }
    const { answer } = yield* serve({ dataDir, settings })
    assert.lengthOf(yield* query(answer.url, "SELECT 1"), 1)
  })

  it.live("changes no file on another file system (skipped where none can be mounted)", ({ skip }: TestContext) =>
    Effect.gen(function* () {
      const dataDir = yield* folderOfNobody(yield* folder)
      const inside = path.join(dataDir, "cluster/base/mounted")
      yield* Effect.promise(() => fs.mkdir(inside).then(() => fs.chown(inside, NOBODY, NOBODY)))
      if (!(yield* mountTmpfs(inside))) return skip()
      assert.include(yield* refusal({ dataDir, settings }), "is on another file system")
      assert.strictEqual(yield* owner(inside), NOBODY)
    }),
  )

  // threat: local-users
  it.live("does not take over a cluster while a program of the user nobody has it open", function* () {
    const dataDir = yield* folderOfNobody(yield* folder)
    const cluster = path.join(dataDir, "cluster")
    const child = yield* idleProcess(NOBODY, cluster)
    assert.include(yield* refusal({ dataDir, settings }), `is in use by process ${child.pid}`)
    assert.strictEqual(yield* owner(cluster), NOBODY)
    yield* end(child, "SIGKILL")
    yield* serve({ dataDir, settings })
  })

  // threat: local-users
  it.live("denies the files of initdb to other programs of the user that initdb runs as", function* () {
    const parent = yield* folder
    const { go, installed, waiting } = yield* haltingPostgres(parent)
    const dataDir = path.join(parent, "data")
    const starting = yield* Effect.forkChild(serve({ dataDir, settings, installed }))
    yield* until(async () => (await waiting()) !== undefined)
    const pid = (yield* Effect.promise(waiting)) ?? ""
    const [staging] = yield* Effect.promise(() => fs.readdir(dataDir))
    assert.match(staging ?? "", /^cluster\.new-/u)
    // `NOBODY` is also the user of the single-user process.
    assert.strictEqual(yield* owner(`/proc/${pid}`), NOBODY)
    const group = yield* Effect.promise(() => fs.stat(dataDir).then(({ gid }) => gid))
    for (const way of [path.join(dataDir, staging ?? ""), `/proc/${pid}/cwd/${staging}`]) {
      assert.strictEqual(yield* accessOf(way, NOBODY, NOBODY), "")
      assert.strictEqual(yield* accessOf(way, NOBODY, group), "read list write")
    }
    yield* Effect.promise(go)
    const { answer, child } = yield* Fiber.join(starting)
    const uid = yield* owner(`/proc/${answer.pid}`)
    yield* end(child, "SIGTERM")

    // A lost password is also set in single-user mode.
    yield* Effect.promise(() => fs.rm(path.join(dataDir, "password")))
    const restarting = yield* Effect.forkChild(serve({ dataDir, settings, installed }))
    yield* until(async () => (await waiting()) !== undefined)
    assert.strictEqual(yield* owner(path.join(dataDir, "cluster")), NOBODY)
    assert.strictEqual(yield* accessOf(dataDir, NOBODY, NOBODY), "")
    yield* Effect.promise(go)
    const restarted = yield* Fiber.join(restarting)
    assert.lengthOf(yield* query(restarted.answer.url, "SELECT 1"), 1)
    assert.strictEqual(yield* filesOfOthers(path.join(dataDir, "cluster"), uid), "")
  })
})

/** Installs a Postgres whose single-user mode writes its process id and waits until `go` is called. */
const haltingPostgres = (parent: string) =>
  Effect.promise(async () => {
    const installed = path.join(parent, "postgres")
    await Production.copyByLinks(path.join(NATIVE, "native"), installed)
    const signals = path.join(parent, "signals")
    await fs.mkdir(signals)
    await fs.chmod(signals, 0o777)
    const server = path.join(installed, "bin/postgres")
    await fs.rename(server, `${server}.real`)
    const script = [
      "#!/bin/sh",
      `case "$1 $3" in "--single ${parent}"*)`,
      `  echo $$ > ${signals}/draft && mv ${signals}/draft ${signals}/waiting`,
      `  while [ -e ${signals}/waiting ]; do sleep 0.05; done`,
      "esac",
      `exec ${server}.real "$@"`,
    ]
    await fs.writeFile(server, `${script.join("\n")}\n`, { mode: 0o755 })
    const waiting = () =>
      fs.readFile(path.join(signals, "waiting"), "utf8").then(
        (text) => text.trim(),
        () => undefined,
      )
    return { installed, waiting, go: () => fs.rm(path.join(signals, "waiting")) }
  })
