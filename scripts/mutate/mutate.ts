// Mutation test: makes one small change at a time to the domain and the reply classifier, in memory, and checks that a
// test fails. Usage: `node scripts/mutate/mutate.ts [--minutes 10] [--seed 1] [part of a file's path…]`.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { importsOf } from "../../test/house/source.ts"
import type { Order, Verdict } from "./TestRun.ts"
import { type Mutant, mutantsOf } from "./Mutants.ts"

/** CPU time after which a mutant counts as an endless loop, and so as detected. No normal run takes this long. */
const HANGS_CPU_MS = 20_000
/** Timeout for a mutant that blocks without using the CPU. */
const HANGS_MS = 180_000
const ENDLESS = "endless loop"
/** Tests of every decider's events. */
const EVENTS = ["test/domain/webhook/domainEvent.test.ts"]
const ROOT = join(import.meta.dirname, "../..")

const serve = async () => {
  const { start } = await import("./TestRun.ts")
  const { judge } = await start()
  process.on("message", (order: Order) => {
    const before = process.cpuUsage()
    const watch = setInterval(() => {
      const { system, user } = process.cpuUsage(before)
      if ((system + user) / 1_000 > HANGS_CPU_MS) process.send?.({ passed: false, by: ENDLESS } satisfies Verdict)
    }, 500)
    void judge(order)
      .finally(() => clearInterval(watch))
      .then((verdict) => process.send?.(verdict))
  })
  process.on("disconnect", () => process.exit())
  process.send?.("ready")
}

const judge = async () => {
  const child = fork(import.meta.filename, ["--judge"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit", "ipc"] })
  await once(child, "message")
  return child
}

/** Mulberry32, as in the fuzz tests. */
const seededRandom = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const shuffled = <A>(list: ReadonlyArray<A>, random: () => number): ReadonlyArray<A> =>
  list
    .map((item) => [random(), item] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, item]) => item)

const main = async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "1" } },
  })
  const files = ["packages/domain/src/**/*.ts", "packages/mail/src/**/Reply{,Hint,Rules}.ts"]
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  const tests = ["test/domain/**/*.test.ts", "test/mail/reply/*.test.ts"]
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .map((file) => ({ file, imports: importsOf(readFileSync(join(ROOT, file), "utf8")) }))
  const sources = globSync("packages/{domain,mail}/src/**/*.ts", { cwd: ROOT }).map((file) => ({
    name: basename(file, ".ts"),
    imports: importsOf(readFileSync(join(ROOT, file), "utf8")).map(({ specifier }) => basename(specifier, ".ts")),
  }))
  const deciders = sources.find(({ name }) => name === "DomainEvent")?.imports ?? []
  const isDecider = (file: string) => deciders.includes(basename(file, ".ts"))
  /** Returns the tests that import the file, or else those that import its users. */
  const testsOf = (file: string): ReadonlyArray<string> => {
    const seen = new Set([basename(file, ".ts")])
    while (true) {
      const matching = tests.filter(({ imports }) =>
        imports.some(({ specifier }) => seen.has(basename(specifier, ".ts"))),
      )
      if (matching.length > 0)
        return [...new Set([...matching.map((test) => test.file), ...(isDecider(file) ? EVENTS : [])])]
      const before = seen.size
      for (const { imports, name } of sources) if (imports.some((each) => seen.has(each))) seen.add(name)
      if (seen.size === before) return tests.map((test) => test.file)
    }
  }

  const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), "utf8")))
  const minutes = Number(values.minutes) * 60_000
  const survivors: Array<Mutant> = []
  const score = new Map(files.map((file) => [file, { killed: 0, tried: 0 }]))
  let child: ChildProcess = await judge()
  let endless = 0
  const verdictOf = async (order: Order): Promise<Verdict> => {
    child.send(order)
    const answer = await Promise.race([
      once(child, "message").then(([verdict]) => verdict as Verdict),
      sleep(HANGS_MS, undefined, { ref: false }),
    ])
    if (answer !== undefined && answer.by !== ENDLESS) return answer
    child.kill("SIGKILL")
    child = await judge()
    return { passed: false, by: ENDLESS }
  }
  const checked = new Set<string>()
  for (const file of files) {
    if (checked.has(String(testsOf(file)))) continue
    checked.add(String(testsOf(file)))
    const original = { file: join(ROOT, file), text: readFileSync(join(ROOT, file), "utf8"), tests: testsOf(file) }
    const { by, passed } = await verdictOf(original)
    if (!passed) throw new Error(`${file}: its tests fail without a mutation: ${by}`)
  }
  const until = performance.now() + minutes
  for (const mutant of shuffled(all, seededRandom(Number(values.seed)))) {
    if (performance.now() > until) break
    const tried = score.get(mutant.file) ?? { killed: 0, tried: 0 }
    const order = { file: join(ROOT, mutant.file), text: mutant.text, tests: testsOf(mutant.file) }
    const { by, passed } = await verdictOf(order)
    if (by === ENDLESS) endless++
    score.set(mutant.file, { killed: tried.killed + (passed ? 0 : 1), tried: tried.tried + 1 })
    if (passed) {
      survivors.push(mutant)
      process.stdout.write(
        `${mutant.file}:${mutant.line} ${mutant.kind}: ${mutant.before.trim()} → ${mutant.after.trim()}\n`,
      )
    }
  }
  child.kill("SIGKILL")

  const rows = [...score].filter(([, { tried }]) => tried > 0)
  const sum = (count: (row: { killed: number; tried: number }) => number) =>
    rows.reduce((n, [, row]) => n + count(row), 0)
  const [killed, tried] = [sum((row) => row.killed), sum((row) => row.tried)]
  for (const [file, row] of rows) process.stdout.write(`${String(row.killed).padStart(5)} of ${row.tried}  ${file}\n`)
  process.stdout.write(
    `\n${killed} of ${tried} mutants detected, ${((100 * killed) / tried).toFixed(1)} % (${endless} as endless loops); ${tried} of ${all.length} tried, seed ${values.seed}\n`,
  )
  process.exit(0)
}

await (process.argv[2] === "--judge" ? serve() : main())
