// POST /v1/email/send from 64 connections, in turns with the request log and without it. The log is written beside the
// answers, so its cost is the processor time of the server and of Postgres for a send. A second server without the log
// shows how much two equal servers differ.
import { Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Cpu from "./accept/Cpu.ts"
import * as Processes from "./accept/Processes.ts"
import { tenant } from "./accept/tenant.ts"
import * as Waybill from "./accept/Waybill.ts"
import * as Held from "./report/Held.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const CONNECTIONS = 64
/**
 * Rounds in alternating order, and how many of them count: those in which other work took least of the machine. The cost of a
 * send follows the speed of the machine, because more sends are committed together when each commit takes longer.
 */
const ROUNDS = 36
const COUNTED_ROUNDS = 12
/** Load before each measurement, which uses up what the log allows after a pause, and fills caches. */
const LEAD_IN_MILLIS = 400
const ROUND_MILLIS = 1_000
/** Number of requests after which code is compiled, as in accept.ts, and the time limit for them on a busy machine. */
const WARM_UP_REQUESTS = 12_000
const WARM_UP_AT_MOST_MILLIS = 20_000
const WITHOUT = "without it"
const WITH = "with the request log"
const AGAIN = "without it, another server"

/** One turn of a server, with processor times in milliseconds. */
interface Turn extends Measure.Load {
  readonly server: number
  readonly postgres: number
  /** Share of the machine's processor time that other work took. */
  readonly other: number
}

interface Contender {
  readonly name: string
  readonly run: () => Promise<Turn>
}

/** Returns the processor time of a send in microseconds. */
const costOf = (turns: ReadonlyArray<Turn>) => {
  const total = (of: "done" | "server" | "postgres") => turns.reduce((sum, turn) => sum + turn[of], 0)
  const server = (total("server") * 1000) / total("done")
  const postgres = (total("postgres") * 1000) / total("done")
  return { server, postgres, both: server + postgres }
}

/** Returns the ratio of the costs over all rounds, and the quartiles of the ratios in each round. */
const ratioOf = (own: ReadonlyArray<Turn>, ...base: ReadonlyArray<ReadonlyArray<Turn>>): Measure.Spread => {
  const inRounds = own.map((turn, nth) => costOf([turn]).both / costOf(base.flatMap((turns) => turns[nth] ?? [])).both)
  return {
    median: costOf(own).both / costOf(base.flat()).both,
    least: Measure.quantile(inRounds, 0.25),
    most: Measure.quantile(inRounds, 0.75),
  }
}

const described = ({ least, median, most }: Measure.Spread): string =>
  `${median.toFixed(3)}x, in half of the rounds ${least.toFixed(2)} to ${most.toFixed(2)}`

try {
  const postgres = await Held.held(TemporaryServer.temporaryServer())
  const home = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-request-log-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  const load = await Held.acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  const contender = async (name: string, days: string): Promise<Contender> => {
    const url = await TemporaryServer.freshDatabase(postgres)
    const keys = await tenant(url, CONNECTIONS)
    const server = await Held.acquire(
      () => Waybill.start(Redacted.value(url), home, { REQUEST_LOG_DAYS: days }),
      ({ stop }) => stop(),
    )
    await Waybill.addDomain(server, keys[0] ?? "")
    const order = { port: server.port, keys, door: "native" } as const
    const times = () => ({
      server: Cpu.ofProcess(server.pid),
      postgres: Cpu.ofTree(postgres.pid),
      load: Cpu.ofProcess(load.pid) + Cpu.ofProcess(process.pid),
      machine: Cpu.ofMachine(),
    })
    const run = async (): Promise<Turn> => {
      await load.run({ ...order, millis: LEAD_IN_MILLIS })
      const before = times()
      const report = await load.run({ ...order, millis: ROUND_MILLIS })
      const after = times()
      const spent = (of: keyof typeof before) => after[of] - before[of]
      const other = spent("machine") - spent("server") - spent("postgres") - spent("load")
      const available = report.millis * os.availableParallelism()
      return { ...report, server: spent("server"), postgres: spent("postgres"), other: other / available }
    }
    return { name, run }
  }

  const contenders = [await contender(WITHOUT, "0"), await contender(WITH, "7"), await contender(AGAIN, "0")]
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
  const cost = ratioOf(turnsOf(WITH), turnsOf(WITHOUT), turnsOf(AGAIN))
  const noise = ratioOf(turnsOf(AGAIN), turnsOf(WITHOUT))
  Measure.answer(
    { connections: CONNECTIONS, rounds: ROUNDS, counted: COUNTED_ROUNDS, environment, results, cost, noise },
    [
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
      `Processor time of a send with the log against one without: ${described(cost)}.`,
      `Of one server without it against the other: ${described(noise)}.`,
    ].join("\n"),
    [
      {
        what: "sends with the request log against sends without",
        measured: Measure.ratio(results, WITH, WITHOUT),
        unit: "times",
        atLeast: 0.97,
      },
      {
        what: "processor time of a send with the request log against one without",
        measured: cost,
        unit: "times",
        atMost: 1.03,
      },
      { what: "the same of two servers without it", measured: noise, unit: "times" },
    ],
  )
} finally {
  await Held.releaseAll()
}
