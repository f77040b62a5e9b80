// Runs the suites of the projects `citus` and `citus-cells` on the cluster of WAYBILL_TEST_CITUS_URL, in pieces: what one of them
// leaves on the cluster is removed before the next. `-- 3 7` runs the pieces 3 to 7. Prints the counts of each piece and of all.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"

const PIECES = 24
/** Characters of a failure that are printed. */
const MAX_SHOWN = 2_000

const url = process.env["WAYBILL_TEST_CITUS_URL"]
if (url === undefined)
  throw new Error("set WAYBILL_TEST_CITUS_URL to the coordinator of a Citus cluster, as a superuser")
const [from = 1, to = PIECES] = process.argv.slice(2).map(Number)

const query = async (server, statement) => {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Drops databases of tests on every server. Each keeps a process of Citus, and a server has few of them. */
const tidy = async () => {
  const nodes = await query(url, "SELECT node_name AS hostname, node_port AS port FROM citus_get_active_worker_nodes()")
  for (const node of [{}, ...nodes]) {
    const server = Object.assign(new URL(url), node).href
    const left = await query(server, "SELECT datname FROM pg_database WHERE datname ~ '^(test|waybill)_[0-9a-f]{12,}$'")
    for (const { datname } of left) await query(server, `DROP DATABASE ${datname} WITH (FORCE)`)
  }
}

const folder = mkdtempSync(join(tmpdir(), "waybill-citus-"))
const vitest = join(import.meta.dirname, "..", "node_modules", "vitest", "vitest.mjs")
const sum = { passed: 0, failed: 0, skipped: 0 }
let isAllPassed = true
try {
  for (let piece = from; piece <= to; piece++) {
    await tidy()
    const output = join(folder, `${piece}.json`)
    const began = performance.now()
    const args = ["run", "--project=citus", "--project=citus-cells", `--shard=${piece}/${PIECES}`, "--maxWorkers=1"]
    const { status } = spawnSync(process.execPath, [vitest, ...args, "--reporter=json", `--outputFile=${output}`], {
      stdio: ["ignore", "ignore", "inherit"],
    })
    const { numFailedTests, numPassedTests, numPendingTests, testResults } = JSON.parse(readFileSync(output, "utf8"))
    sum.passed += numPassedTests
    sum.failed += numFailedTests
    sum.skipped += numPendingTests
    const seconds = Math.round((performance.now() - began) / 1000)
    console.log(
      `${piece}/${PIECES}: ${testResults.length} files, ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped, ${seconds} s, exit code ${status}`,
    )
    for (const { assertionResults, message, name, status } of testResults) {
      if (status === "passed") continue
      isAllPassed = false
      const failed = assertionResults
        .filter((test) => test.status === "failed")
        .map(({ failureMessages: [why = ""], fullName }) => `${fullName}: ${why.slice(0, MAX_SHOWN)}`)
      for (const what of failed.length === 0 ? [message] : failed) console.log(`  failed: ${name}: ${what}`)
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
console.log(`All: ${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`)
if (!isAllPassed) process.exitCode = 1
