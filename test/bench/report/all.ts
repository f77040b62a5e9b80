// `npm run bench` without a name: runs every benchmark, and writes docs/benchmarks.md from the results.
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Measure from "./Measure.ts"
import type * as TemporaryServer from "./TemporaryServer.ts"

/** Benchmarks in this order; larger than their defaults where that takes less than a minute. */
const BENCHES: Readonly<Record<string, ReadonlyArray<string>>> = {
  store: [],
  accept: [],
  requestLog: [],
  logs: [],
  deliver: ["--rounds", "3", "--scheduled", "1000000"],
  postfix: [],
  inbound: [],
  webhooks: ["--rounds", "5"],
  rebuild: ["--events", "1000000"],
  start: [],
  dashboard: [],
  memory: [],
  size: [],
  histories: [],
  receipts: [],
}

const ROOT = join(import.meta.dirname, "../../..")
const DOC = join(ROOT, "docs", "benchmarks.md")
const BEGIN = "<!-- written by npm run bench -->"
const END = "<!-- end of what is written -->"

interface Answer {
  readonly environment?: TemporaryServer.Environment
  readonly findings: ReadonlyArray<Measure.Finding>
}

/** Returns what a benchmark printed; undefined if this machine has no program that it needs. */
const run = (name: string, args: ReadonlyArray<string>): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, "scripts", "bench.mjs"), name, ...args, "--json"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    })
    const chunks: Array<Buffer> = []
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.on("error", reject)
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString())
      else if (code === Measure.UNAVAILABLE) resolve(undefined)
      else reject(new Error(`${name} ended with ${code}`))
    })
  })

const line = (of: ReadonlyArray<string>) => `| ${of.join(" | ")} |`

/** Rows of what has an aim; `--json` prints the rest. */
const rows = (name: string, { findings }: Answer): ReadonlyArray<string> =>
  findings
    .filter(({ atLeast, atMost }) => atLeast !== undefined || atMost !== undefined)
    .map((finding) => line([`\`${name}\``, ...Measure.cells(finding)]))

/** Runs all benchmarks; `date` stands above the table. */
export const all = async (date: string): Promise<void> => {
  const table: Array<string> = []
  const missing: Array<string> = []
  const environments: Array<TemporaryServer.Environment> = []
  for (const [name, args] of Object.entries(BENCHES)) {
    process.stdout.write(`\n${name}\n`)
    const text = await run(name, args)
    if (text === undefined) {
      missing.push(`Not measured: \`${name}\`, because a program that it needs is not installed.`)
      continue
    }
    const answer = JSON.parse(text) as Answer
    process.stdout.write(`${Measure.findingsTable(answer.findings)}\n`)
    table.push(...rows(name, answer))
    if (answer.environment !== undefined) environments.push(answer.environment)
  }
  const [machine] = environments
  const shape =
    machine &&
    `${machine.cores} cores of ${machine.cpu}, ${machine.system}, Node ${machine.node}, PostgreSQL ${machine.postgres}`
  const written = [
    `Measured on ${date} by one \`npm run bench\`: ${shape}.`,
    [line(["benchmark", ...Measure.CELLS]), "|---|---|---|---|---|---|", ...table].join("\n"),
    ...missing,
  ].join("\n\n")
  const doc = readFileSync(DOC, "utf8")
  const before = doc.slice(0, doc.indexOf(BEGIN) + BEGIN.length)
  writeFileSync(DOC, `${before}\n\n${written}\n\n${doc.slice(doc.indexOf(END))}`)
}
