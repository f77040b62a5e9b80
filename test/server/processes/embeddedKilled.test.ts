import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort, WaybillCommand } from "../../support/process/service.ts"

const TIMEOUT = 600_000

const folder = mkdtempSync(join(tmpdir(), "waybill-killed-"))
// Started by root, Postgres runs as another user, who must be able to enter the folder.
chmodSync(folder, 0o711)
let service: WaybillCommand
let url = ""
let key = ""
beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  service = new WaybillCommand(["start"], { WAYBILL_DATA: folder, PORT: `${port}`, SMTP_PORT: `${await freePort()}` })
  key = /wb_\w+/u.exec(await service.waitForOutput("curl "))?.[0] ?? ""
}, TIMEOUT)
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT)

const postmaster = (): number =>
  Number(readFileSync(join(folder, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0])

const send = async (): Promise<number> => {
  const response = await fetch(`${url}/v1/email/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ from: "hi@acme.test", to: "ana@example.org", subject: "Receipt", text: "Thank you." }),
  })
  await response.text()
  return response.status
}

describe("a service whose embedded Postgres is killed", () => {
  it("starts it again, says so in plain lines, and goes on", { timeout: TIMEOUT }, async () => {
    assert.strictEqual(await send(), 200)
    const before = postmaster()
    process.kill(before, "SIGKILL")
    await service.waitForOutput("the embedded Postgres runs again after")
    while ((await send()) !== 200) await new Promise((resolve) => setTimeout(resolve, 100))
    assert.notStrictEqual(postmaster(), before)
    assert.strictEqual((await fetch(`${url}/readyz`)).status, 200)
    const lines = service.output.slice(service.output.lastIndexOf("curl ")).split("\n").slice(1)
    const logged = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as { message: string })
    assert.lengthOf(
      logged.filter(({ message }) => message === "the embedded Postgres ended unexpectedly; it is being restarted"),
      1,
    )
    assert.lengthOf(
      logged.filter(({ message }) => /runs again .* has recovered from its write-ahead log: /u.test(message)),
      1,
    )
    assert.notMatch(service.output, /^\s+at /mu)
  })

  it("stops as before", { timeout: TIMEOUT }, async () => {
    const { code, output } = await service.stop()
    assert.strictEqual(code, 0, output)
  })
})
