// From acceptance to the next server: the drain with DKIM and all its bookkeeping beside nodemailer's stock pool on the
// same messages, how long one message takes, and what a million scheduled ones cost the others.
import type * as EmbeddedPostgres from "@waybill/embedded-postgres/EmbeddedPostgres"
import * as Timestamp from "@waybill/domain/Timestamp"
import * as Content from "@waybill/store/Content"
import { Effect, Exit, ManagedRuntime, Redacted, Scope } from "effect"
import { type ChildProcess, fork, spawn } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import pg from "pg"
import * as Delivery from "../support/delivery.ts"
import * as Cpu from "./accept/cpu.ts"
import { HTML, recipient, SUBJECT, TEXT } from "./deliver/mail.ts"
import type { Arrivals } from "./deliver/sink.ts"
import type { Order } from "./deliver/stockPool.ts"
import * as Measure from "./measure.ts"

const MAILS = 3_000
const ROUNDS = 5
const CONNECTIONS = 10
const IDLE_MAILS = 300
const PACED_PER_SECOND = 500
const PACED_SECONDS = 6
const SCHEDULED = 1_000_000
/** The backlog comes due together, this long after it was made. */
const LEAD_MILLIS = 4_000

/** What the service's own program begins with. */
const AS_IN_MAIN = "effect/schema/SchemaJITCompiler/enable"

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const scope = Scope.makeUnsafe()
const acquire = <A>(make: () => Promise<A>, release: (made: A) => unknown): Promise<A> =>
  Effect.runPromise(
    Scope.provide(
      Effect.acquireRelease(Effect.promise(make), (made) => Effect.promise(async () => void (await release(made)))),
      scope,
    ),
  )
const child = (file: string) =>
  acquire(
    async () => {
      const forked = fork(here(file))
      const [hello] = (await once(forked, "message")) as [{ readonly port?: number }]
      return { process: forked, pid: forked.pid ?? 0, port: hello.port ?? 0 }
    },
    ({ process }) => process.kill("SIGKILL"),
  )

/** What has arrived so far, and the moment of each. */
const arrivals = (process: ChildProcess) => {
  const seen = new Map<string, number>()
  process.on("message", ({ arrived }: Arrivals) => {
    for (const [id, at] of arrived) seen.set(id, at)
  })
  return seen
}

const node = async (url: Redacted.Redacted, port: number) => {
  const runtime = await acquire(
    async () => ManagedRuntime.make(Delivery.store(url)),
    (runtime) => runtime.dispose(),
  )
  const worker = await acquire(
    async () => {
      const started = spawn(
        process.execPath,
        ["--import", AS_IN_MAIN, here("../support/workerProcess.ts"), Redacted.value(url), `${port}`, `${CONNECTIONS}`],
        { stdio: ["ignore", "pipe", "inherit"] },
      )
      await once(started.stdout, "data")
      return started
    },
    (started) => started.kill("SIGKILL"),
  )
  const sender = await runtime.runPromise(Delivery.sender())
  const body = Content.encodeBody({ html: HTML, text: TEXT })
  const accept = (over: Readonly<Record<string, unknown>> = {}) =>
    runtime.runPromise(
      Delivery.accept(
        sender,
        {
          subject: SUBJECT,
          content: { sha256: body.sha256, has_html: true, has_text: true, attachments: [] },
          ...over,
        },
        body,
      ),
    )
  const watcher = await acquire(
    async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url) })
      await client.connect()
      return client
    },
    (client) => client.end(),
  )
  // Each part has an index to itself: one condition for all of them would read a million rows at each look.
  const pending = async () => {
    const { rows } = await watcher.query<{ readonly n: number }>(`
      SELECT ((SELECT count(*) FROM outbox WHERE kind = 'delivery' AND ready AND lease_token IS NULL)
        + (SELECT count(*) FROM outbox WHERE lease_token IS NOT NULL)
        + (SELECT count(*) FROM outbox WHERE NOT ready AND lease_token IS NULL
            AND available_at < now() + interval '1 hour'))::int AS n`)
    return rows[0]?.n ?? 0
  }
  return { accept, pending, pid: worker.pid ?? 0, url }
}
type Node = Awaited<ReturnType<typeof node>>

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
const now = () => performance.timeOrigin + performance.now()
const inParallel = async (count: number, width: number, work: (n: number) => Promise<unknown>) => {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

interface Spent {
  readonly perSecond: number
  readonly senderMicros: number
  readonly postgresMicros: number
}

/** A backlog that comes due at once, until nothing of it is left in the outbox. */
const drain = async (on: Node, postgres: EmbeddedPostgres.Running): Promise<Spent> => {
  const due = now() + LEAD_MILLIS + MAILS
  const scheduled_at = Timestamp.fromMillis(due)
  await inParallel(MAILS, 64, (n) => on.accept({ scheduled_at, to: [{ address: recipient(n) }] }))
  await sleep(due - now())
  const before = [Cpu.ofProcess(on.pid), Cpu.ofPostgres(postgres.pid)] as const
  while ((await on.pending()) > 0) await sleep(20)
  const seconds = (now() - due) / 1000
  return {
    perSecond: MAILS / seconds,
    senderMicros: ((Cpu.ofProcess(on.pid) - before[0]) * 1000) / MAILS,
    postgresMicros: ((Cpu.ofPostgres(postgres.pid) - before[1]) * 1000) / MAILS,
  }
}

const stock = async (
  pool: { process: ChildProcess; pid: number },
  port: number,
  privateKey: string,
): Promise<Spent> => {
  const before = Cpu.ofProcess(pool.pid)
  pool.process.send({ port, connections: CONNECTIONS, privateKey, mails: MAILS } satisfies Order)
  const [{ millis }] = (await once(pool.process, "message")) as [{ readonly millis: number }]
  return {
    perSecond: (MAILS * 1000) / millis,
    senderMicros: ((Cpu.ofProcess(pool.pid) - before) * 1000) / MAILS,
    postgresMicros: 0,
  }
}

/** From the moment a send is asked for until its final dot has reached the next server. */
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
      await sleep(20)
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

/** How many a second are accepted, with nobody looking at them yet. */
const acceptRate = async (on: Node): Promise<number> => {
  const scheduled_at = Timestamp.fromMillis(now() + 20 * 24 * 3_600_000)
  const began = now()
  await inParallel(MAILS, 64, (n) => on.accept({ scheduled_at, to: [{ address: recipient(n) }] }))
  return (MAILS * 1000) / (now() - began)
}

const medianOf = (rounds: ReadonlyArray<Spent>): Spent => ({
  perSecond: Measure.median(rounds.map((round) => round.perSecond)),
  senderMicros: Measure.median(rounds.map((round) => round.senderMicros)),
  postgresMicros: Measure.median(rounds.map((round) => round.postgresMicros)),
})

/** Written out before anything is measured, so that no round pays for having made them. */
const million = async (url: Redacted.Redacted) => {
  await Measure.execute(
    Redacted.value(url),
    `INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload)
     SELECT 'w' || n, 'acc' || n % 1000, 'delivery', 'w' || n, now() + make_interval(days => 1, secs => n), '{}'
     FROM generate_series(1, ${SCHEDULED}) AS n`,
    "VACUUM ANALYZE outbox",
  )
  return url
}

try {
  const postgres = await Effect.runPromise(Scope.provide(Measure.temporaryServer(), scope))
  const sink = await child("deliver/sink.ts")
  const pool = await child("deliver/stockPool.ts")
  const seen = arrivals(sink.process)
  const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  })
  const on = await node(await Measure.freshDatabase(postgres), sink.port)
  const waiting = await node(await million(await Measure.freshDatabase(postgres)), sink.port)
  await Measure.execute(Redacted.value(postgres.adminUrl), "CHECKPOINT")
  const environment = await Measure.environment(postgres)

  await drain(on, postgres)
  await drain(waiting, postgres)
  await stock(pool, sink.port, String(privateKey))
  const own: Array<Spent> = []
  const theirs: Array<Spent> = []
  const full: Array<Spent> = []
  const accepts: Array<number> = []
  const fullAccepts: Array<number> = []
  // Each in turn within a round, so that what else the machine does strikes all of them alike.
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await drain(on, postgres))
    theirs.push(await stock(pool, sink.port, String(privateKey)))
    full.push(await drain(waiting, postgres))
    accepts.push(await acceptRate(on))
    fullAccepts.push(await acceptRate(waiting))
  }
  const idle = await latencies(on, seen, IDLE_MAILS, undefined)
  const paced = await latencies(on, seen, PACED_PER_SECOND * PACED_SECONDS, PACED_PER_SECOND)

  const rows: ReadonlyArray<readonly [string, Spent]> = [
    ["waybill, drain with DKIM and bookkeeping", medianOf(own)],
    ["nodemailer's pool with DKIM", medianOf(theirs)],
    [`waybill, ${SCHEDULED.toLocaleString("en-US")} scheduled`, medianOf(full)],
  ]
  /** Of neighbours in the same round: the median of ratios, not the ratio of medians. */
  const share = (mine: ReadonlyArray<number>, base: ReadonlyArray<number>) =>
    Measure.spread(mine.map((value, round) => value / (base[round] ?? Number.NaN)))
  const rates = (rounds: ReadonlyArray<Spent>) => rounds.map(({ perSecond }) => perSecond)
  const shares = {
    against_stock_pool: share(rates(own), rates(theirs)),
    scheduled_drain: share(rates(full), rates(own)),
    scheduled_accept: share(fullAccepts, accepts),
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
      Measure.describe(environment),
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
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
