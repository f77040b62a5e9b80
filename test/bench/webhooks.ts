// npm run bench -- webhooks [--rounds 3] [--json]: rate of signed webhook calls to a receiver in a process of its own,
// and the effect of a hanging endpoint on others.
import "effect/schema/SchemaJITCompiler/enable"
import { PgClient } from "@effect/sql-pg"
import type * as Id from "@waybill/domain/values/Id"
import { Effect, Exit, Layer, References, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as World from "../support/world/World.ts"
import { id } from "../support/history.ts"
import * as Webhooks from "../support/web/Webhooks.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const RECEIVER = fileURLToPath(new URL("deliver/webhookReceiver.ts", import.meta.url))
/** Events of the backlog that is measured, and of the warm-up; every endpoint receives each of them. */
const EVENTS = 1_500
const WARM_UP = 1_000
const ENDPOINTS = 4
const ROUNDS = 3
const WRITERS = 64
/** Events per second while delays are measured, far below a node's capacity, and the duration. */
const STEADY_RATE = 100
const STEADY_SECONDS = 4

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, json: { type: "boolean" } },
})
const STEADY_ROUNDS = Number(values.rounds)

const scope = Scope.makeUnsafe()
const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))

const startReceiver = Effect.acquireRelease(
  Effect.promise(async () => {
    const child = spawn(process.execPath, [RECEIVER], { stdio: ["ignore", "pipe", "inherit"] })
    const [line] = (await once(child.stdout, "data")) as [Buffer]
    return { child, url: `http://127.0.0.1:${Number(line.toString())}` }
  }),
  ({ child }) => Effect.sync(() => child.kill()),
)

type Arrived = Readonly<Record<string, ReadonlyArray<readonly [id: string, at: number]>>>

try {
  const server = await run(TemporaryServer.temporaryServer())
  const environment = await TemporaryServer.environment(server)
  const url = await TemporaryServer.freshDatabase(server)
  const receiver = await run(startReceiver)
  // Spans are off, as in a service without a collector.
  const spans = Layer.succeed(References.TracerEnabled, false)
  const node = await run(Layer.build(Layer.merge(World.services(url), spans)))
  const arrived = async (): Promise<Arrived> => (await fetch(`${receiver.url}/arrived`)).json() as Promise<Arrived>
  const forget = () => fetch(`${receiver.url}/forget`)
  const inNode = Effect.runPromiseWith(node)

  const happen = (account_id: Id.AccountId, count: number) =>
    Effect.forEach(Array.from({ length: count }), () => Webhooks.acceptEmail(account_id), {
      concurrency: WRITERS,
      discard: true,
    })

  const pending = (account_id: Id.AccountId) =>
    Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.map(
        Effect.orDie(sql<{ readonly n: number }>`
          SELECT count(*)::int AS n FROM outbox WHERE kind = 'webhook' AND account_id = ${account_id}`),
        ([row]) => row?.n ?? 0,
      ),
    )

  /** Delivers a backlog to quick endpoints; measures from the first delivered row to the last. */
  const backlog = async (events: number): Promise<{ readonly perSecond: number; readonly cpuMillis: number }> => {
    const account_id = id("AccountId")
    for (let n = 0; n < ENDPOINTS; n++) await inNode(Webhooks.create(`${receiver.url}/quick/${n}`, { account_id }))
    await inNode(happen(account_id, events))
    const working = Scope.makeUnsafe()
    let began = performance.now()
    await inNode(Scope.provide(Layer.build(Webhooks.worker(url)), working))
    let first = events * ENDPOINTS
    for (let left = first; left === events * ENDPOINTS;) {
      began = performance.now()
      first = left = await inNode(pending(account_id))
    }
    const cpu = process.cpuUsage()
    while ((await inNode(pending(account_id))) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const seconds = (performance.now() - began) / 1000
    const { system, user } = process.cpuUsage(cpu)
    await Effect.runPromise(Scope.close(working, Exit.void))
    return { perSecond: first / seconds, cpuMillis: (system + user) / 1000 / first }
  }

  /**
   * Measures from the commit of an event to the arrival of its call, with and without a hanging endpoint in the
   * account.
   */
  const delays = async (neighbour: "/hang" | "/other"): Promise<ReadonlyArray<number>> => {
    await forget()
    const account_id = id("AccountId")
    await inNode(Webhooks.create(`${receiver.url}/steady`, { account_id }))
    await inNode(Webhooks.create(`${receiver.url}${neighbour}`, { account_id }))
    const working = Scope.makeUnsafe()
    await inNode(Scope.provide(Layer.build(Webhooks.worker(url)), working))
    const began = performance.now()
    const sent: Array<Promise<unknown>> = []
    for (let n = 0; n < STEADY_RATE * STEADY_SECONDS; n++) {
      const due = began + (n * 1000) / STEADY_RATE
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      sent.push(inNode(Webhooks.acceptEmail(account_id)))
    }
    await Promise.all(sent)
    const wanted = STEADY_RATE * STEADY_SECONDS
    while (((await arrived())["/steady"]?.length ?? 0) < wanted) await new Promise((resolve) => setTimeout(resolve, 50))
    const written = await inNode(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        Effect.orDie(sql<{ readonly event_id: string; readonly at: number }>`
          SELECT event_id, (extract(epoch FROM recorded_at) * 1000)::float8 AS at FROM events
          WHERE account_id = ${account_id} AND type = 'EmailQueued'`),
      ),
    )
    const at = new Map((await arrived())["/steady"])
    // Releases hanging calls, or the worker would wait for them.
    await inNode(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        Effect.orDie(sql`UPDATE webhooks SET enabled = false WHERE account_id = ${account_id}`),
      ),
    )
    await forget()
    await Effect.runPromise(Scope.close(working, Exit.void))
    await inNode(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        Effect.orDie(sql`DELETE FROM outbox WHERE account_id = ${account_id}`),
      ),
    )
    return written.map((event) => (at.get(event.event_id) ?? Number.NaN) - event.at)
  }

  await backlog(WARM_UP)
  const rates: Array<number> = []
  const cpus: Array<number> = []
  for (let round = 0; round < ROUNDS; round++) {
    const { cpuMillis, perSecond } = await backlog(EVENTS)
    rates.push(perSecond)
    cpus.push(cpuMillis)
  }
  const without: Array<ReadonlyArray<number>> = []
  const hanging: Array<ReadonlyArray<number>> = []
  for (let round = 0; round < STEADY_ROUNDS; round++) {
    // Contenders take turns at being first, because the second one finds a busier disk.
    for (const hangs of round % 2 === 0 ? [false, true] : [true, false]) {
      ;(hangs ? hanging : without).push(await delays(hangs ? "/hang" : "/other"))
    }
  }
  // One hiccup of the machine makes the slowest calls of a round, so the median of the rounds is reported.
  const p99 = (rounds: ReadonlyArray<ReadonlyArray<number>>) =>
    Measure.median(rounds.map((round) => Measure.quantile(round, 0.99)))
  const p50 = (rounds: ReadonlyArray<ReadonlyArray<number>>) => Measure.quantile(rounds.flat(), 0.5)
  const [before, after] = [p99(without), p99(hanging)]
  const change = (after / before - 1) * 100
  Measure.answer(
    {
      environment,
      calls: EVENTS * ENDPOINTS,
      calls_per_second: Measure.spread(rates),
      cpu_ms_a_call: Measure.spread(cpus),
      steady: { rate: STEADY_RATE, p99_alone_ms: before, p99_beside_ms: after, change_percent: change },
    },
    [
      `A backlog of ${EVENTS * ENDPOINTS} signed calls to ${ENDPOINTS} endpoints of a receiver in its own process, ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      "",
      `${Measure.rate(Measure.median(rates))} calls a second (${Measure.rate(Math.min(...rates))} to ${Measure.rate(Math.max(...rates))}), ` +
        `${Measure.millis(Measure.median(cpus))} ms of the node's processor each.`,
      "",
      `From commit to arrival at ${STEADY_RATE} events a second, beside a second endpoint of the same account, middle of ${STEADY_ROUNDS} rounds:`,
      Measure.table(
        ["", "p50 ms", "p99 ms"],
        [
          ["that answers", Measure.millis(p50(without)), Measure.millis(before)],
          ["that hangs", Measure.millis(p50(hanging)), Measure.millis(after)],
        ],
      ),
      `The hanging endpoint changes the p99 by ${change.toFixed(0)} %.`,
    ].join("\n"),
    [
      { what: "signed calls of a backlog", measured: Measure.spread(rates), unit: "a second", atLeast: 1_500 },
      {
        what: "change of the others' p99 by an endpoint that hangs",
        measured: Measure.once(change),
        unit: "%",
        atMost: 20,
      },
    ],
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
