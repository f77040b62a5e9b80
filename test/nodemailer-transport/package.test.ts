import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const run = promisify(execFile)
const PACKAGE = fileURLToPath(new URL("../../packages/nodemailer-transport/", import.meta.url))
const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url))
const TIMEOUT = 120_000

let project = ""
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "waybill-transport-"))
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], { cwd: PACKAGE })
  const filename = /[\w.-]+\.tgz/u.exec(stdout)?.[0] ?? assert.fail(stdout)
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }))
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(project, filename)], { cwd: project })
  for (const name of ["nodemailer", "@types", "undici-types"])
    await symlink(join(MODULES, name), join(project, "node_modules", name))
}, TIMEOUT)
afterAll(() => rm(project, { recursive: true, force: true }))

const PROGRAM = `
  const transport = waybill({ key: "wb_x", url: "http://127.0.0.1:9", retries: 0 })
  nodemailer
    .createTransport(transport)
    .sendMail({ from: "hi@acme.test", to: "ana@example.org", subject: "Hi", text: "Hi" })
    .catch((error) => console.log(error instanceof TransportError, error.code, transport.version))`

describe("the packed nodemailer transport", () => {
  it.each([
    [
      "an ES module",
      "module",
      `import nodemailer from "nodemailer"; import * as pkg from "@waybill/nodemailer-transport"`,
    ],
    [
      "CommonJS",
      "commonjs",
      `const nodemailer = require("nodemailer"), pkg = require("@waybill/nodemailer-transport")`,
    ],
  ])("runs in an empty project as %s", async (_, type, imports) => {
    const program = `${imports}; const { TransportError, waybill } = pkg; ${PROGRAM}`
    const { stdout } = await run(process.execPath, [`--input-type=${type}`, "--eval", program], { cwd: project })
    const { version } = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")) as {
      readonly version: string
    }
    assert.strictEqual(stdout.trim(), `true ECONNECTION ${version}`)
  })

  it.each([
    ["use.mts", "nodenext", "nodenext"],
    ["use.cts", "nodenext", "nodenext"],
    ["use.ts", "esnext", "bundler"],
  ])("type-checks with nodemailer in %s", { timeout: TIMEOUT }, async (file, module, resolution) => {
    await writeFile(
      join(project, file),
      `import { createTransport, type SendMailOptions } from "nodemailer"
       import { TransportError, waybill, type WaybillFields } from "@waybill/nodemailer-transport"
       const mailer = createTransport(waybill({ key: "wb_x" }))
       const mail: SendMailOptions & WaybillFields = { from: "a@acme.test", to: ["b@example.org"], tags: ["receipt"] }
       export const send = async (): Promise<string> => (await mailer.sendMail(mail)).messageId
       export const verify = (): Promise<true> => waybill({ key: "wb_x" }).verify()
       export const code = (error: unknown) => (error instanceof TransportError ? error.responseCode : undefined)
       export const byEnvironment = waybill({})
       // @ts-expect-error a key is a text
       export const bad = waybill({ key: 7 })`,
    )
    const tsc = join(MODULES, "typescript/bin/tsc")
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--types", "node", "--target", "es2022"]
    const where = ["--module", module, "--moduleResolution", resolution, file]
    const { stdout } = await run(process.execPath, [tsc, ...options, ...where], { cwd: project }).catch(
      (error: { readonly stdout: string }) => error,
    )
    assert.strictEqual(stdout, "")
  })
})
