import { execFile } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, assert, describe, it } from "../support/effectTest.ts"

/** Says what it is, which file runs, where its files would be looked for, and whom it was given. */
const MAIN = (word: string) => `
import { basename } from "node:path"
import * as Left from "left"
import { word } from "./word.ts"
console.log([word, basename(import.meta.filename), import.meta.url, Left.default, ...process.argv.slice(2)].join(" "))
if (word === "${word}") await import("./later.ts")
`

const checkouts: Array<string> = []

const checkout = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "waybill-bundle-")))
  checkouts.push(folder)
  cpSync("bin", join(folder, "bin"), { recursive: true })
  for (const [path, text] of [
    ["package.json", JSON.stringify({ type: "module" })],
    ["package-lock.json", JSON.stringify({ packages: {} })],
    ["apps/dashboard/package.json", "{}"],
    ["apps/server/src/boot/main.ts", MAIN("one")],
    ["apps/server/src/boot/word.ts", `export const word: string = "one"`],
    ["apps/server/src/boot/later.ts", `console.log("later")`],
    ["apps/server/node_modules/left/package.json", JSON.stringify({ type: "commonjs" })],
    ["apps/server/node_modules/left/index.js", `module.exports = require("node:path").basename(__dirname)`],
  ] as const) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(realpathSync("node_modules/vite"), join(folder, "node_modules/vite"))
  return folder
}

afterEach(() => {
  for (const folder of checkouts.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const node = (...args: ReadonlyArray<string>) =>
  new Promise<string>((resolve, reject) =>
    execFile(process.execPath, args, (error, stdout, stderr) =>
      error === null ? resolve(stdout + stderr) : reject(error),
    ),
  )

/** What a start does before anything else. */
const ensure = (folder: string) =>
  node("--eval", `import(${JSON.stringify(join(folder, "bin/bundle.mjs"))}).then((it) => it.ensureBundle())`)
const run = (folder: string) => node(join(folder, "bin/main.mjs"), "config")
const said = (folder: string, word: string, file: string) =>
  `${word} ${file} ${pathToFileURL(join(folder, "apps/server/src/boot/main.ts")).href} left config\nlater\n`

const bundles = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(folder, "node_modules/.cache/waybill-bundle")).map((name) =>
    join(folder, "node_modules/.cache/waybill-bundle", name),
  )

describe("the bundle", () => {
  it("runs as the sources do, and finds files and packages where they find them", async () => {
    const folder = checkout()
    assert.strictEqual(await run(folder), said(folder, "one", "main.ts"))
    assert.strictEqual(await ensure(folder), "")
    assert.strictEqual(await run(folder), said(folder, "one", "main.mjs"))
  })

  it("has the code of threads in it, which they load as fast as the rest", async () => {
    const folder = checkout()
    const boot = join(folder, "apps/server/src/boot")
    writeFileSync(
      join(boot, "main.ts"),
      `import { Worker } from "node:worker_threads"\nnew Worker(new URL("./thread.ts", import.meta.url))`,
    )
    writeFileSync(join(boot, "thread.ts"), `console.log(import.meta.filename)`)
    assert.strictEqual((await run(folder)).trim(), join(boot, "thread.ts"))
    await ensure(folder)
    assert.strictEqual(dirname((await run(folder)).trim()), bundles(folder)[0])
  })

  it("runs while the sources say the same, whatever their date, and no longer", async () => {
    const folder = checkout()
    const word = join(folder, "apps/server/src/boot/word.ts")
    await ensure(folder)
    utimesSync(word, 1, 1)
    assert.strictEqual(await run(folder), said(folder, "one", "main.mjs"))
    writeFileSync(word, `export const word: string = "two"`)
    assert.match(await run(folder), /^two main\.ts /u)
    await ensure(folder)
    assert.match(await run(folder), /^two main\.mjs /u)
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ packages: { "": {} } }))
    assert.match(await run(folder), /^two main\.ts /u)
  })

  it("is another one where the checkout was moved to", async () => {
    const folder = checkout()
    await ensure(folder)
    const moved = `${folder}-moved`
    checkouts.push(moved)
    renameSync(folder, moved)
    assert.strictEqual(await run(moved), said(moved, "one", "main.ts"))
    await ensure(moved)
    assert.strictEqual(await run(moved), said(moved, "one", "main.mjs"))
  })

  it("is made by any number of starts at a time, and read by what starts meanwhile", async () => {
    const folder = checkout()
    const made = Promise.all([ensure(folder), ensure(folder), ensure(folder)])
    for (const ran of await Promise.all([run(folder), run(folder), run(folder)]))
      assert.match(ran, /^one main\.m?[jt]s /u)
    assert.deepEqual(await made, ["", "", ""])
    assert.lengthOf(bundles(folder), 1)
    assert.strictEqual(await run(folder), said(folder, "one", "main.mjs"))
  })

  it("is left alone where a part of it is missing or cut off, and made again", async () => {
    const folder = checkout()
    await ensure(folder)
    const [bundle = ""] = bundles(folder)
    truncateSync(join(bundle, "main.mjs"), 10)
    assert.strictEqual(await run(folder), said(folder, "one", "main.ts"))
    await ensure(folder)
    const later = readdirSync(bundle).find((name) => name.startsWith("later")) ?? assert.fail("no part of its own")
    rmSync(join(bundle, later))
    assert.strictEqual(await run(folder), said(folder, "one", "main.ts"))
    writeFileSync(join(bundle, "files.json"), "{")
    assert.strictEqual(await run(folder), said(folder, "one", "main.ts"))
    await ensure(folder)
    assert.strictEqual(await run(folder), said(folder, "one", "main.mjs"))
    assert.lengthOf(bundles(folder), 1)
  })

  it("is done without where nothing can make it, or it could not be kept", async () => {
    const folder = checkout()
    rmSync(join(folder, "node_modules/vite"))
    assert.strictEqual(await ensure(folder), "")
    assert.strictEqual(await run(folder), said(folder, "one", "main.ts"))
    const other = checkout()
    writeFileSync(join(other, "node_modules/.cache"), "")
    assert.strictEqual(await ensure(other), "")
    assert.strictEqual(await run(other), said(other, "one", "main.ts"))
  })

  it("that cannot be made is said in a line, and keeps nothing from running", async () => {
    const folder = checkout()
    writeFileSync(join(folder, "bin/bundler.mjs"), `process.stderr.write("no room")\nprocess.exit(1)`)
    assert.strictEqual(await ensure(folder), "waybill: bundling failed; running from source: no room\n")
    assert.strictEqual(await run(folder), said(folder, "one", "main.ts"))
  })

  it("leaves the fifteen newest beside it, for what runs from them", async () => {
    const folder = checkout()
    for (let age = 1; age <= 20; age++) {
      const old = join(folder, "node_modules/.cache/waybill-bundle", `old-${age}`)
      mkdirSync(old, { recursive: true })
      utimesSync(old, age, age)
    }
    await ensure(folder)
    const left = bundles(folder).map((path) => path.split("/").at(-1) ?? "")
    assert.lengthOf(left, 16)
    assert.includeMembers(left, ["old-20", "old-6"])
    assert.notInclude(left, "old-5")
    assert.strictEqual(await run(folder), said(folder, "one", "main.mjs"))
  })

  it("is what the processes of these tests run", async () => {
    const { entry } = (await import(pathToFileURL(join(process.cwd(), "bin/bundle.mjs")).href)) as {
      readonly entry: () => string
    }
    assert.match(entry(), /waybill-bundle\/\w+\/main\.mjs$/u)
  })
})
