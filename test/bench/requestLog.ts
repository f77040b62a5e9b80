// POST /v1/email/send from 64 connections, in turns with the request log and without it. The log is written beside the
// answers, so each turn ends with a pause in which its last rows are written, and their processor time is counted.
import { FLUSH_EVERY } from "@waybill/store/requests/RequestLogWriter"
import { Duration, Effect, Exit, Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as Cpu from "./accept/Cpu.ts"
import * as Processes from "./accept/Processes.ts"
import { tenant } from "./accept/tenant.ts"
import * as Waybill from "./accept/Waybill.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const CONNECTIONS = 64
const ROUNDS = 6
const ROUND_MILLIS = 2_000
/** Number of requests after which code is compiled, as in accept.ts, and the time limit for them on a busy machine. */
const WARM_UP_REQUESTS = 12_000
const WARM_UP_AT_MOST_MILLIS = 20_000
const WITH = "with the request log"
const WITHOUT = "without it"

const scope = Scope.makeUnsafe()
const acquire = <A>(make: () => Promise<A>, release: (made: A) => unknown): Promise<A> =>
  Effect.runPromise(
    Scope.provide(
      Effect.acquireRelease(Effect.promise(make), (made) => Effect.promise(async () => void (await release(made)))),
      scope,
    ),
  )

try {
  const postgres = await Effect.runPromise(Scope.provide(TemporaryServer.temporaryServer(), scope))
  const home = await acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-request-log-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  const load = await acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  /** Processor time in milliseconds, over all rounds. */
  const spent = new Map<string, { requests: number; server: number; postgres: number }>()

  const contender = async (name: string, days: string): Promise<Measure.Contender> => {
    const url = await TemporaryServer.freshDatabase(postgres)
    const keys = await tenant(url, CONNECTIONS)
    const server = await acquire(
      () => Waybill.start(Redacted.value(url), home, { REQUEST_LOG_DAYS: days }),
      ({ stop }) => stop(),
    )
    await Waybill.addDomain(server, keys[0] ?? "")
    const run = async (millis: number) => {
      const before = [Cpu.ofProcess(server.pid), Cpu.ofPostgres(postgres.pid)] as const
      const report = await load.run({ port: server.port, keys, millis, door: "native" })
      await pause(2 * Duration.toMillis(FLUSH_EVERY))
      const total = spent.get(name) ?? { requests: 0, server: 0, postgres: 0 }
      spent.set(name, {
        requests: total.requests + report.done,
        server: total.server + Cpu.ofProcess(server.pid) - before[0],
        postgres: total.postgres + Cpu.ofPostgres(postgres.pid) - before[1],
      })
      return report
    }
    return { name, run }
  }

  const contenders = [await contender(WITH, "7"), await contender(WITHOUT, "0")]
  const environment = await TemporaryServer.environment(postgres)
  for (const { run } of contenders) {
    let requests = 0
    for (let millis = 0; requests < WARM_UP_REQUESTS && millis < WARM_UP_AT_MOST_MILLIS; millis += ROUND_MILLIS)
      requests += (await run(ROUND_MILLIS)).done
  }
  spent.clear()
  const results = await Measure.rounds(contenders, { rounds: ROUNDS, millis: ROUND_MILLIS, warmUpMillis: 1 })
  const micros = (name: string) => {
    const { postgres, requests, server } = spent.get(name) ?? { requests: 0, server: 0, postgres: 0 }
    return { server: Math.round((server * 1000) / requests), postgres: Math.round((postgres * 1000) / requests) }
  }
  const costOf = (name: string) => micros(name).server + micros(name).postgres
  Measure.answer(
    { connections: CONNECTIONS, rounds: ROUNDS, environment, results },
    [
      `POST /v1/email/send, ${CONNECTIONS} connections with a key each, ${ROUNDS} rounds of ${ROUND_MILLIS / 1000} s.`,
      TemporaryServer.describe(environment),
      "",
      Measure.table(
        ["", "a second", "least", "most", "p50 ms", "p99 ms", "CPU µs/request", "of Postgres"],
        results.map(({ name, p50Millis, p99Millis, perSecond }) => [
          name,
          ...[perSecond.median, perSecond.least, perSecond.most].map(Measure.rate),
          Measure.millis(p50Millis),
          Measure.millis(p99Millis),
          String(micros(name).server),
          String(micros(name).postgres),
        ]),
      ),
      `Processor time of a send with the log against one without: ${(costOf(WITH) / costOf(WITHOUT)).toFixed(3)}x.`,
    ].join("\n"),
    [
      {
        what: "sends with the request log against sends without",
        measured: Measure.ratio(results, WITH, WITHOUT),
        unit: "times",
        atLeast: 0.97,
      },
    ],
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
