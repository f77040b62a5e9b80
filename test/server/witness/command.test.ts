import { fromBase64 } from "@waybill/verify/Bytes"
import { createHash } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as AddCheckpoint from "../../../apps/server/src/witness/AddCheckpoint.ts"
import { memoryFolder } from "../../support/memoryFolder.ts"
import { freePort, runToEnd, WaybillCommand } from "../../support/process/service.ts"
import { FakeLog } from "./FakeLog.ts"

const TIMEOUT = 120_000
const UNPINNED = "keys of the log are those that its instance names"

describe("waybill witness", () => {
  const log = new FakeLog().grow(30)
  let folder = ""
  let port = 0
  let served: Awaited<ReturnType<FakeLog["serve"]>>

  beforeAll(async () => {
    folder = await memoryFolder("witness")
    port = await freePort()
    served = await log.serve()
  })
  afterAll(async () => {
    await served.close()
    await fs.rm(folder, { recursive: true, force: true })
  })

  const configure = async (changes: object = {}) => {
    const file = join(folder, "witness.json")
    const config = {
      name: "witness.example.org/w1",
      listen: { host: "127.0.0.1", port },
      folder: "seen",
      follow_seconds: 3_600,
      allow_networks: ["127.0.0.0/8"],
      logs: [{ url: served.url, keys: log.keys }],
      ...changes,
    }
    await fs.writeFile(file, JSON.stringify(config))
    return ["witness", "--config", file]
  }
  const url = (path: string) => `http://127.0.0.1:${port}${path}`
  const submit = async (request: Partial<AddCheckpoint.AddCheckpoint>) => {
    const body = AddCheckpoint.encode({ old: 0, proof: [], note: log.note(), ...request })
    const response = await fetch(url(AddCheckpoint.PATH), { method: "POST", body })
    return { status: response.status, type: response.headers.get("content-type"), body: await response.text() }
  }

  it("follows a log, cosigns over HTTP, and knows after a crash what it has signed", { timeout: TIMEOUT }, async () => {
    const args = await configure()
    const first = new WaybillCommand(args, {})
    await first.waitForOutput("witness started")
    let followed = await fetch(url(`/${createHash("sha256").update(log.origin).digest("hex")}/checkpoint`))
    while (followed.status === 404) followed = await fetch(followed.url)
    assert.match(await followed.text(), /\n\n— mail\.example\.com\/log \S+\n— witness\.example\.org\/w1 \S+\n$/u)
    assert.deepStrictEqual(await submit({ old: 5 }), { status: 409, type: "text/x.tlog.size", body: "30\n" })
    const earlier = log.note()
    log.grow(12)
    const signed = await submit({ old: 30, proof: log.proof(30) })
    assert.strictEqual(signed.status, 200)
    assert.strictEqual(fromBase64(/ (\S+)\n$/u.exec(signed.body)?.[1] ?? "").length, 4 + 8 + 64)
    const second = await runToEnd(args, {})
    assert.strictEqual(second.code, 78)
    assert.include(second.output, "is used by the process")
    await first.stop("SIGKILL")

    const again = new WaybillCommand(args, {})
    await again.waitForOutput("witness started")
    assert.strictEqual((await submit({ old: 30, note: earlier })).body, "42\n")
    assert.include(
      await (await fetch(url("/metrics"))).text(),
      'waybill_witness_size{origin="mail.example.com/log"} 42\n',
    )
    for (const [path, status] of [
      ["/", 404],
      [`/${"0".repeat(64)}/checkpoint`, 404],
    ] as const)
      assert.strictEqual((await fetch(url(path))).status, status)
    const large = await fetch(url(AddCheckpoint.PATH), { method: "POST", body: "x".repeat(70_000) })
    assert.strictEqual(large.status, 400)
    // A witness in another container takes the folder, without seeing this one.
    await fs.writeFile(join(folder, "seen", "lock"), "0 another")
    const note = log.grow(1).note()
    assert.strictEqual((await submit({ old: 42, note, proof: log.proof(42) })).status, 500)
    log.leaves = log.leaves.slice(0, 42)
    assert.strictEqual((await submit({ old: 5 })).body, "42\n")
    assert.strictEqual((await again.stop()).code, 0)
    assert.strictEqual(await fs.readFile(join(folder, "seen", "lock"), "utf8"), "0 another")
  })

  it("names a log that has forked, and ends with the code of a difference", { timeout: TIMEOUT }, async () => {
    const args = await configure()
    const before = await runToEnd([...args, "--once"], {})
    assert.strictEqual(before.code, 0, before.output)
    assert.notInclude(before.output, UNPINNED)
    const root = Buffer.from(log.build(42).root).toString("base64")
    log.rewrite(7).grow(3)
    const { code, output } = await runToEnd([...args, "--once"], {})
    assert.strictEqual(code, 3)
    const line = output.split("\n").find((text) => text.includes("has shown two histories")) ?? "{}"
    const named = JSON.parse(line)
    assert.deepInclude(named, { level: "error", origin: log.origin, url: `${served.url}/log` })
    assert.deepStrictEqual(named.smaller, { size: 42, root })
    assert.deepStrictEqual(named.larger, { size: 45, root: Buffer.from(log.build().root).toString("base64") })
    assert.strictEqual(JSON.parse(await fs.readFile(named.proof, "utf8")).object, "fork")
    assert.include(output, `shown two histories by: ${log.origin}`)
    // A witness that starts again still names it, and signs nothing of it.
    const running = new WaybillCommand(args, {})
    await running.waitForOutput("has shown two histories")
    await running.waitForOutput("witness started")
    assert.strictEqual((await submit({ old: 42, proof: log.proof(42) })).status, 422)
    assert.include(
      await (await fetch(url("/metrics"))).text(),
      'waybill_witness_forked{origin="mail.example.com/log"} 1\n',
    )
    await running.stop()
  })

  it("warns where the keys of a log are those that its instance names", { timeout: TIMEOUT }, async () => {
    const args = await configure({ folder: "unpinned", logs: [{ url: served.url }] })
    const { code, output } = await runToEnd([...args, "--once"], {})
    assert.strictEqual(code, 0, output)
    const line = output.split("\n").find((text) => text.includes(UNPINNED)) ?? "{}"
    assert.deepInclude(JSON.parse(line), { level: "warn", origin: log.origin, url: `${served.url}/log` })
  })

  it("says what is wrong with its configuration", { timeout: TIMEOUT }, async () => {
    for (const [changes, problem] of [
      [{ logs: [] }, "logs"],
      [{ logs: [{ url: "ftp://x" }] }, "the address of an instance"],
      [{ name: "two words" }, "no spaces"],
      [{ extra: 1 }, "extra"],
      [{ logs: [{ url: served.url, keys: ["nonsense"] }] }, "not of the form name+id+base64"],
    ] as const) {
      const { code, output } = await runToEnd(await configure(changes), {})
      assert.strictEqual(code, 78, output)
      assert.include(output, problem)
    }
    assert.strictEqual((await runToEnd(["witness", "--config", join(folder, "nothing.json")], {})).code, 78)
  })
})
