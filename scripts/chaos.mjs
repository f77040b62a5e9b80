// npm run chaos -- --seed=7 --faults=100: injects faults into real processes. The same seed repeats the same faults.
import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"

const root = join(import.meta.dirname, "..")
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    faults: { type: "string", default: "48" },
    // Part of the fault names to inject: "clock", "database".
    only: { type: "string", default: "" },
  },
})
const seed = values.seed ?? String(randomInt(2 ** 31))
for (const [name, value] of [
  ["seed", seed],
  ["faults", values.faults],
]) {
  if (!/^\d{1,10}$/.test(value)) {
    process.stderr.write(`--${name} must be a whole number, not ${JSON.stringify(value)}.\n`)
    process.exit(64)
  }
}
const only = values.only === "" ? "" : ` --only=${JSON.stringify(values.only)}`
process.stdout.write(`To repeat this run: npm run chaos -- --seed=${seed} --faults=${values.faults}${only}\n`)
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")
spawn(process.execPath, [vitest, "run", "test/chaos/storm.test.ts"], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    WAYBILL_CHAOS_SEED: seed,
    WAYBILL_CHAOS_FAULTS: values.faults,
    WAYBILL_CHAOS_ONLY: values.only,
  },
}).on("exit", (code) => process.exit(code ?? 1))
