// POST /v1/email/send from 64 connections to several servers in turns. Each has a database of its own; the rounds count in which
// other work took least of the machine.
import { Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Cpu from "../accept/Cpu.ts"
import * as Processes from "../accept/Processes.ts"
import { tenant } from "../accept/tenant.ts"
import * as Waybill from "../accept/Waybill.ts"
import * as Held from "./Held.ts"
import * as Measure from "./Measure.ts"
import * as TemporaryServer from "./TemporaryServer.ts"

const CONNECTIONS = 64
/**
 * Rounds in alternating order, and how many of them count: those in which other work took least of the machine. The cost of a
 * send follows the speed of the machine, because more sends are committed together when each commit takes longer.
 */
const ROUNDS = 36
const COUNTED_ROUNDS = 12
/** Load before each measurement, which uses up what is allowed after a pause, and fills caches. */
const LEAD_IN_MILLIS = 400
const ROUND_MILLIS = 1_000
/** Number of requests after which code is compiled, as in accept.ts, and the time limit for them on a busy machine. */
const WARM_UP_REQUESTS = 12_000
const WARM_UP_AT_MOST_MILLIS = 20_000

/** One turn of a server, with processor times in milliseconds. */
export interface Turn extends Measure.Load {
  readonly server: number
  readonly postgres: number
  /** Share of the machine's processor time that other work took. */
  readonly other: number
}

/** A server that takes turns. */
export interface Entrant {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  /** Starts a process that works on the database of the server, and rests while others have their turns. */
  readonly beside?: (databaseUrl: string) => Promise<Processes.Server>
}

/** Returns the processor time of a send in microseconds. */
export const costOf = (turns: ReadonlyArray<Turn>) => {
  const total = (of: "done" | "server" | "postgres") => turns.reduce((sum, turn) => sum + turn[of], 0)
  const server = (total("server") * 1000) / total("done")
  const postgres = (total("postgres") * 1000) / total("done")
  return { server, postgres, both: server + postgres }
}

/** Returns the ratio of the costs over all rounds, and the quartiles of the ratios in each round. */
export const ratioOf = (
  part: keyof ReturnType<typeof costOf>,
  own: ReadonlyArray<Turn>,
  ...base: ReadonlyArray<ReadonlyArray<Turn>>
): Measure.Spread => {
  const inRounds = own.map(
    (turn, nth) => costOf([turn])[part] / costOf(base.flatMap((turns) => turns[nth] ?? []))[part],
  )
  return {
    median: costOf(own)[part] / costOf(base.flat())[part],
    least: Measure.quantile(inRounds, 0.25),
    most: Measure.quantile(inRounds, 0.75),
  }
}

/** Writes a ratio as text. */
export const described = ({ least, median, most }: Measure.Spread): string =>
  `${median.toFixed(3)}x, in half of the rounds ${least.toFixed(2)} to ${most.toFixed(2)}`

/** Lets the servers take turns until all rounds are over. Everything is released with `Held`. */
export const take = async (entrants: ReadonlyArray<Entrant>) => {
  const postgres = await Held.held(TemporaryServer.temporaryServer())
  const home = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-turns-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  const load = await Held.acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  const start = async ({ beside, name, settings }: Entrant) => {
    const url = await TemporaryServer.freshDatabase(postgres)
    const keys = await tenant(url, CONNECTIONS)
    const server = await Held.acquire(
      () => Waybill.start(Redacted.value(url), home, settings),
      ({ stop }) => stop(),
    )
    await Waybill.addDomain(server, keys[0] ?? "")
    const other =
      beside === undefined
        ? undefined
        : await Held.acquire(
            () => beside(Redacted.value(url)),
            async ({ pid, stop }) => {
              process.kill(pid, "SIGCONT")
              await stop()
            },
          )
    const signal = (name: "SIGSTOP" | "SIGCONT") => (other === undefined ? undefined : process.kill(other.pid, name))
    signal("SIGSTOP")
    const order = { port: server.port, keys, door: "native" } as const
    const times = () => ({
      server: Cpu.ofProcess(server.pid),
      postgres: Cpu.ofTree(postgres.pid),
      own: Cpu.ofProcesses([load.pid, process.pid, ...(other === undefined ? [] : [other.pid])]),
      machine: Cpu.ofMachine(),
    })
    const run = async (): Promise<Turn> => {
      signal("SIGCONT")
      await load.run({ ...order, millis: LEAD_IN_MILLIS })
      const before = times()
      const report = await load.run({ ...order, millis: ROUND_MILLIS })
      const after = times()
      signal("SIGSTOP")
      const spent = (of: keyof typeof before) => after[of] - before[of]
      const rest = spent("machine") - spent("server") - spent("postgres") - spent("own")
      const available = report.millis * os.availableParallelism()
      return { ...report, server: spent("server"), postgres: spent("postgres"), other: rest / available }
    }
    return { name, run }
  }

  const contenders: Array<Awaited<ReturnType<typeof start>>> = []
  for (const entrant of entrants) contenders.push(await start(entrant))
  const environment = await TemporaryServer.environment(postgres)
  for (const { run } of contenders) {
    const began = performance.now()
    for (let sends = 0; sends < WARM_UP_REQUESTS && performance.now() - began < WARM_UP_AT_MOST_MILLIS;)
      sends += (await run()).done
  }
  const rounds: Array<ReadonlyMap<string, Turn>> = []
  while (rounds.length < ROUNDS) {
    const turns = new Map<string, Turn>()
    for (const { name, run } of rounds.length % 2 === 0 ? contenders : contenders.toReversed())
      turns.set(name, await run())
    rounds.push(turns)
  }
  const otherWork = (turns: ReadonlyMap<string, Turn>) => Math.max(...[...turns.values()].map(({ other }) => other))
  const counted = rounds.toSorted((a, b) => otherWork(a) - otherWork(b)).slice(0, COUNTED_ROUNDS)
  const turnsOf = (name: string) => counted.flatMap((turns) => turns.get(name) ?? [])
  const results = contenders.map(({ name }) => Measure.resultOf(name, turnsOf(name)))
  return {
    environment,
    turnsOf,
    results,
    counts: { connections: CONNECTIONS, rounds: ROUNDS, counted: COUNTED_ROUNDS },
    lines: [
      `POST /v1/email/send, ${CONNECTIONS} connections with a key each, the ${COUNTED_ROUNDS} quietest of ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      "",
      Measure.table(
        ["", "a second", "least", "most", "p50 ms", "p99 ms", "CPU µs/request", "of Postgres"],
        results.map(({ name, p50Millis, p99Millis, perSecond }) => [
          name,
          ...[perSecond.median, perSecond.least, perSecond.most].map(Measure.rate),
          Measure.millis(p50Millis),
          Measure.millis(p99Millis),
          Measure.rate(costOf(turnsOf(name)).server),
          Measure.rate(costOf(turnsOf(name)).postgres),
        ]),
      ),
      `Other work took at most ${Math.round(100 * Math.max(...counted.map(otherWork)))} % of the machine in these rounds.`,
    ],
  }
}
