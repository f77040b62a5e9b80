import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "../support/effectTest.ts"

describe("npm run ship", () => {
  const ship = async (...args: ReadonlyArray<string>) => {
    const folder = await fs.mkdtemp(join(tmpdir(), "waybill-tools-"))
    const child = spawn(process.execPath, ["scripts/ship.ts", ...args], {
      env: { PATH: folder },
      stdio: ["ignore", "pipe", "pipe"],
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)))
    const [code] = (await once(child, "close")) as [number | null]
    await fs.rm(folder, { recursive: true })
    return { code, said }
  }

  it("names what it leaves out on a machine without a tool, and fails at nothing", async () => {
    const { code, said } = await ship()
    assert.strictEqual(code, 0, said)
    assert.deepStrictEqual(
      said
        .trim()
        .split("\n")
        .map((line) => line.split(/\s{2,}/u).slice(0, 2)),
      ["image", "compose", "unit", "flake"].map((part) => ["skipped", part]),
    )
  })

  it("does only what is asked for, and knows its parts", async () => {
    assert.match((await ship("flake")).said, /^skipped {3}flake .*nix is not installed\n$/u)
    assert.strictEqual((await ship("balloon")).code, 64)
  })
})
