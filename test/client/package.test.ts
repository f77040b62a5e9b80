import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { FILE, render } from "../../scripts/generate/clientTypes.ts"
import { KEY } from "./support.ts"

const run = promisify(execFile)
const CLIENT = fileURLToPath(new URL("../../packages/client/", import.meta.url))
/** Maximum size of the client in a customer's bundle. */
const MAX_GZIP_BYTES = 15 * 1024

let project = ""
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "waybill-client-"))
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], { cwd: CLIENT })
  const packed: unknown = JSON.parse(
    stdout.slice(stdout.indexOf("[") === -1 ? stdout.indexOf("{") : stdout.indexOf("[")),
  )
  const [{ filename }] = Object.values(packed as Record<string, { filename: string }>) as [{ filename: string }]
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }))
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(project, filename)], { cwd: project })
}, 120_000)
afterAll(() => rm(project, { recursive: true, force: true }))

describe("the packed client", () => {
  it("the client's types are current with the contract", async () => {
    assert.strictEqual(await readFile(FILE, "utf8"), render())
  })

  it("the packed client runs in an empty project", async () => {
    const program = `
      import { Waybill, WaybillError, verifyWebhook, isWellFormedKey } from "@waybill/client"
      const waybill = new Waybill(${JSON.stringify(KEY)}, { baseUrl: "http://127.0.0.1:9", retries: 0 })
      const error = await waybill.account.get().catch((error) => error)
      console.log(error instanceof WaybillError, error.code, typeof verifyWebhook, isWellFormedKey("wb_x"))`
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: project })
    assert.strictEqual(stdout.trim(), "true connection_failed function false")
  })

  it("the packed client type-checks in an empty project", async () => {
    await writeFile(
      join(project, "use.ts"),
      `import { Waybill } from "@waybill/client"
       export const send = (waybill: Waybill): Promise<{ readonly id: string }> =>
         waybill.emails.send({ from: "a@acme.test", to: ["b@example.org"], subject: "Hi", text: "Hello" })
       // @ts-expect-error a message needs a subject
       export const bad = (waybill: Waybill) => waybill.emails.send({ from: "a@acme.test", to: "b@example.org" })`,
    )
    const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url))
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--lib",
      "es2023,dom",
      "use.ts",
    ]
    const { stdout } = await run(process.execPath, [tsc, ...options], { cwd: project })
    assert.strictEqual(stdout, "")
  })

  it("the packed client is small", async () => {
    const dist = join(project, "node_modules", "@waybill", "client", "dist")
    const files = ["Waybill", "WaybillError", "Sender", "isWellFormedKey", "paginate", "streamEvents", "verifyWebhook"]
    const all = await Promise.all(files.map((file) => readFile(join(dist, `${file}.js`))))
    assert.isBelow(gzipSync(Buffer.concat(all)).length, MAX_GZIP_BYTES)
  })
})
