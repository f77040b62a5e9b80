import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, runToEnd, Service } from "../../support/service.ts"

const TIMEOUT = 60_000
let data = ""
let env: Record<string, string> = {}
let service: Service

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "waybill-top-"))
  const [port, smtp] = [await freePort(), await freePort()]
  env = { WAYBILL_DATA: data, PORT: `${port}`, SMTP_PORT: `${smtp}` }
  service = new Service(["start"], env)
  await service.says("curl ")
}, TIMEOUT)
afterAll(async () => {
  await service.stop()
  await rm(data, { recursive: true, force: true })
}, TIMEOUT)

describe("waybill top", () => {
  it("prints one look as JSON, beside a running service", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["top", "--json"], env)
    assert.strictEqual(code, 0, output)
    const seen = JSON.parse(output) as Record<string, unknown>
    assert.strictEqual(seen["workers"], 1)
    assert.isAbove(Number(seen["position"]), 0)
    assert.isObject(seen["per_second"])
    assert.isArray(seen["queue"])
    assert.isArray(seen["followers"])
  })

  it("prints one look as text where there is no screen", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["top"], env)
    assert.strictEqual(code, 0, output)
    assert.match(output, /^Waybill \d.*1 worker .*log at \d+/u)
    for (const word of ["accepted 0.0", "delivery", "webhook", "oldest", "connections"]) assert.include(output, word)
    assert.notInclude(output, "\u001b")
  })
})
