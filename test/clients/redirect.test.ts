import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, layer } from "../support/effectTest.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"

const PRELOAD = new URL("../../packages/redirect/src/preload.ts", import.meta.url).href
const ROOT = fileURLToPath(new URL("../../", import.meta.url))

/** Runs a program under the preload, in a process of its own. */
const run = (program: string, env: Readonly<Record<string, string>>) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) =>
        execFile(
          process.execPath,
          ["--no-warnings", `--import=${PRELOAD}`, "--input-type=module", "--eval", program],
          { cwd: ROOT, env: { PATH: process.env["PATH"] ?? "", ...env }, timeout: 30_000 },
          (error, stdout, stderr) =>
            resolve({
              code: error === null ? 0 : Number(error.code ?? 1),
              stdout: stdout.trim(),
              stderr: stderr.trim(),
            }),
        ),
      ),
  )

const PACKAGES = `
  import { Resend } from "resend"
  import postmark from "postmark"
  import sendgrid from "@sendgrid/mail"
  const key = process.env.KEY
  const [from, to, subject, text] = ["hi@acme.test", "ana@example.org", "x", "Hello"]
  const sent = await new Resend(key).emails.send({ from, to, subject, text })
  const { ErrorCode } = await new postmark.ServerClient(key).sendEmail({ From: from, To: to, Subject: subject, TextBody: text })
  sendgrid.setApiKey(key)
  const [{ statusCode }] = await sendgrid.send({ from, to, subject, text })
  console.log(JSON.stringify([sent.error, ErrorCode, statusCode]))`

const NODE = `
  import http, { request } from "node:https"
  import { Worker } from "node:worker_threads"
  const headers = { "content-type": "application/json", authorization: "Bearer " + process.env.KEY, Host: "api.resend.com" }
  const body = JSON.stringify({ from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "Hello" })
  const status = (make) => new Promise((resolve, reject) =>
    make((response) => resolve(response.resume().statusCode)).on("error", reject).end(body))
  const url = "https://api.resend.com/emails"
  const agent = new http.Agent()
  const found = [
    await status((done) => request(url, { method: "POST", headers, agent }, done)),
    await status((done) => http.request({ hostname: "api.resend.com", port: 443, path: "/emails", method: "POST", headers }, done)),
    await status((done) => http.request(new URL(url), { method: "POST", headers }, done)),
    (await fetch(url, { method: "POST", headers, body })).status,
    (await fetch(new Request(url, { method: "POST", headers, body }))).status,
    (await fetch(process.env.WAYBILL_URL + "/healthz")).status,
  ]
  const worker = new Worker("fetch('" + url + "').then(({ status }) => import('node:worker_threads').then(({ parentPort }) => parentPort.postMessage(status)))", { eval: true })
  found.push(await new Promise((resolve) => worker.once("message", resolve)))
  console.log(JSON.stringify(found))`

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the preload", (it) => {
  const setUp = Effect.gen(function* () {
    const world = yield* HttpWorld
    const { secret } = yield* world.key(yield* world.account())
    yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
    return { world, key: secret, env: { KEY: secret, WAYBILL_URL: world.url } }
  })

  it.effect("sends what the packages of three services send to their own hosts, and says so once", function* () {
    const { env, key, world } = yield* setUp
    const { code, stderr, stdout } = yield* run(PACKAGES, env)
    assert.deepStrictEqual([code, stdout], [0, "[null,0,202]"], stderr)
    assert.match(
      stderr,
      /^@waybill\/redirect: requests to api\.resend\.com, .* go to http:\/\/127\.0\.0\.1:\d+\/(?:\n.*SG\..*)?$/su,
    )
    assert.lengthOf((yield* world.request("GET", "/v1/email/logs", { key })).json.data, 3)
  })

  it.effect("covers each way of Node to make a request, and no other host", function* () {
    const { env } = yield* setUp
    const { code, stderr, stdout } = yield* run(NODE, env)
    assert.deepStrictEqual([code, stdout], [0, "[200,200,200,200,200,200,401]"], stderr)
    assert.lengthOf(stderr.split("\n"), 1)
  })

  it.effect("ends a program without an address", function* () {
    for (const WAYBILL_URL of ["", "mail.example.com", "ftp://mail.example.com", "https://mail.example.com?x"]) {
      const { code, stderr, stdout } = yield* run("console.log('ran')", { WAYBILL_URL })
      assert.notStrictEqual(code, 0)
      assert.strictEqual(stdout, "")
      assert.include(stderr, "set WAYBILL_URL")
    }
  })
  it.effect("runs from its packed file, by NODE_OPTIONS", function* () {
    const project = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-redirect-"))),
      (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
    )
    yield* Effect.promise(async () => {
      const { stdout } = await promisify(execFile)("npm", ["pack", "--json", "--pack-destination", project], {
        cwd: join(ROOT, "packages/redirect"),
      })
      const packed = /[\w.-]+\.tgz/u.exec(stdout)?.[0] ?? assert.fail(stdout)
      await writeFile(join(project, "package.json"), JSON.stringify({ name: "empty", private: true }))
      const install = ["install", "--offline", "--no-audit", "--no-fund", join(project, packed)]
      await promisify(execFile)("npm", install, { cwd: project })
      const { stderr } = await promisify(execFile)(process.execPath, ["--eval", ""], {
        cwd: project,
        env: { ...process.env, NODE_OPTIONS: "--import=@waybill/redirect", WAYBILL_URL: "https://mail.example.com" },
      })
      assert.match(stderr, /go to https:\/\/mail\.example\.com\/$/mu)
    })
  })
})
