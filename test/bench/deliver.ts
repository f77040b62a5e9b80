// npm run bench -- deliver [--rounds 2] [--scheduled 100000] [--json]: from acceptance to the next server. Measures the
// drain with DKIM and its commits beside nodemailer's pool on the same messages, the latency of one message, and what messages
// scheduled for later cost the others.
import { Effect, Exit, Redacted, Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { parseArgs } from "node:util"
import * as Cpu from "./accept/Cpu.ts"
import { recipient } from "./deliver/mail.ts"
import { child, CONNECTIONS, drain, type Drained, node, type Node, now, sleep, type Spent } from "./deliver/node.ts"
import type { Arrivals } from "./deliver/sink.ts"
import type { Order } from "./deliver/stockPool.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const MAILS = 2_000
/** Messages after which the code of both is compiled: their processor time falls by a third until then. */
const WARM_UP_MAILS = 20_000
const STOCK_WARM_UPS = 10
/** Number of messages for the pool, whose rate does not depend on it. */
const STOCK_MAILS = 800
const IDLE_MAILS = 120
const PACED_PER_SECOND = 500
const PACED_SECONDS = 3

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "2" },
    scheduled: { type: "string", default: "100000" },
    json: { type: "boolean" },
  },
})
const ROUNDS = Number(values.rounds)
const SCHEDULED = Number(values.scheduled)

const scope = Scope.makeUnsafe()
/** Time at which each message arrived. */
const arrivals = (process: ChildProcess) => {
  const seen = new Map<string, number>()
  process.on("message", ({ arrived }: Arrivals) => {
    for (const [id, at] of arrived) seen.set(id, at)
  })
  return seen
}

const stock = async (
  pool: { process: ChildProcess; pid: number },
  port: number,
  privateKey: string,
): Promise<Spent> => {
  const before = Cpu.ofProcess(pool.pid)
  pool.process.send({ port, connections: CONNECTIONS, privateKey, mails: STOCK_MAILS } satisfies Order)
  const [{ millis }] = (await once(pool.process, "message")) as [{ readonly millis: number }]
  return {
    perSecond: (STOCK_MAILS * 1000) / millis,
    senderMicros: ((Cpu.ofProcess(pool.pid) - before) * 1000) / STOCK_MAILS,
    postgresMicros: 0,
  }
}

/** Measures the time from a send to the message's final dot at the next server. */
const latencies = async (on: Node, seen: ReadonlyMap<string, number>, count: number, perSecond: number | undefined) => {
  const began = new Map<string, number>()
  const one = async (n: number) => {
    const start = now()
    const { stream_id } = await on.accept({ to: [{ address: recipient(n) }] })
    began.set(`${stream_id}@acme.test`, start)
    return `${stream_id}@acme.test`
  }
  if (perSecond === undefined) {
    for (let n = 0; n < count; n++) {
      const id = await one(n)
      while (!seen.has(id)) await sleep(2)
      await sleep(5)
    }
  } else {
    const start = now()
    const sent: Array<Promise<unknown>> = []
    for (let n = 0; n < count; n++) {
      await sleep(Math.max(0, start + (n * 1000) / perSecond - now()))
      sent.push(one(n))
    }
    await Promise.all(sent)
    while ([...began.keys()].some((id) => !seen.has(id))) await sleep(20)
  }
  return [...began].map(([id, at]) => (seen.get(id) ?? Number.NaN) - at)
}

const medianOf = (rounds: ReadonlyArray<Spent>): Spent => ({
  perSecond: Measure.median(rounds.map((round) => round.perSecond)),
  senderMicros: Measure.median(rounds.map((round) => round.senderMicros)),
  postgresMicros: Measure.median(rounds.map((round) => round.postgresMicros)),
})

/** Written before the rounds, so that no round pays for making them. */
const withScheduled = async (url: Redacted.Redacted) => {
  await TemporaryServer.execute(
    Redacted.value(url),
    `INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload)
     SELECT 'w' || n, 'acc' || n % 1000, 'delivery', 'w' || n, now() + make_interval(days => 1, secs => n), '{}'
     FROM generate_series(1, ${SCHEDULED}) AS n`,
    "VACUUM ANALYZE outbox",
  )
  return url
}

try {
  const postgres = await Effect.runPromise(Scope.provide(TemporaryServer.temporaryServer(), scope))
  const sink = await child(scope, "sink.ts")
  const pool = await child(scope, "stockPool.ts")
  const seen = arrivals(sink.process)
  const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  })
  const on = await node(scope, await TemporaryServer.freshDatabase(postgres), sink.port)
  const waiting = await node(scope, await withScheduled(await TemporaryServer.freshDatabase(postgres)), sink.port)
  await TemporaryServer.execute(Redacted.value(postgres.adminUrl), "CHECKPOINT")
  const environment = await TemporaryServer.environment(postgres)

  await drain(on, postgres, WARM_UP_MAILS)
  await drain(waiting, postgres, WARM_UP_MAILS)
  for (let nth = 0; nth < STOCK_WARM_UPS; nth++) await stock(pool, sink.port, String(privateKey))
  const own: Array<Drained> = []
  const theirs: Array<Spent> = []
  const full: Array<Drained> = []
  // Contenders take turns within a round, so that other load on the machine affects all of them.
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await drain(on, postgres, MAILS))
    theirs.push(await stock(pool, sink.port, String(privateKey)))
    full.push(await drain(waiting, postgres, MAILS))
  }
  const idle = await latencies(on, seen, IDLE_MAILS, undefined)
  const paced = await latencies(on, seen, PACED_PER_SECOND * PACED_SECONDS, PACED_PER_SECOND)

  const rows: ReadonlyArray<readonly [string, Spent]> = [
    ["waybill, drain with DKIM and bookkeeping", medianOf(own)],
    ["nodemailer's pool with DKIM", medianOf(theirs)],
    [`waybill, ${SCHEDULED.toLocaleString("en-US")} scheduled`, medianOf(full)],
  ]
  /** Median of the ratios within each round, not the ratio of the medians. */
  const share = (mine: ReadonlyArray<number>, base: ReadonlyArray<number>) =>
    Measure.spread(mine.map((value, round) => value / (base[round] ?? Number.NaN)))
  const rates = (rounds: ReadonlyArray<Spent>) => rounds.map(({ perSecond }) => perSecond)
  const accepts = (rounds: ReadonlyArray<Drained>) => rounds.map(({ acceptedPerSecond }) => acceptedPerSecond)
  const shares = {
    against_stock_pool: share(rates(own), rates(theirs)),
    scheduled_drain: share(rates(full), rates(own)),
    scheduled_accept: share(accepts(full), accepts(own)),
  }
  const latency = (values: ReadonlyArray<number>) => ({
    p50: Measure.quantile(values, 0.5),
    p99: Measure.quantile(values, 0.99),
  })
  const result = {
    mails: MAILS,
    connections: CONNECTIONS,
    rounds: ROUNDS,
    environment,
    drain: Object.fromEntries(rows),
    ...shares,
    latency_idle_ms: latency(idle),
    latency_paced_ms: latency(paced),
  }
  const spread = ({ least, median, most }: Measure.Spread) =>
    `${median.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
  const shown = ({ p50, p99 }: { readonly p50: number; readonly p99: number }) =>
    `p50 ${Measure.millis(p50)} ms, p99 ${Measure.millis(p99)} ms`
  Measure.answer(
    result,
    [
      `${MAILS} messages of 1.5 KB a round, ${CONNECTIONS} connections to a sink in its own process, ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      "",
      Measure.table(
        ["", "a second", "CPU µs/mail", "of Postgres"],
        rows.map(([name, { perSecond, postgresMicros, senderMicros }]) => [
          name,
          Measure.rate(perSecond),
          String(Math.round(senderMicros)),
          String(Math.round(postgresMicros)),
        ]),
      ),
      "",
      `Against the stock pool ${spread(shares.against_stock_pool)} times.`,
      `Accept to the sink, idle: ${shown(result.latency_idle_ms)}; at ${PACED_PER_SECOND} a second: ${shown(result.latency_paced_ms)}.`,
      `With ${SCHEDULED.toLocaleString("en-US")} scheduled: drain ${spread(shares.scheduled_drain)} of the rate without, accept ${spread(shares.scheduled_accept)}.`,
    ].join("\n"),
    [
      { what: "drain against nodemailer's pool", measured: shares.against_stock_pool, unit: "times", atLeast: 1.9 },
      { what: "accept to sink, idle, p50", measured: Measure.once(result.latency_idle_ms.p50), unit: "ms" },
      {
        what: "accept to sink, idle, p99",
        measured: Measure.once(result.latency_idle_ms.p99),
        unit: "ms",
        atMost: 100,
      },
      {
        what: `accept to sink at ${PACED_PER_SECOND} a second, p50`,
        measured: Measure.once(result.latency_paced_ms.p50),
        unit: "ms",
      },
      {
        what: `accept to sink at ${PACED_PER_SECOND} a second, p99`,
        measured: Measure.once(result.latency_paced_ms.p99),
        unit: "ms",
      },
      {
        what: `drain with ${SCHEDULED.toLocaleString("en-US")} scheduled, of the rate without`,
        measured: shares.scheduled_drain,
        unit: "times",
        atLeast: 0.9,
      },
      {
        what: `accept with ${SCHEDULED.toLocaleString("en-US")} scheduled, of the rate without`,
        measured: shares.scheduled_accept,
        unit: "times",
        atLeast: 0.9,
      },
    ],
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
