// npm run bench -- processes: 1, 2 and 4 api processes, and 1, 2 and 4 workers, each on one database, in turns. All share the
// cores of this machine, so the rates do not grow: what counts is the processor time of a message.
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { Redacted } from "effect"
import * as Cpu from "./accept/Cpu.ts"
import * as Processes from "./accept/Processes.ts"
import { tenant } from "./accept/tenant.ts"
import * as Waybill from "./accept/Waybill.ts"
import { child, drain, node, sleep } from "./deliver/node.ts"
import * as Held from "./report/Held.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const COUNTS = [1, 2, 4]
const CONNECTIONS = 64
const ROUNDS = 5
const ACCEPT_MILLIS = 2_000
const MAILS = 1_000
/** For each process, so that it compiles its code. */
const WARM_UP_MILLIS = 3_000
const WARM_UP_MAILS = 600
const IDLE_MILLIS = 3_000
const MICROS = 1000

interface Round {
  readonly perSecond: number
  readonly processMicros: number
  readonly postgresMicros: number
}

interface Contender {
  readonly role: "api" | "worker"
  readonly count: number
  readonly warmUp: () => Promise<unknown>
  readonly round: () => Promise<Round>
  readonly rounds: Array<Round>
}

/** Connections for all processes of all contenders. */
const postgres = await Held.held(TemporaryServer.temporaryServer({ max_connections: "400" }))

/** Accepts mail from all connections, which are spread over the processes. */
const accepting = async (count: number, load: Processes.Load, home: string): Promise<Contender> => {
  const url = await TemporaryServer.freshDatabase(postgres)
  const keys = await tenant(url, CONNECTIONS)
  const servers: Array<Processes.Server> = []
  for (let nth = 0; nth < count; nth++)
    servers.push(
      await Held.acquire(
        () => Waybill.start(Redacted.value(url), home, { DATABASE_TIMEOUT: "60" }),
        ({ stop }) => stop(),
      ),
    )
  for (const server of servers.slice(0, 1)) await Waybill.addDomain(server, keys[0] ?? "")
  const pids = servers.map(({ pid }) => pid)
  const run = (millis: number) => load.run({ port: servers.map(({ port }) => port), keys, millis })
  const round = async () => {
    const before = [Cpu.ofProcesses(pids), Cpu.ofTree(postgres.pid)] as const
    const { done, millis } = await run(ACCEPT_MILLIS)
    return {
      perSecond: (done * 1000) / millis,
      processMicros: ((Cpu.ofProcesses(pids) - before[0]) * MICROS) / done,
      postgresMicros: ((Cpu.ofTree(postgres.pid) - before[1]) * MICROS) / done,
    }
  }
  return { role: "api", count, warmUp: () => run(WARM_UP_MILLIS * count), round, rounds: [] }
}

/** Delivers a backlog of mail that is due at once, which all workers share. */
const delivering = async (count: number, sink: number): Promise<Contender> => {
  const url = await TemporaryServer.freshDatabase(postgres)
  const on = await Held.within((scope) => node(scope, url, sink, count))
  const round = async () => {
    const { perSecond, postgresMicros, senderMicros } = await drain(on, postgres, MAILS)
    return { perSecond, processMicros: senderMicros, postgresMicros }
  }
  return { role: "worker", count, warmUp: () => drain(on, postgres, WARM_UP_MAILS * count), round, rounds: [] }
}

/** Share of a core that Postgres needs while no process has anything to do. */
const idleShare = async (): Promise<number> => {
  const before = Cpu.ofTree(postgres.pid)
  await sleep(IDLE_MILLIS)
  return ((Cpu.ofTree(postgres.pid) - before) * 100) / IDLE_MILLIS
}

const resultOf = ({ count, role, rounds }: Contender) => ({
  role,
  count,
  perSecond: Measure.spread(rounds.map(({ perSecond }) => perSecond)),
  processMicros: Measure.spread(rounds.map(({ processMicros }) => processMicros)),
  postgresMicros: Measure.spread(rounds.map(({ postgresMicros }) => postgresMicros)),
})
type Result = ReturnType<typeof resultOf>

const table = (results: ReadonlyArray<Result>) =>
  Measure.table(
    ["", "a second", "least", "most", "processes µs", "Postgres µs", "together"],
    results.map(({ count, perSecond, postgresMicros, processMicros, role }) => [
      `${count} ${role}`,
      ...[perSecond.median, perSecond.least, perSecond.most].map(Measure.rate),
      ...[processMicros.median, postgresMicros.median, processMicros.median + postgresMicros.median].map(Measure.rate),
    ]),
  )

/** Processor time of a message with the most processes, as a multiple of that with one. */
const finding = (results: ReadonlyArray<Result>, role: Contender["role"], what: string): Measure.Finding => {
  const own = results.filter((each) => each.role === role)
  const [one, most] = [own[0], own.at(-1)].map((each) =>
    each === undefined ? Number.NaN : each.processMicros.median + each.postgresMicros.median,
  )
  return { what, measured: Measure.once((most ?? Number.NaN) / (one ?? Number.NaN)), unit: "times" }
}

try {
  const home = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-processes-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  const load = await Held.acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  const sink = await Held.within((scope) => child(scope, "sink.ts"))
  const contenders: Array<Contender> = []
  for (const count of COUNTS) contenders.push(await accepting(count, load, home))
  for (const count of COUNTS) contenders.push(await delivering(count, sink.port))
  const environment = await TemporaryServer.environment(postgres)
  const idle = await idleShare()
  for (const { warmUp } of contenders) await warmUp()
  for (let nth = 0; nth < ROUNDS; nth++) {
    // Rotates the order, so that no contender always runs after the same one and pays for its cleanup.
    const turn = nth % 2 === 0 ? contenders : contenders.toReversed()
    for (const { round, rounds } of turn) rounds.push(await round())
  }
  const results = contenders.map(resultOf)
  Measure.answer(
    { connections: CONNECTIONS, mails: MAILS, rounds: ROUNDS, idle, environment, results },
    [
      `api: ${CONNECTIONS} connections to all processes for ${ACCEPT_MILLIS / 1000} s; worker: ${MAILS} messages signed and relayed. ${ROUNDS} rounds in turns.`,
      TemporaryServer.describe(environment),
      `While all ${COUNTS.reduce((sum, count) => sum + count, 0) * 2} processes are idle, Postgres needs ${idle.toFixed(1)} % of a core.`,
      "",
      table(results),
    ].join("\n"),
    [
      finding(results, "api", "processor time of accepting, 4 api processes against one"),
      finding(results, "worker", "processor time of delivering, 4 workers against one"),
    ],
  )
} finally {
  await Held.releaseAll()
}
