// npm run attack -- --seed=7 --only=preview: attacks a running service and measures its stalls and memory from outside.
// Exits with a code other than 0 if a bound was exceeded.
import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"

const root = join(import.meta.dirname, "..")
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    // Part of the scenario names to run: "preview", "smtp".
    only: { type: "string", default: "" },
    // The short form, which the test suite runs.
    short: { type: "boolean", default: false },
  },
})
const seed = values.seed ?? String(randomInt(2 ** 31))
if (!/^\d{1,10}$/.test(seed)) {
  process.stderr.write(`--seed must be a whole number, not ${JSON.stringify(seed)}.\n`)
  process.exit(64)
}
const options = `${values.only === "" ? "" : ` --only=${JSON.stringify(values.only)}`}${values.short ? " --short" : ""}`
process.stdout.write(`To repeat this run: npm run attack -- --seed=${seed}${options}\n`)
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")
/** Lines to print: one per finished attack, and the table. Without a table everything is printed. */
const SHOWN = /^(?:\| |attack: )/
// With a Citus cluster the accounts are in a cell on one of its nodes.
const project = process.env.WAYBILL_TEST_CITUS_URL === undefined ? "together" : "citus"
const child = spawn(process.execPath, [vitest, "run", "--project", project, "test/attack/attack.test.ts"], {
  cwd: root,
  stdio: ["inherit", "pipe", "pipe"],
  env: {
    ...process.env,
    WAYBILL_ATTACK: values.short ? "short" : "long",
    WAYBILL_ATTACK_SEED: seed,
    WAYBILL_ATTACK_ONLY: values.only,
  },
})
let isShown = false
const all = []
child.stderr.on("data", (chunk) => all.push(String(chunk)))
createInterface({ input: child.stdout }).on("line", (line) => {
  all.push(line)
  if (!SHOWN.test(line)) return
  if (line.startsWith("| ---")) isShown = true
  process.stdout.write(`${line.replace(/^attack: /, "")}\n`)
})
child.on("close", (code) => {
  if (code !== 0 && !isShown) process.stdout.write(`${all.join("\n")}\n`)
  process.exit(code ?? 1)
})
