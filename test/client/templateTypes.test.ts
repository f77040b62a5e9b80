import { execFile } from "node:child_process"
import { rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { templateTypes } from "../../apps/server/src/cli/remote/templates/templateTypes.ts"
import { type Packed, packPackage } from "../support/process/packPackage.ts"
import { RECEIPT } from "../server/templates/receiptTemplate.ts"

const run = promisify(execFile)
const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url))
const CURRENT_TSC = join(MODULES, "typescript", "bin", "tsc")
/** TypeScript 5, which arethetypeswrong brings. */
const OLDER_TSC = createRequire(join(MODULES, "@arethetypeswrong", "core", "package.json")).resolve(
  "typescript/bin/tsc",
)

const DESCRIBED = {
  type: "object",
  required: ["plan", "when"],
  properties: {
    plan: { enum: ["free", "pro", 3, null], description: "What */ was bought" },
    "first-name": { type: "string" },
    when: { type: "array", items: { type: "object", required: ["day"], properties: { day: { type: "integer" } } } },
    any: {},
    open: { type: "object" },
  },
}
const TEMPLATES = [
  { alias: "receipt", variables: RECEIPT.variables },
  { alias: "order.shipped", variables: DESCRIBED },
  { alias: "hello", variables: null },
]

const send = (message: string) => `void waybill.emails.send({ ...mail, ${message} })`
const RIGHT = [
  `template: "receipt", variables: { name: "Ana", order: { id: 7 }, total: 1.5 }`,
  `template: { alias: "receipt", locale: "de" }, variables: { name: "Ana", order: { id: 7 } }`,
  `template: { alias: "receipt", variables: { name: "Ana", order: { id: 7 } } }`,
  `template: { id: "tpl_1", variables: { anything: 1 } }`,
  `template: "order.shipped", variables: { plan: "pro", "first-name": "Ana", when: [{ day: 1 }], any: 1, open: { a: 1 } }`,
  `template: "hello"`,
  `template: "hello", variables: { anything: true }`,
  `text: "Hi", subject: "Hi"`,
].map(send)
const WRONG = [
  `template: "receipt", variables: { name: "Ana", order: { id: "7" } }`,
  `template: "receipt", variables: { name: "Ana" }`,
  `template: "receipt", variables: { nam: "Ana", name: "Ana", order: { id: 7 } }`,
  `template: "receipt"`,
  `template: { alias: "receipt" }`,
  `template: { alias: "receipt", variables: { name: 1, order: { id: 7 } } }`,
  `template: "reciept", variables: { name: "Ana", order: { id: 7 } }`,
  `template: "order.shipped", variables: { plan: "gold", when: [] }`,
  `template: "order.shipped", variables: { plan: "pro", when: [{ day: "1" }] }`,
].map(send)
const BEFORE = [
  'import { Waybill } from "@waybill/client"',
  "const waybill = new Waybill()",
  'const mail = { from: "a@acme.test", to: "ana@example.org" }',
]

let packed: Packed
beforeAll(async () => {
  packed = await packPackage("client")
}, 120_000)
afterAll(() => rm(packed.folder, { recursive: true, force: true }))

describe("types of templates", () => {
  const compilers = [
    ["the current compiler", CURRENT_TSC, "nodenext"],
    ["TypeScript 5", OLDER_TSC, "nodenext"],
    ["a bundler", OLDER_TSC, "bundler"],
  ] as const
  for (const [name, tsc, resolution] of compilers)
    it(`make a wrong variable an error, by ${name}`, { timeout: 120_000 }, async () => {
      await writeFile(join(packed.project, "templates.d.ts"), templateTypes(TEMPLATES))
      await writeFile(join(packed.project, "send.ts"), [...BEFORE, ...RIGHT, ...WRONG].join("\n"))
      const module = resolution === "bundler" ? "esnext" : resolution
      const strict = ["--noEmit", "--strict", "--skipDefaultLibCheck"]
      const options = [...strict, "--target", "es2022", "--lib", "es2023,dom", "--pretty", "false"]
      const args = [tsc, ...options, "--module", module, "--moduleResolution", resolution, "send.ts", "templates.d.ts"]
      const output = await run(process.execPath, args, { cwd: packed.project }).then(
        ({ stdout }) => stdout,
        (error: { readonly stdout: string }) => error.stdout,
      )
      const lines = [...output.matchAll(/^send\.ts\((\d+),/gmu)].map(([, line]) => Number(line))
      const first = BEFORE.length + RIGHT.length + 1
      assert.deepStrictEqual(
        [...new Set(lines)],
        WRONG.map((_, nth) => first + nth),
        output,
      )
      assert.notMatch(output, /^templates\.d\.ts/mu)
    })
})
