import * as Users from "@waybill/embedded-postgres/ownership/Users"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "../support/effectTest.ts"
import { isLinux, isRoot, somebody } from "./program.ts"

const WHOLE = "         0          0 4294967295\n"

describe("user ids of root's servers", () => {
  it("ids are far above those of people, containers and directories if the system has them", () => {
    assert.deepStrictEqual(Users.available(WHOLE, WHOLE), [Users.PREFERRED])
    assert.isAbove(Users.PREFERRED.first, 2_000_200_000)
    assert.isBelow(Users.PREFERRED.last, 2 ** 31)
  })

  it("a system without namespaces has all ids", () => {
    assert.deepStrictEqual(Users.available("", ""), [Users.PREFERRED])
  })

  it("a container with 65,536 ids uses low ones", () => {
    const map = "         0     100000      65536\n"
    assert.deepStrictEqual(Users.available(map, map), [Users.IN_SMALL_NAMESPACE])
  })

  it("only ids that are both users and groups of the container are used", () => {
    const users = "0 1000 1\n1 100000 50000\n"
    const groups = "0 1000 45000\n"
    assert.deepStrictEqual(Users.available(users, groups), [{ first: 40_000, last: 44_999 }])
    assert.deepStrictEqual(Users.available("0 1000 1\n", groups), [])
  })
})

describe.skipIf(!isRoot || !isLinux)("the user id that a server gets (as root on Linux)", () => {
  const first = Users.PREFERRED.first + 77
  const takes = () => Promise.resolve(true)
  const refusal = (chosen: Promise<number>) => chosen.catch(({ message }: Error) => message)
  const NONE = "No unused user id was found"
  const TRIES = 10

  it("belongs to no file beside the server's, to no process and to no user of the machine", async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waybill-ids-"))
    for (const [name, uid, gid] of [
      ["by user", first, 0],
      ["by group", 0, first + 1],
    ] as const) {
      fs.writeFileSync(path.join(folder, name), "")
      fs.chownSync(path.join(folder, name), uid, gid)
    }
    const child = spawn("/bin/sleep", ["600"], { uid: first + 2, gid: first + 2, cwd: "/", stdio: "ignore" })
    await once(child, "spawn")
    // At random, so that a wrong one may come late.
    for (let tries = 0; tries < TRIES; tries++)
      assert.strictEqual(await Users.choose([folder], takes, [{ first, last: first + 3 }]), first + 3)
    assert.include(await refusal(Users.choose([folder], takes, [{ first: somebody, last: somebody }])), NONE)
    child.kill("SIGKILL")
    await once(child, "exit")
    fs.rmSync(folder, { recursive: true })
  })
})
