import * as Handover from "@waybill/embedded-postgres/ownership/Handover"
import * as Process from "@waybill/embedded-postgres/system/Process"
import { spawn, type SpawnOptions } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import { afterAll, assert, describe, it } from "../../support/effectTest.ts"
import { isLinux, isRoot } from "../program.ts"

const server = { uid: 2_100_000_001, gid: 2_100_000_001 }

/** A file on a file system that stores its own choice of owner. */
const fileOf = (owner: { readonly uid: number; readonly gid: number }, chown = () => Promise.resolve()) => ({
  chown,
  stat: () => Promise.resolve(owner),
})

const refusal = (file: ReturnType<typeof fileOf>): Promise<string> =>
  Handover.giveOpen(file, "/share/postgres", server).then(
    () => "changed",
    (cause: Error) => cause.message,
  )

describe("change of owner", () => {
  it("a file gets the server's user as its owner", async () => {
    assert.strictEqual(await refusal(fileOf(server)), "changed")
  })

  it("a file system without owners is refused with a readable error", async () => {
    const why = await refusal(fileOf(server, () => Promise.reject(Object.assign(new Error("no"), { code: "EPERM" }))))
    assert.include(
      why,
      "The owner of /share/postgres cannot be changed to user 2100000001, which runs root's Postgres: EPERM.",
    )
    assert.include(why, "run the service as a user other than root, or set DATABASE_URL")
  })

  it("a file system that stores another owner is refused", async () => {
    assert.include(await refusal(fileOf({ uid: 65_534, gid: 65_534 })), "the file system does not store the owner")
  })
})

const NOBODY = 65_534
const FOLDERS = 20

const made: Array<string> = []
const makeFolder = () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waybill-handover-"))
  made.push(folder)
  return folder
}
afterAll(() => made.forEach((folder) => fs.rmSync(folder, { recursive: true })))

describe("a folder to be given", () => {
  it("is not opened through a link", async () => {
    const folder = makeFolder()
    fs.mkdirSync(path.join(folder, "elsewhere"))
    fs.symlinkSync("elsewhere", path.join(folder, "cluster"))
    const opened = await Handover.openFolder(path.join(folder, "cluster")).then(
      (handle) => handle.close().then(() => "opened"),
      ({ code }: NodeJS.ErrnoException) => code,
    )
    assert.include(["ENOTDIR", "ELOOP"], opened)
  })
})

describe.skipIf(!isLinux)("a folder in use (only Linux tells of it)", () => {
  /** Whether a process that is started so uses the folder. */
  const uses = async (folder: string, program: string, options: SpawnOptions) => {
    const child = spawn(program, ["600"], { cwd: "/", stdio: "ignore", ...options })
    await once(child, "spawn")
    const answer = await Process.uses(child.pid ?? 0, folder)
    child.kill("SIGKILL")
    await once(child, "exit")
    return answer
  }

  it("is one in which a process stands, or of which it has a file open or mapped", async () => {
    const folder = makeFolder()
    const program = path.join(folder, "sleep")
    fs.copyFileSync("/bin/sleep", program)
    const file = fs.openSync(path.join(folder, "file"), "a")
    assert.isFalse(await uses(folder, "/bin/sleep", {}))
    assert.isTrue(await uses(folder, "/bin/sleep", { cwd: folder }))
    assert.isTrue(await uses(folder, "/bin/sleep", { stdio: ["ignore", file, "ignore"] }))
    assert.isTrue(await uses(folder, program, {}))
    // Of another folder whose name begins alike it is none.
    assert.isFalse(await uses(folder.slice(0, -1), program, {}))
    fs.closeSync(file)
  })
})

describe.skipIf(!isRoot || !isLinux)("a folder given to a server's user (as root on Linux)", () => {
  it("is root's from before the first file was given until the last one is", async () => {
    const folder = makeFolder()
    const files = Array.from({ length: FOLDERS }, (_, nth) => path.join(folder, `${nth}`, "file"))
    for (const file of files) {
      fs.mkdirSync(path.dirname(file))
      fs.writeFileSync(file, "")
      fs.chownSync(file, NOBODY, NOBODY)
      fs.chownSync(path.dirname(file), NOBODY, NOBODY)
    }
    fs.chownSync(folder, NOBODY, NOBODY)
    let isOver = false
    const giving = Handover.give(folder, server).finally(() => (isOver = true))
    const meanwhile = new Set<number>()
    while (!isOver) {
      const given = files.filter((file) => fs.statSync(file).uid === server.uid).length
      if (given > 0 && given < FOLDERS) meanwhile.add(fs.statSync(folder).uid)
      await turn()
    }
    await giving
    assert.deepStrictEqual([...meanwhile], [0])
    assert.strictEqual(fs.statSync(folder).uid, server.uid)
  })
})
