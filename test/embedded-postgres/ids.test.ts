import { assert, describe, it } from "@effect/vitest"
import * as Users from "@waybill/embedded-postgres/Users"

const WHOLE = "         0          0 4294967295\n"

describe("user ids for a server of root's", () => {
  it("are far above those of people, containers and directories where the system has them all", () => {
    assert.deepStrictEqual(Users.available(WHOLE, WHOLE), [Users.PREFERRED])
    assert.isAbove(Users.PREFERRED.first, 2_000_200_000)
    assert.isBelow(Users.PREFERRED.last, 2 ** 31)
  })

  it("are all there are on a system that tells of no namespaces", () => {
    assert.deepStrictEqual(Users.available("", ""), [Users.PREFERRED])
  })

  it("are low ones in a container that has 65,536", () => {
    const map = "         0     100000      65536\n"
    assert.deepStrictEqual(Users.available(map, map), [Users.IN_SMALL_NAMESPACE])
  })

  it("are only those that the container has as users and as groups", () => {
    const users = "0 1000 1\n1 100000 50000\n"
    const groups = "0 1000 45000\n"
    assert.deepStrictEqual(Users.available(users, groups), [{ first: 40_000, last: 44_999 }])
    assert.deepStrictEqual(Users.available("0 1000 1\n", groups), [])
  })
})
