import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Migrations from "@waybill/store/database/Migrations"
import { Duration, Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import * as ServiceProcess from "../support/world/ServiceProcess.ts"
import * as World from "../support/world/World.ts"
import { freePort } from "../support/process/service.ts"
import { faultProxy } from "../support/postgres/faultProxy.ts"
import * as SmtpServer from "../support/mail/smtpServer.ts"
import * as WebhookReceiver from "../support/web/WebhookReceiver.ts"

/** Faults that may strike an installation of two api processes, of which one also delivers, and two worker processes. */
export const FAULTS = [
  "kill an api process",
  "kill a worker process",
  "freeze a worker process",
  "freeze an api process",
  "restart a worker process",
  "set the clock of a worker process",
  "set the clock of an api process",
  "cut all connections to the database",
  "lose a commit before it arrives",
  "lose the answer to a commit",
  "restart the database",
  "crash the database",
  "take all connections of the database",
  "slow the disk of the database",
  "freeze the database",
  "take mails without an answer",
  "put mails off",
  "refuse connections for mail",
  "answer no webhook",
] as const
export type Fault = (typeof FAULTS)[number]
export const isOfClocks = (fault: Fault): boolean => fault.startsWith("set the clock")

/** Long enough that other processes take over from a frozen one before it resumes. */
const FROZEN_MS = 6_000
const CUT_MS = 300
/** Duration of most faults; the load continues meanwhile. */
const FAULT_MS = 1_500
/** Delay of each commit, as on a spinning disk. */
const SLOW_COMMIT_MICROS = 10_000
/** Offsets of a clock: further ahead than a lease lasts, as far behind, then none. */
const CLOCK_OFF_MS = [7 * 60_000, -7 * 60_000, 0]
/** Time after which a wait fails the test. */
const HANGS = Duration.seconds(120)
const CLIENTS = 6

type RelayState = "well" | "drops" | "busy" | "away"
const faultDuration = () => new Promise<void>((resolve) => setTimeout(resolve, FAULT_MS))

/** Returns the faults in the order that the seed gives, limited to those whose names contain `only`. */
export const schedule = (seed: number, count: number, only = ""): ReadonlyArray<Fault> => {
  const some = FAULTS.filter((fault) => fault.includes(only))
  if (some.length === 0) throw new Error(`no fault is called ${only}: there are ${FAULTS.join(", ")}`)
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  // Every fault strikes once before any strikes again.
  const faults: Array<Fault> = []
  while (faults.length < count) {
    const round = some.map((fault) => ({ fault, rank: next() })).sort((a, b) => a.rank - b.rank)
    faults.push(...round.map(({ fault }) => fault))
  }
  return faults.slice(0, count)
}

/** Postgres of the storm's own, because other tests share the common one. */
const postgres = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-storm-"))),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  const start = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const running = yield* Scope.provide(EmbeddedPostgres.start({ dataDir }), scope)
    return { scope, running }
  }).pipe(Effect.orDie)
  let now = yield* start
  yield* Effect.addFinalizer(() => Scope.close(now.scope, Exit.void))
  const stop = Effect.suspend(() => Scope.close(now.scope, Exit.void))
  const again = Effect.map(start, (started) => void (now = started))
  const { url } = now.running
  return {
    url,
    /** Takes every free connection. */
    fill: Effect.promise(async () => {
      const held: Array<pg.Client> = []
      const open = async () => {
        const client = new pg.Client({ connectionString: Redacted.value(url) })
        client.on("error", () => {})
        await client.connect()
        held.push(client)
      }
      while (
        await open().then(
          () => true,
          () => false,
        )
      );
      await faultDuration()
      await Promise.allSettled(held.map((client) => client.end()))
    }),
    slow: Effect.promise(async () => {
      const client = new pg.Client({ connectionString: Redacted.value(now.running.adminUrl) })
      await client.connect()
      await client.query(`ALTER SYSTEM SET commit_delay = ${SLOW_COMMIT_MICROS}`)
      await client.query("ALTER SYSTEM SET commit_siblings = 0")
      await client.query("SELECT pg_reload_conf()")
      await faultDuration()
      await client.query("ALTER SYSTEM RESET commit_delay")
      await client.query("SELECT pg_reload_conf()")
      await client.end()
    }),
    freeze: Effect.gen(function* () {
      const { pid } = now.running
      const children = yield* Effect.promise(() => fs.readFile(`/proc/${pid}/task/${pid}/children`, "utf8"))
      const all = [pid, ...children.trim().split(" ").map(Number)]
      yield* Effect.sync(() => signalAll(all, "SIGSTOP"))
      yield* Effect.ensuring(
        Effect.sleep(FROZEN_MS),
        Effect.sync(() => signalAll(all, "SIGCONT")),
      )
    }),
    restart: Effect.andThen(stop, again),
    crash: Effect.suspend(() => {
      process.kill(now.running.pid, "SIGKILL")
      return Effect.andThen(stop, again)
    }),
  }
})

const signalAll = (pids: ReadonlyArray<number>, signal: NodeJS.Signals) => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // A child of the server may have ended meanwhile.
    }
  }
}

/** Process whose clock can be set; it starts with the right time. */
interface Node extends ServiceProcess.ServiceProcess {
  readonly setClock: (offMillis: number) => Promise<void>
}

const nodeIn = (folder: string, url: Redacted.Redacted, settings: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const file = path.join(folder, randomBytes(8).toString("hex"))
    const clock = { WAYBILL_CHAOS_CLOCK: file, NODE_OPTIONS: `--import=${new URL("./clock.ts", import.meta.url).href}` }
    const service = yield* ServiceProcess.start(url, { ...settings, ...clock })
    const setClock = async (offMillis: number) => {
      await fs.writeFile(file, String(offMillis))
      service.signal("SIGUSR2")
    }
    const node: Node = { ...service, setClock }
    return node
  })

/** Installation with a relay, a webhook receiver and a function that causes a fault. */
export const world = Effect.gen(function* () {
  const database = yield* postgres
  yield* Effect.orDie(Migrations.migrate(database.url))
  const proxy = yield* faultProxy(database.url)
  const neighbours = { mail: "well" as RelayState, webhooks: true, unanswered: 0 }
  const sink = yield* SmtpServer.listen({
    keep_bytes: false,
    script: ({ line, phase }) => {
      if (neighbours.mail === "drops" && phase === "dot") {
        neighbours.unanswered++
        return "store-then-drop"
      }
      if (neighbours.mail === "away" && phase === "connect") return "drop"
      if (neighbours.mail === "busy" && phase === "rcpt") return "451 4.7.1 Greylisted, try again later"
      return phase === "rcpt" && line.includes("gone") ? "550 5.1.1 No such user" : undefined
    },
  })
  const receiver = yield* WebhookReceiver.listen({ answer: () => (neighbours.webhooks ? { status: 204 } : "drop") })
  const relayFails = (state: RelayState) =>
    Effect.promise(async () => {
      neighbours.mail = state
      await faultDuration()
      neighbours.mail = "well"
    })
  const settings = { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" }
  const clocks = yield* Effect.acquireRelease(
    Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-storm-clocks-"))),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  // API processes capture mail, so that the reserved domain name needs no DNS.
  const mailPorts = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
  const api = nodeIn(clocks, proxy.url, { ...settings, ROLES: "api,smtp", MAIL_PORT: String(mailPorts[0]) })
  const relay = { TRANSPORT: "relay", SMTP_URL: `smtp://127.0.0.1:${sink.port}` }
  const apiAndWorker = nodeIn(clocks, proxy.url, {
    ...settings,
    ...relay,
    ROLES: "api,worker,smtp",
    MAIL_PORT: String(mailPorts[1]),
  })
  const worker = nodeIn(clocks, proxy.url, { ...settings, ...relay, ROLES: "worker" })
  const makeApis = [api, apiAndWorker]
  const makeWorkers = [worker, worker]
  const atOnce = { concurrency: "unbounded" } as const
  const [apis, workers] = yield* Effect.all([Effect.all(makeApis, atOnce), Effect.all(makeWorkers, atOnce)], atOnce)
  let turn = 0
  const replace = (nodes: Array<Node>, makes: ReadonlyArray<typeof api>, end: (node: Node) => Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      const index = turn++ % nodes.length
      const [node, make] = [nodes[index], makes[index]]
      if (node === undefined || make === undefined) return
      yield* end(node)
      nodes[index] = yield* make
    })
  const freeze = (nodes: ReadonlyArray<Node>, millis: number) =>
    Effect.gen(function* () {
      const node = nodes[turn++ % nodes.length]
      node?.signal("SIGSTOP")
      yield* Effect.sleep(millis)
      node?.signal("SIGCONT")
    })
  const setClock = (nodes: ReadonlyArray<Node>) =>
    Effect.promise(async () => {
      const node = nodes[turn++ % nodes.length]
      for (const off of CLOCK_OFF_MS) {
        await node?.setClock(off)
        if (off !== 0) await faultDuration()
      }
    })
  const causeFault = (fault: Fault) => {
    switch (fault) {
      case "kill an api process":
        return replace(apis, makeApis, ({ kill }) => kill)
      case "kill a worker process":
        return replace(workers, makeWorkers, ({ kill }) => kill)
      case "restart a worker process":
        return replace(workers, makeWorkers, ({ stop }) => stop)
      case "freeze a worker process":
        return freeze(workers, FROZEN_MS)
      case "freeze an api process":
        return freeze(apis, FAULT_MS)
      case "set the clock of a worker process":
        return setClock(workers)
      case "set the clock of an api process":
        return setClock(apis)
      case "cut all connections to the database":
        return Effect.gen(function* () {
          proxy.down()
          yield* Effect.sleep(CUT_MS)
          proxy.up()
        })
      case "lose a commit before it arrives":
        return Effect.sync(() => proxy.inject("before", "before", "before"))
      case "lose the answer to a commit":
        return Effect.sync(() => proxy.inject("after", "after", "after"))
      case "restart the database":
        return database.restart
      case "crash the database":
        return database.crash
      case "take all connections of the database":
        return database.fill
      case "slow the disk of the database":
        return database.slow
      case "freeze the database":
        return database.freeze
      case "take mails without an answer":
        return relayFails("drops")
      case "put mails off":
        return relayFails("busy")
      case "refuse connections for mail":
        return relayFails("away")
      case "answer no webhook":
        return Effect.promise(async () => {
          neighbours.webhooks = false
          await faultDuration()
          neighbours.webhooks = true
        })
    }
  }
  return { database, sink, receiver, apis, mailPorts, causeFault, unanswered: () => neighbours.unanswered }
})

export interface Sent {
  readonly to: string
  readonly idempotencyKey: string
  /** Ids from all successful responses; exactly one, if no duplicate was accepted. */
  readonly ids: ReadonlySet<string>
}

/** Clients that never give up: each repeats a message under its idempotency key until it is accepted. */
export const load = (apis: ReadonlyArray<ServiceProcess.ServiceProcess>, key: string) => {
  const sent: Array<Sent> = []
  const run = randomBytes(4).toString("hex")
  let over = false
  let n = 0
  const sendEmail = async (node: number, message: Omit<Sent, "ids">): Promise<string | undefined> => {
    const body = { from: "hi@acme.test", to: message.to, subject: "Receipt", text: `Thank you, ${message.to}.` }
    try {
      const answer = await apis[node % apis.length]?.request("POST", "/v1/email/send", {
        key,
        body,
        idempotencyKey: message.idempotencyKey,
      })
      if (answer?.status === 200) return String(answer.json.id)
      if (answer !== undefined && answer.status < 500) {
        throw new Refused(`${answer.status} ${JSON.stringify(answer.json)}`)
      }
    } catch (error) {
      if (error instanceof Refused) throw error
    }
    // The request failed, or its outcome is unknown.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    return undefined
  }
  const send = async (nth: number): Promise<void> => {
    const name = nth % GONE_EVERY === 0 ? "gone" : "user"
    const message = { to: `${name}${nth}@example.org`, idempotencyKey: `${run}-${nth}` }
    for (let tries = 0; ; tries++) {
      const id = await sendEmail(nth + tries, message)
      if (id === undefined) continue
      // Some clients lose the response and repeat the request.
      const repeated = nth % REPEAT_EVERY === 0 ? await sendEmail(nth + tries + 1, message) : undefined
      sent.push({ ...message, ids: new Set(repeated === undefined ? [id] : [id, repeated]) })
      return
    }
  }
  const client = async () => {
    while (!over) {
      await send(n++)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  return {
    sent,
    more: (mails: number) =>
      Effect.suspend(() => {
        const enough = sent.length + mails
        return World.until(
          Effect.sync(() => sent.length),
          (now) => now >= enough,
          HANGS,
        )
      }),
    end: Effect.promise(async () => {
      over = true
      await clients
    }),
  }
}
/** Pause of a client behind each request: without it the load takes the processors from what it loads. */
const PAUSE_MS = 50
const GONE_EVERY = 10
const REPEAT_EVERY = 4

/** Refusal of a message, which the load never causes by itself. */
class Refused extends Error {}
