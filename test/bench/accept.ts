// POST /v1/email/send from 64 connections: the service, and two hand-written baselines that do part of its work. With
// `--door resend,postmark,sendgrid`, the same service by the APIs of other services instead of the baselines; with
// `--template`, the same message made of a template; with `--keys`, the same request with an idempotency key.
import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Cpu from "./accept/Cpu.ts"
import * as Processes from "./accept/Processes.ts"
import { BODY_BYTES, type Door, isDoor, TEMPLATE } from "./accept/request.ts"
import { tenant } from "./accept/tenant.ts"
import * as Waybill from "./accept/Waybill.ts"
import * as Held from "./report/Held.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const CONNECTIONS = 64
const ROUNDS = 8
const ROUND_MILLIS = 1_000
/**
 * Number of requests after which code is compiled. Compilers count calls, not seconds, so a busy machine needs longer,
 * up to a limit. The processor time of a send halves from the 2,000th request to the 40,000th; that of the baselines
 * changes no more after the 10,000th.
 */
const WARM_UP_REQUESTS = 40_000
const WARM_UP_AT_MOST_MILLIS = 25_000
const SETTLE_MILLIS = 500

const WAYBILL = "waybill"
/** What stands for a ready-made send without a key, at Waybill's own API. */
const OWN: Readonly<Partial<Record<Door, string>>> = {
  template: "waybill, by a template",
  keyed: "waybill, with a key",
}
const throughDoor = (door: Door) => OWN[door] ?? `waybill, by /compat/${door}`
const GROUPED = "(b) grouped, validates nothing"
const SAME_CHECKS = "(d) grouped, with Waybill's rows and checks"

interface Contender extends Measure.Contender {
  readonly server: Processes.Server
}
/** Processor time in milliseconds, over all rounds. */
interface Spent {
  requests: number
  server: number
  postgres: number
}

const spent = new Map<string, Spent>()

const doorAt = process.argv.indexOf("--door")
const doorNames = doorAt < 0 ? [] : (process.argv[doorAt + 1] ?? "").split(",")
const usesTemplate = process.argv.includes("--template")
const doors: ReadonlyArray<Door> = [
  ...doorNames.filter(isDoor),
  ...(usesTemplate ? (["template"] as const) : []),
  ...(process.argv.includes("--keys") ? (["keyed"] as const) : []),
]
if (doorNames.some((name) => !isDoor(name) || name === "native" || name in OWN)) {
  process.stderr.write("Usage: npm run bench -- accept [--door resend,postmark,sendgrid] [--template] [--keys]\n")
  process.exit(64)
}

const contender = async (
  name: string,
  postgres: EmbeddedPostgres.Running,
  load: Processes.Load,
  start: (url: string) => Promise<Processes.Server>,
  prepare: (url: string, key: string) => Promise<unknown> = async () => {},
  through: Door = "native",
): Promise<Contender> => {
  const url = await TemporaryServer.freshDatabase(postgres)
  const keys = await tenant(url, CONNECTIONS)
  await prepare(Redacted.value(url), keys[0] ?? "")
  const server = await Held.acquire(
    () => start(Redacted.value(url)),
    ({ stop }) => stop(),
  )
  const run = async (millis: number) => {
    const before = [Cpu.ofProcess(server.pid), Cpu.ofTree(postgres.pid)] as const
    const report = await load.run({ port: server.port, keys, millis, door: through })
    const total = spent.get(name) ?? { requests: 0, server: 0, postgres: 0 }
    total.requests += report.done
    total.server += Cpu.ofProcess(server.pid) - before[0]
    total.postgres += Cpu.ofTree(postgres.pid) - before[1]
    spent.set(name, total)
    return report
  }
  return { name, run, server }
}

const floor = (file: string) => (url: string) => Processes.start(file, { DATABASE_URL: url })

const warmUp = async ({ run }: Contender): Promise<void> => {
  let requests = 0
  for (let millis = 0; requests < WARM_UP_REQUESTS && millis < WARM_UP_AT_MOST_MILLIS; millis += SETTLE_MILLIS) {
    requests += (await run(SETTLE_MILLIS)).done
  }
}

const measure = async (contenders: ReadonlyArray<Contender>) => {
  for (const { run } of contenders) await run(SETTLE_MILLIS)
  spent.clear()
  const results = await Measure.rounds(contenders, { rounds: ROUNDS, millis: ROUND_MILLIS, warmUpMillis: 1 })
  return results.map((result) => {
    const { postgres, requests, server } = spent.get(result.name) ?? { requests: 0, server: 0, postgres: 0 }
    const micros = (millis: number) => Math.round((millis * 1000) / requests)
    return { ...result, serverMicros: micros(server), postgresMicros: micros(postgres) }
  })
}
type Measured = Awaited<ReturnType<typeof measure>>

const rateOf = (results: Measured, name: string) =>
  results.find((result) => result.name === name)?.perSecond.median ?? Number.NaN

/** Processor time of the server and of Postgres for a send through a door, against a native one. */
const doorCost = (results: Measured, door: Door): number => {
  const cost = (wanted: string) => {
    const found = results.find(({ name }) => name === wanted)
    return found === undefined ? Number.NaN : found.serverMicros + found.postgresMicros
  }
  return cost(throughDoor(door)) / cost(WAYBILL)
}

const table = (results: Measured): string =>
  Measure.table(
    ["", "a second", "least", "most", "p50 ms", "p99 ms", "CPU µs/request", "of Postgres"],
    results.map(({ name, p50Millis, p99Millis, perSecond, postgresMicros, serverMicros }) => [
      name,
      ...[perSecond.median, perSecond.least, perSecond.most].map(Measure.rate),
      Measure.millis(p50Millis),
      Measure.millis(p99Millis),
      String(serverMicros),
      String(postgresMicros),
    ]),
  )

try {
  const postgres = await Held.held(TemporaryServer.temporaryServer())
  const home = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-accept-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  /** Adds the sending domain, by a service that stops before the contender starts. */
  const addDomain = async (url: string, key: string) => {
    const service = await Waybill.start(url, home)
    await Waybill.addDomain(service, key)
    if (usesTemplate) await Waybill.addTemplate(service, key, TEMPLATE)
    await service.stop()
  }
  const load = await Held.acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  const service = (name: string, door?: Door) =>
    contender(name, postgres, load, (url) => Waybill.start(url, home), addDomain, door)
  const contenders = [await service(WAYBILL)]
  for (const door of doors) contenders.push(await service(throughDoor(door), door))
  if (doors.length === 0)
    contenders.push(
      await contender(GROUPED, postgres, load, floor("grouped.ts")),
      await contender(SAME_CHECKS, postgres, load, floor("sameChecks.ts"), addDomain),
    )
  const environment = await TemporaryServer.environment(postgres)
  for (const each of contenders) await warmUp(each)
  const settings = []
  for (const commit_delay of [0, TemporaryServer.CLOUD_COMMIT_MICROS]) {
    await TemporaryServer.setCommitDelay(postgres, commit_delay)
    const results = await measure(contenders)
    const own = rateOf(results, WAYBILL)
    settings.push({
      commit_delay,
      results,
      own,
      against_grouped: own / rateOf(results, GROUPED),
    })
  }
  Measure.answer(
    { connections: CONNECTIONS, body_bytes: BODY_BYTES, rounds: ROUNDS, environment, settings },
    [
      `POST /v1/email/send, ${CONNECTIONS} connections with a key each, ${BODY_BYTES} bytes, ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      ...settings.flatMap(({ against_grouped, commit_delay, own, results }) => [
        "",
        commit_delay === 0 ? "The disk as it is:" : `Every commit ${commit_delay / 1000} ms, as on a cloud's disk:`,
        table(results),
        ...doors.map((door) =>
          door in OWN
            ? `${WAYBILL} against ${throughDoor(door)}: rate ${(own / rateOf(results, throughDoor(door))).toFixed(2)}x, ` +
              `processor time of the second against the first ${doorCost(results, door).toFixed(2)}x.`
            : `Processor time of a send at /compat/${door} against a native one: ${doorCost(results, door).toFixed(2)}x.`,
        ),
        ...(doors.length > 0
          ? []
          : [
              `Waybill against (b) ${against_grouped.toFixed(2)}x, ` +
                `against (d) ${(own / rateOf(results, SAME_CHECKS)).toFixed(2)}x, ` +
                `(d) against (b) ${(rateOf(results, SAME_CHECKS) / rateOf(results, GROUPED)).toFixed(2)}x.`,
            ]),
      ]),
    ].join("\n"),
    settings.flatMap(({ commit_delay, results }): ReadonlyArray<Measure.Finding> => {
      const disk = commit_delay === 0 ? "" : `, every commit ${commit_delay / 1000} ms`
      if (usesTemplate)
        return [
          {
            what: `ready-made sends against sends by a template${disk}`,
            measured: Measure.ratio(results, WAYBILL, throughDoor("template")),
            unit: "times" as const,
            atMost: 1.3,
          },
        ]
      if (doors.length > 0) return []
      return [
        {
          what: `sends against a bare grouped append (b)${disk}`,
          measured: Measure.ratio(results, WAYBILL, GROUPED),
          unit: "times" as const,
          atLeast: commit_delay === 0 ? 0.6 : 0.65,
        },
        {
          what: `sends against a grouped append of the same rows with the same checks (d)${disk}`,
          measured: Measure.ratio(results, WAYBILL, SAME_CHECKS),
          unit: "times" as const,
          atLeast: 0.8,
        },
        {
          what: `floor (d) against floor (b)${disk}`,
          measured: Measure.ratio(results, SAME_CHECKS, GROUPED),
          unit: "times" as const,
        },
      ]
    }),
  )
} finally {
  await Held.releaseAll()
}
