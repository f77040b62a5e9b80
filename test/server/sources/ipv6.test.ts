import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "../../support/effectTest.ts"

const PROGRAM = fileURLToPath(new URL("ipv6Process.ts", import.meta.url))
const SERVER = "fd00:1::1"
const SOURCES = ["fd00:1::11", "fd00:1::12"]
const TIMEOUT = 60_000

/** Runs a shell script in a network of its own, which has a loopback interface only. */
const inNetwork = (script: string, ...args: ReadonlyArray<string>) =>
  spawnSync("unshare", ["--map-root-user", "--net", "sh", "-euc", script, "sh", ...args], {
    encoding: "utf8",
    timeout: TIMEOUT,
  })

const ADD_ADDRESSES = [
  "ip link set lo up",
  ...[SERVER, ...SOURCES].map((address) => `ip -6 address add ${address}/128 dev lo nodad`),
].join("\n")

describe.skipIf(inNetwork(ADD_ADDRESSES).status !== 0)("with network namespaces", () => {
  it(
    "direct delivery connects from the chosen one of several IPv6 addresses, with its own name",
    () => {
      const { stderr, stdout } = inNetwork(`${ADD_ADDRESSES}\nexec "$@"`, process.execPath, PROGRAM, SERVER, ...SOURCES)
      const mails = stdout.trimEnd().split("\n")
      assert.lengthOf(mails, 20, stderr)
      assert.deepStrictEqual(
        [...new Set(mails)].toSorted(),
        SOURCES.map((address, nth) => `${address} s${nth}.sender.test`),
      )
    },
    TIMEOUT,
  )
})
