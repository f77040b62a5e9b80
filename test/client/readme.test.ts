import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Webhook } from "standardwebhooks"
import { Waybill } from "../../packages/client/src/Waybill.ts"
import { assert, layer } from "../support/effectTest.ts"
import * as Database from "../support/postgres/Database.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"
import * as World from "../support/world/World.ts"
import { packPackage } from "../support/process/packPackage.ts"
import { readmeSamples } from "./readmeSamples.ts"

const run = promisify(execFile)
const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url))
const TIMEOUT_MS = 240_000
const SECRET = `whsec_${Buffer.alloc(24, 3).toString("base64")}`
const PDF = Buffer.from("%PDF-1.7")

/** Imports the compiled samples in order and prints what each one logs, exports and throws. */
const DRIVER = `
const results = {}
const { log } = console
for (const name of process.argv.slice(2)) {
  const result = (results[name] = { lines: [], statuses: [] })
  console.log = (...args) => result.lines.push(args)
  try {
    const { POST } = await import("./out/" + name + ".js")
    for (const init of POST === undefined ? [] : JSON.parse(process.env.CALLS))
      result.statuses.push((await POST(new Request("http://127.0.0.1/hook", init))).status)
  } catch (error) {
    result.error = String(error.stack)
  }
}
log(JSON.stringify(results))`

/** Sends a React element with the client and the renderer as CommonJS. */
const COMMONJS = `
const { createElement } = require("react")
const { Waybill } = require("@waybill/client")
const react = createElement("p", null, "Hello from CommonJS")
const email = { from: "hello@acme.test", to: "ana@example.org", subject: "CommonJS", react }
new Waybill().emails.send(email)`

interface SampleResult {
  readonly lines: ReadonlyArray<ReadonlyArray<unknown>>
  readonly statuses: ReadonlyArray<number>
  readonly error?: string
}

/** Compiles the samples in a project with the packed client, React and its renderer, and runs them. */
const runSamples = async (env: Readonly<Record<string, string>>): Promise<Readonly<Record<string, SampleResult>>> => {
  const { folder, project } = await packPackage("client")
  try {
    const modules = join(project, "node_modules")
    await Promise.all([
      mkdir(join(modules, "@types")),
      mkdir(join(modules, "@react-email")),
      mkdir(join(project, "files")),
    ])
    for (const name of ["react", "react-dom", "@types/react", "@types/node", "@react-email/render"])
      await symlink(join(MODULES, name), join(modules, name))
    await writeFile(join(project, "files", "invoice.pdf"), PDF)
    await writeFile(join(project, "driver.js"), DRIVER)
    const samples = readmeSamples()
    for (const { name, program } of samples) await writeFile(join(project, `${name}.tsx`), program)
    const compilerOptions = {
      target: "es2022",
      lib: ["es2023", "dom"],
      module: "nodenext",
      jsx: "react-jsx",
      types: ["node"],
      strict: true,
      outDir: "out",
      rootDir: ".",
      // Type declarations of React and Node are not what this test is about.
      skipLibCheck: true,
    }
    const files = samples.map(({ name }) => `${name}.tsx`)
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }))
    const compile = run(process.execPath, [join(MODULES, "typescript", "bin", "tsc")], { cwd: project })
    await compile.catch(({ stdout }: { readonly stdout: string }) => assert.fail(stdout))
    const args = ["driver.js", ...samples.map(({ name }) => name)]
    await writeFile(join(project, "send.cjs"), COMMONJS)
    await run(process.execPath, ["send.cjs"], { cwd: project, env })
    const { stdout } = await run(process.execPath, args, { cwd: project, env })
    return JSON.parse(stdout) as Readonly<Record<string, SampleResult>>
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns a webhook call with a valid signature, and the same with another body. */
const webhookCalls = () => {
  const body = JSON.stringify({ type: "email.delivered", data: { email_id: "msg_1" } })
  const now = new Date()
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign("evt_1", now, body),
  }
  return [
    { method: "POST", headers, body },
    { method: "POST", headers, body: `${body} ` },
  ]
}

const worker = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const capture = yield* Layer.build(Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer)))
  yield* Layer.build(World.worker(url, { capture: Layer.succeedContext(capture) }))
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: TIMEOUT_MS })("packages/client/README.md", (it) => {
  it.effect(
    "every sample compiles and runs against the service",
    function* () {
      const { account, key, url } = yield* HttpWorld
      const { secret } = yield* key(yield* account())
      const waybill = new Waybill(secret, { baseUrl: url })
      yield* Effect.promise(() => waybill.domains.add("acme.test"))
      yield* worker
      const results = yield* Effect.promise(() =>
        runSamples({
          WAYBILL_URL: url,
          WAYBILL_KEY: secret,
          WEBHOOK_SECRET: SECRET,
          CALLS: JSON.stringify(webhookCalls()),
        }),
      )
      for (const [name, { error }] of Object.entries(results)) assert.isUndefined(error, name)
      const lines = (name: string) => results[name]?.lines ?? []

      assert.match(String(lines("send-an-email-1")[0]), /^msg_/u)
      assert.deepStrictEqual(lines("send-once-1"), [[true]])
      const [[status, code, reason, requestId] = []] = lines("handle-errors-1")
      assert.deepStrictEqual([status, code, reason], [422, "unprocessable", "domain_not_verified"])
      assert.match(String(requestId), /^req_/u)
      const [[safeReason, safeId] = []] = lines("handle-errors-2")
      assert.strictEqual(safeReason, "domain_not_verified")
      assert.match(String(safeId), /^req_/u)
      assert.deepStrictEqual(results["verify-webhooks-1"]?.statuses, [204, 401])
      assert.deepStrictEqual(lines("verify-webhooks-1"), [["email.delivered", { email_id: "msg_1" }]])

      const logs = yield* Effect.promise(() => waybill.logs.list())
      const bySubject = (subject: string) => logs.data.filter((each) => each.subject === subject)
      assert.lengthOf(bySubject("Order 4711"), 1)
      const captured = (subject: string) =>
        World.until(
          Effect.promise(async () => {
            const { data } = await waybill.sandbox.list({ limit: 100 })
            return data.find((each) => each.subject === subject)
          }),
          (found) => found !== undefined,
        ).pipe(Effect.flatMap((found) => Effect.promise(() => waybill.sandbox.get(found?.id ?? ""))))
      const invoice = yield* captured("Your invoice")
      assert.sameDeepMembers(
        invoice.attachments.map(({ content, content_type, filename }) => [filename, content_type, content]),
        [
          ["invoice.pdf", "application/pdf", PDF.toString("base64")],
          ["terms.txt", "text/plain", Buffer.from("Pay within 30 days.").toString("base64")],
          ["logo.png", "image/png", Buffer.from([137, 80, 78, 71]).toString("base64")],
          ["hours.csv", "text/csv", Buffer.from("day,hours\n").toString("base64")],
        ],
      )
      const receipt = yield* captured("Your order has shipped")
      assert.include(receipt.html ?? "", "<h1>On its way, <!-- -->Ana</h1>")
      assert.include(receipt.text ?? "", "https://acme.test/orders")
      assert.notInclude(receipt.text ?? "", "<")
      assert.include((yield* captured("CommonJS")).html ?? "", "<p>Hello from CommonJS</p>")
    },
    TIMEOUT_MS,
  )
})
