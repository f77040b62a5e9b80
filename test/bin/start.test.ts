import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { once } from "node:events"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Waybill } from "../../packages/client/src/Waybill.ts"
import { type Ended, freePort, runToEnd, WaybillCommand } from "../support/process/service.ts"

const run = promisify(execFile)
const LAST_LINE = "curl "
const TIMEOUT = 90_000

let data = ""
let env: Record<string, string> = {}
let service: WaybillCommand
let first = ""
/** Result of the first start, whose port another program had taken. */
let taken: Ended
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "waybill-e2e-"))
  const [port, smtp] = [await freePort(), await freePort()]
  env = { WAYBILL_DATA: data, PORT: `${port}`, SMTP_PORT: `${smtp}` }
  const other = createServer().listen(port, "127.0.0.1")
  await once(other, "listening")
  taken = await runToEnd(["start"], env)
  other.close()
  service = new WaybillCommand(["start"], env)
  first = await service.waitForOutput(LAST_LINE)
}, TIMEOUT)
afterAll(async () => {
  await service.stop()
  await rm(data, { recursive: true, force: true })
}, TIMEOUT)

const url = () => `http://127.0.0.1:${env["PORT"]}`
const keyOf = (text: string) => /wb_\w+/.exec(text)?.[0] ?? ""

describe("a first start", () => {
  it("reports a port in use with its setting, and prints no secrets", () => {
    assert.deepStrictEqual(
      [taken.code, taken.output.trim().split("\n").at(-1)],
      [1, `waybill: Port ${env["PORT"]} is in use. Set PORT to another, e.g. PORT=8080 npm start.`],
    )
    assert.notInclude(taken.output, "wb_")
  })

  it("prints its addresses, and its secrets only once", () => {
    for (const line of [`${url()}/v1`, `${url()}/docs`, "owner@acme.test / ", "API key    wb_"])
      assert.include(first, line)
  })

  it("serves probes, contract, documentation and dashboard", async () => {
    for (const path of ["/healthz", "/readyz", "/openapi.json", "/docs", "/"]) {
      const answer = await fetch(url() + path)
      assert.strictEqual(answer.status, 200, path)
      // A response body that is not read keeps its connection busy, and a stop would wait for it.
      assert.isAbove((await answer.text()).length, 0)
    }
  })

  it("delivers a first message sent by the printed curl command", { timeout: TIMEOUT }, async () => {
    const line = /^.*"message":"curl.*$/mu.exec(first)?.[0] ?? assert.fail(first)
    const { message: curl } = JSON.parse(line) as { readonly message: string }
    const { stdout } = await run("sh", ["-c", curl])
    const { id } = JSON.parse(stdout) as { id: string }
    const waybill = new Waybill(keyOf(first), { baseUrl: url() })
    const email = await until(async () => {
      const value = await waybill.logs.get(id)
      return value.status === "queued" ? undefined : value
    })
    assert.strictEqual(email.status, "delivered")
    assert.strictEqual(email.content?.text, "It works.")
    const { data: events } = await waybill.logs.events(id)
    assert.deepStrictEqual(
      events.map((event) => event.type),
      ["email.queued", "email.delivered"],
    )
  })

  it("keeps mail in the sandbox until it is deleted", { timeout: TIMEOUT }, async () => {
    const waybill = new Waybill(keyOf(first), { baseUrl: url() })
    const to = "bo@example.org"
    const waiting = waybill.sandbox.waitFor(to)
    const attachments = [{ filename: "r.txt", content: Buffer.from("receipt").toString("base64") }]
    await waybill.emails.send({ from: "Acme <hello@acme.test>", to, subject: "Grüße", html: "<p>Hi</p>", attachments })
    const mail = (await waiting) ?? assert.fail("no mail came")
    assert.deepStrictEqual(
      [mail.subject, mail.recipients, mail.html?.trim(), mail.text?.trim()],
      ["Grüße", [to], "<p>Hi</p>", "Hi"],
    )
    assert.deepStrictEqual(
      mail.attachments.map(({ content, filename }) => [filename, Buffer.from(content, "base64").toString()]),
      [["r.txt", "receipt"]],
    )
    assert.include(Buffer.from(mail.raw, "base64").toString(), "DKIM-Signature:")
    assert.strictEqual((await waybill.sandbox.remove(mail.id)).deleted, 1)
    assert.strictEqual((await waybill.sandbox.list({ to })).data.length, 0)
  })

  it("lets commands run beside it", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["accounts", "list", "--json"], env)
    assert.strictEqual(code, 0, output)
    assert.deepStrictEqual(
      (JSON.parse(output) as ReadonlyArray<{ plan: string }>).map((account) => account.plan),
      ["business"],
    )
    for (const audit of ["emails", "webhooks"]) {
      assert.strictEqual((await runToEnd(["audit", audit], env)).code, 0)
    }
  })

  it("refuses a second start on its folder and names the process that uses it", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["start"], { ...env, PORT: `${await freePort()}` })
    assert.strictEqual(code, 1)
    assert.include(output, `${service.child.pid}`)
  })

  it("stops cleanly and starts again without printing secrets", { timeout: TIMEOUT }, async () => {
    assert.strictEqual((await service.stop()).code, 0)
    service = new WaybillCommand(["start"], env)
    const second = await service.waitForOutput("Waybill is ready.")
    // The first commands are shown until there is mail.
    for (const hidden of ["wb_", LAST_LINE]) assert.notInclude(second, hidden)
    assert.notInclude(second, "Sign in")
    const waybill = new Waybill(keyOf(first), { baseUrl: url() })
    assert.strictEqual((await waybill.logs.list()).data.length, 2)
  })
})

describe("a folder without a database", () => {
  it.each([
    ["audit", "emails"],
    ["projections", "verify", "email_log"],
    ["top", "--json"],
    ["events", "stream", "msg_1"],
    ["events", "export", "log.jsonl"],
    ["erase", "ana@example.org"],
    ["accounts", "list"],
    ["migrate", "--check"],
  ])("is not created by a command that only reads: waybill %s %s", { timeout: TIMEOUT }, async (...args) => {
    const nowhere = join(data, "nowhere")
    const { code, output } = await runToEnd(args, { WAYBILL_DATA: nowhere })
    assert.strictEqual(code, 1)
    assert.include(output, `DATABASE_URL is not set, and ${nowhere}/postgres contains no embedded Postgres`)
    assert.isFalse(existsSync(nowhere))
  })

  it("is reported by the doctor and not created", { timeout: TIMEOUT }, async () => {
    const nowhere = join(data, "nowhere")
    const { output } = await runToEnd(["doctor"], { WAYBILL_DATA: nowhere, DNS_SERVERS: "127.0.0.1:1" })
    assert.match(output, /^warning +database +none: DATABASE_URL is not set/mu)
    assert.isFalse(existsSync(nowhere))
  })
})

describe("an invalid setting", () => {
  it("is reported with its valid values", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["start"], { ...env, PORT: "eighty", TRANSPORT: "pigeon" })
    assert.strictEqual(code, 78)
    assert.match(output, /PORT is invalid: .*3025/)
    assert.match(output, /TRANSPORT is invalid: .*sandbox/)
  })

  it("is reported as missing where another setting needs it", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["config"], { ...env, TRANSPORT: "relay" })
    assert.strictEqual(code, 78)
    assert.include(output, "SMTP_URL is missing")
  })
})

const until = async <A>(poll: () => Promise<A | undefined>): Promise<A> => {
  for (;;) {
    const value = await poll()
    if (value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
