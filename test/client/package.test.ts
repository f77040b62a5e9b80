import { execFile } from "node:child_process"
import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { FILE, render } from "../../scripts/generate/clientTypes.ts"
import { type Packed, packPackage } from "../support/process/packPackage.ts"
import { KEY } from "./support.ts"

const run = promisify(execFile)
const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url))
/** Maximum size of the client in a customer's bundle. */
const MAX_GZIP_BYTES = 15 * 1024

let packed: Packed
beforeAll(async () => {
  packed = await packPackage("client")
}, 120_000)
afterAll(() => rm(packed.folder, { recursive: true, force: true }))

/** Runs a program in the empty project and returns its output. */
const runProgram = async (
  type: "module" | "commonjs",
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const args = [`--input-type=${type}`, "--eval", program]
  const { stdout } = await run(process.execPath, args, { cwd: packed.project, env })
  return stdout.trim()
}

const IMPORTS = {
  module: `import { Waybill, WaybillError, verifyWebhook, isWellFormedKey } from "@waybill/client"`,
  commonjs: `const { Waybill, WaybillError, verifyWebhook, isWellFormedKey } = require("@waybill/client")`,
}
const TYPES = ["module", "commonjs"] as const

/** Type errors, if any, are printed to the output. */
const typeCheck = async (tsc: string, file: string, options: ReadonlyArray<string>): Promise<string> => {
  // Checks the declarations of the package, and not those of the compiler, which take half of its time.
  const strict = ["--noEmit", "--strict", "--skipDefaultLibCheck", "--target", "es2022", "--lib", "es2023,dom"]
  const args = [tsc, ...strict, ...options, file]
  return run(process.execPath, args, { cwd: packed.project }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  )
}

const CURRENT_TSC = join(MODULES, "typescript", "bin", "tsc")
/** TypeScript 5, which arethetypeswrong brings, still has `moduleResolution: node10`. */
const OLDER_TSC = createRequire(join(MODULES, "@arethetypeswrong", "core", "package.json")).resolve(
  "typescript/bin/tsc",
)

const USE = `
  import { Waybill, type WaybillError } from "@waybill/client"
  export const send = (waybill: Waybill): Promise<{ readonly id: string }> =>
    waybill.emails.send({ from: "a@acme.test", to: ["b@example.org"], subject: "Hi", text: "Hello", scheduled_at: new Date() })
  // @ts-expect-error a message needs a subject
  export const bad = (waybill: Waybill) => waybill.emails.send({ from: "a@acme.test", to: "b@example.org" })
  export const attach = (waybill: Waybill, file: File, blob: Blob) => waybill.emails.send({
    from: "a@acme.test", to: "b@example.org", subject: "Hi", text: "Hello",
    attachments: [{ path: "a.pdf" }, { content: file }, { filename: "b", content: blob }, { filename: "c", content: new Uint8Array(1) }],
  })
  // @ts-expect-error a Blob has no name
  export const nameless = (waybill: Waybill, content: Blob) => waybill.emails.send({ from: "", to: "", subject: "", attachments: [{ content }] })
  export const safe = async (waybill: Waybill): Promise<string | null> => {
    const { data, error } = await waybill.safe.logs.get("msg_1", { as_of: new Date() })
    if (error) { const { reason }: WaybillError = error; return reason }
    return data.subject
  }
  // @ts-expect-error an iterator has no safe variant
  export const all = (waybill: Waybill) => waybill.safe.logs.all()
`

describe("the packed client", () => {
  it("the client's types are current with the contract", async () => {
    assert.strictEqual(await readFile(FILE, "utf8"), render())
  })

  it.each(TYPES)("the packed client runs in an empty project as %s", async (type) => {
    const program = `${IMPORTS[type]}
      const waybill = new Waybill(${JSON.stringify(KEY)}, { baseUrl: "http://127.0.0.1:9", retries: 0 })
      waybill.account.get().catch((error) =>
        console.log(error instanceof WaybillError, error.code, typeof verifyWebhook, isWellFormedKey("wb_x")))`
    assert.strictEqual(await runProgram(type, program), "true connection_failed function false")
  })

  it("the key and the address are taken from the environment", async () => {
    const program = `${IMPORTS.module}
      try {
        await new Waybill(undefined, { fetch: (url, { headers }) => (console.log(url.href, headers.authorization), Response.json({})) }).account.get()
      } catch (error) {
        console.log(error.code, error.message)
      }`
    const WAYBILL_URL = "https://mail.example.org/v1/"
    assert.strictEqual(
      await runProgram("module", program, { WAYBILL_KEY: KEY, WAYBILL_URL }),
      `https://mail.example.org/v1/account Bearer ${KEY}`,
    )
    const other = KEY.replace(/.{6}$/u, "000000")
    for (const env of [{ WAYBILL_API_KEY: KEY }, { WAYBILL_KEY: KEY, WAYBILL_API_KEY: other }])
      assert.include(await runProgram("module", program, { ...env, WAYBILL_URL }), `Bearer ${KEY}`)
    const missing = "invalid_key There is no API key. Set WAYBILL_KEY, or give the key to the client."
    assert.strictEqual(await runProgram("module", program), missing)
    assert.strictEqual(await runProgram("module", program, { WAYBILL_API_KEY: "" }), missing)
  })

  it.each(TYPES)("a React element without the renderer is an error that names the package (%s)", async (type) => {
    const program = `${IMPORTS[type]}
      const waybill = new Waybill(${JSON.stringify(KEY)}, { baseUrl: "http://127.0.0.1:9", retries: 0 })
      const react = { type: "p", props: {}, key: null }
      waybill.emails.send({ from: "a@acme.test", to: "b@example.org", subject: "Hi", react }).catch((error) =>
        console.log(error instanceof WaybillError, error.code, error.message))`
    const output = await runProgram(type, program)
    assert.match(output, /^true missing_package .*npm install @react-email\/render react react-dom/u)
  })

  it("arethetypeswrong finds no problem in any resolution", async () => {
    const attw = join(MODULES, "@arethetypeswrong", "cli", "dist", "index.js")
    const { stdout } = await run(process.execPath, [attw, packed.tarball, "--format", "table-flipped", "--no-color"])
    assert.include(stdout, "No problems found")
  })

  it.each([
    ["node10", OLDER_TSC, "use.ts", ["--module", "commonjs", "--moduleResolution", "node10"]],
    ["node16", OLDER_TSC, "use.mts", ["--module", "node16"]],
    ["node16 as CommonJS", OLDER_TSC, "use.cts", ["--module", "node16"]],
    ["bundler", OLDER_TSC, "use.ts", ["--module", "esnext", "--moduleResolution", "bundler"]],
    ["node16 of the current compiler", CURRENT_TSC, "use.mts", ["--module", "node16"]],
    ["nodenext as CommonJS of the current compiler", CURRENT_TSC, "use.cts", ["--module", "nodenext"]],
    ["bundler of the current compiler", CURRENT_TSC, "use.ts", ["--module", "preserve"]],
  ] as const)("the packed client type-checks with %s", async (_, tsc, file, options) => {
    await writeFile(join(packed.project, file), USE)
    assert.strictEqual(await typeCheck(tsc, file, options), "")
  })

  it("the packed client is small", async () => {
    for (const format of ["esm", "cjs"]) {
      const folder = join(packed.project, "node_modules", "@waybill", "client", "dist", format)
      const files = (await readdir(folder)).filter((file) => file.endsWith(".js"))
      assert.isAbove(files.length, 10)
      const all = await Promise.all(files.map((file) => readFile(join(folder, file))))
      assert.isBelow(gzipSync(Buffer.concat(all)).length, MAX_GZIP_BYTES)
    }
  })
})
