import { Redacted } from "effect"
import * as Cpu from "../accept/Cpu.ts"
import type * as Processes from "../accept/Processes.ts"
import { INSTANCE_KEY, tenant } from "../accept/tenant.ts"
import * as Waybill from "../accept/Waybill.ts"
import { child, sleep } from "../deliver/node.ts"
import type { Arrivals } from "../deliver/sink.ts"
import * as CpuMeter from "../report/CpuMeter.ts"
import * as Held from "../report/Held.ts"
import type * as Measure from "../report/Measure.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import type { Layout } from "./layouts.ts"

/** Connections for each cell, so that the load grows with the cells and batches are equal. */
export const CONNECTIONS = 64
export const ACCEPT_MILLIS = 2_000
/** Time in which the mail of a round arrives that is delivered as well, which takes longer. */
export const DELIVER_MILLIS = 1_000
/** On a busy machine the benchmark is to go on and not to answer 503. */
const SETTINGS = { DATABASE_TIMEOUT: "60", WAYBILL_INSTANCE_KEY: INSTANCE_KEY }
const LOOK_EVERY_MILLIS = 10
/** Without a mail for so long, some have been lost. */
const PATIENCE_MILLIS = 180_000

export interface Contender {
  readonly name: string
  readonly round: () => Promise<Measure.Load>
  readonly cpu: CpuMeter.CpuMeter
}

/** Mail server that takes everything, in a process of its own. */
export interface Sink {
  readonly port: number
  readonly arrived: () => number
}

export const startSink = async (answerAfterMillis = 0): Promise<Sink> => {
  const { port, process } = await Held.within((scope) => child(scope, "sink.ts", `${answerAfterMillis}`))
  let count = 0
  process.on("message", ({ arrived }: Arrivals) => {
    count += arrived.length
  })
  return { port, arrived: () => count }
}

/** Makes a database with the layout, an account with its domain in each cell, and a process that delivers nothing. */
const installation = async (layout: Layout, home: string) => {
  const { tables, url } = await layout.install()
  const keys: Array<string> = []
  for (const cell of layout.cells) keys.push(...(await tenant(Redacted.make(url), CONNECTIONS, cell)))
  const server = await Held.acquire(
    () => Waybill.start(url, home, SETTINGS),
    ({ stop }) => stop(),
  )
  for (let nth = 0; nth < keys.length; nth += CONNECTIONS) await Waybill.addDomain(server, keys[nth] ?? "")
  return { url, tables, keys, server }
}

const meter = ({ home, servers }: Layout, { pid }: Processes.Server) =>
  CpuMeter.make({ process: () => Cpu.ofProcess(pid), servers, home })

/** Accepts mail, and delivers none of it. */
export const accepting = async (layout: Layout, load: Processes.Load, home: string): Promise<Contender> => {
  const { keys, server } = await installation(layout, home)
  const cpu = meter(layout, server)
  const run = () => load.run({ port: server.port, keys, millis: ACCEPT_MILLIS, isRepeated: true })
  return { name: layout.name, cpu, round: () => cpu.measure(run) }
}

/** Accepts mail and delivers it through a relay meanwhile; a round ends when all of it is delivered and recorded. */
export const delivering = async (
  layout: Layout,
  load: Processes.Load,
  home: string,
  sink: Sink,
): Promise<Contender> => {
  const relay = { ...SETTINGS, TRANSPORT: "relay", SMTP_URL: `smtp://127.0.0.1:${sink.port}` }
  const { keys, server: first, tables, url } = await installation(layout, home)
  // A relay takes no part in the verification of a reserved name, so the domain was added without one.
  await first.stop()
  const server = await Held.acquire(
    () => Waybill.startBundled(url, home, ["api", "worker"], relay),
    ({ stop }) => stop(),
  )
  const { port } = server
  const cpu = meter(layout, server)
  const isSettled = async () => {
    for (const { schema, url } of tables) {
      const waiting = `SELECT FROM ${schema}.outbox WHERE kind = 'delivery' LIMIT 1`
      if ((await TemporaryServer.execute(url, waiting)).length > 0) return false
    }
    return true
  }
  const round = async (): Promise<Measure.Load> => {
    const began = performance.now()
    const before = sink.arrived()
    const { done, latencies } = await load.run({ port, keys, millis: DELIVER_MILLIS, isRepeated: true })
    await until(
      () => sink.arrived() - before >= done,
      () => `${sink.arrived() - before} of ${done} mails arrived`,
    )
    const taken = performance.now() - began
    while (!(await isSettled())) await sleep(LOOK_EVERY_MILLIS)
    return { done, millis: taken, latencies }
  }
  return { name: layout.name, cpu, round: () => cpu.measure(round) }
}

const until = async (isSo: () => boolean, progress: () => string): Promise<void> => {
  const end = performance.now() + PATIENCE_MILLIS
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`${progress()} within ${PATIENCE_MILLIS} ms`)
    await sleep(LOOK_EVERY_MILLIS)
  }
}
