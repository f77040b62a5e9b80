import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { PAGE, writtenPage } from "../../scripts/generate/verifyPage.ts"
import * as MadeLog from "./MadeLog.ts"
import { sampleLog } from "./sampleLog.ts"

const run = promisify(execFile)
const PACKAGE = fileURLToPath(new URL("../../packages/verify/", import.meta.url))
const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url))
const TIMEOUT = 120_000

const { log, origin, own, keys, witnesses } = sampleLog()
const [key = "", witness = ""] = [keys[0]?.vkey, witnesses[0]?.vkey]
const receipt = MadeLog.receiptOf(own, { keys, log, origin, witnesses })

let project = ""
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "waybill-verify-"))
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], { cwd: PACKAGE })
  const filename = /[\w.-]+\.tgz/u.exec(stdout)?.[0] ?? assert.fail(stdout)
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }))
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(project, filename)], { cwd: project })
  for (const name of ["@types", "undici-types"]) await symlink(join(MODULES, name), join(project, "node_modules", name))
  const files = {
    "receipt.json": JSON.stringify(receipt),
    "forged.json": JSON.stringify(receipt).replace("OK queued", "No, queued"),
    "waybill-log.json": JSON.stringify({ origin, keys: [key], former_keys: [] }),
    "ended.json": JSON.stringify({
      origin: "elsewhere",
      keys: [],
      cells: [{ origin, keys: [key], former_keys: [{ key, until: "2026-11-01T00:00:00.000Z" }] }],
    }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
}, TIMEOUT)
afterAll(() => rm(project, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const ended = (program: string, args: ReadonlyArray<string>): Promise<Ended> =>
  run(program, args, { cwd: project }).then(
    ({ stderr, stdout }) => ({ code: 0, stdout, stderr }),
    ({ code, stderr, stdout }: Ended) => ({ code, stdout, stderr }),
  )

/** Runs the command as npm has installed it, with the Node of the machine. */
const command = (...args: ReadonlyArray<string>) => ended(join(project, "node_modules/.bin/waybill-verify"), args)
/** Runs it as npx finds it, which takes five times as long. */
const byNpx = (...args: ReadonlyArray<string>) =>
  ended("npx", ["--offline", "--no-install", "@waybill/verify", ...args])

describe("the packed verifier", () => {
  it("checks a file by npx in an empty folder, and exits with what it found", { timeout: TIMEOUT }, async () => {
    const holds = await byNpx("receipt.json", "--key", key, "--witness", witness, "--origin", origin)
    assert.strictEqual(holds.stderr, "")
    assert.strictEqual(holds.code, 0)
    assert.match(holds.stdout, /^ok {6}The file is a receipt\. [^]*\nThe receipt holds\.\n$/u)
    assert.notMatch(holds.stdout, /warning|FAILED/u)
    const unpinned = await command("receipt.json")
    assert.strictEqual(unpinned.code, 0)
    assert.match(unpinned.stdout, /^warning The log has signed\. .*anybody could have made it/mu)
    assert.strictEqual((await command("receipt.json", "--key", "waybill-log.json")).code, 0)
    const { code, stdout } = await command("forged.json", "--key", key, "--json")
    const { holds: isHeld, steps } = JSON.parse(stdout) as { holds: boolean; steps: ReadonlyArray<{ result: string }> }
    assert.deepStrictEqual([code, isHeld, steps[1]?.result], [1, false, "failed"])
    const ended = await command("receipt.json", "--key", "ended.json")
    assert.strictEqual(ended.code, 1)
    assert.include(ended.stdout, "Its key signed until 2026-11-01T00:00:00.000Z, and there is a later event.")
  })

  it("exits with 2 if it could not check", { timeout: TIMEOUT }, async () => {
    for (const [args, message] of [
      [[], /one receipt is needed[^]*Usage:/u],
      [["missing.json"], /ENOENT/u],
      [["receipt.json", "--key", "a+b+c"], /A key is not of the form name\+id\+base64/u],
      [["receipt.json", "--nonsense"], /nonsense/u],
      [["receipt.json", "forged.json"], /one receipt is needed/u],
    ] as const) {
      const { code, stderr } = await command(...args)
      assert.strictEqual(code, 2, args.join(" "))
      assert.match(stderr, message)
    }
  })

  it("has no dependencies, and is a module with types", { timeout: TIMEOUT }, async () => {
    const manifest = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")) as object
    for (const name of ["dependencies", "peerDependencies", "optionalDependencies"]) assert.notProperty(manifest, name)
    const program = `import { verify } from "@waybill/verify"; import { readFileSync } from "node:fs"
      const { holds } = await verify(readFileSync("receipt.json"), { keys: [${JSON.stringify(key)}] }); console.log(holds)`
    await writeFile(join(project, "use.mjs"), program)
    assert.strictEqual((await run("node", ["use.mjs"], { cwd: project })).stdout, "true\n")
    await writeFile(
      join(project, "use.mts"),
      `import { type VerifyOptions, type ReceiptStep, verify, verifyConsistency, verifyCose } from "@waybill/verify"
       export const check = async (text: string, options: VerifyOptions): Promise<ReadonlyArray<ReceiptStep>> =>
         (await verify(text, options)).steps
       export const others = [verifyConsistency, verifyCose]
       // @ts-expect-error a receipt is a text or bytes
       export const bad = verify(7)`,
    )
    const tsc = join(MODULES, "typescript", "bin", "tsc")
    const strict = ["--noEmit", "--strict", "--skipDefaultLibCheck"]
    const args = [tsc, ...strict, "--module", "nodenext", "--target", "es2023", "use.mts"]
    await run(process.execPath, args, { cwd: project })
  })

  it("has a page that is written from its sources", { timeout: TIMEOUT }, async () => {
    assert.strictEqual(await readFile(PAGE, "utf8"), await writtenPage(), "run: npm run generate verify-page")
    assert.strictEqual(
      await readFile(join(project, "node_modules", "@waybill", "verify", "verify.html"), "utf8"),
      await readFile(PAGE, "utf8"),
    )
  })
})
