import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Redacted } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import * as Cpu from "../accept/Cpu.ts"
import type * as Processes from "../accept/Processes.ts"
import { tenant } from "../accept/tenant.ts"
import * as Waybill from "../accept/Waybill.ts"
import * as Held from "../report/Held.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import * as OpenDkim from "./OpenDkim.ts"
import * as Postfix from "./Postfix.ts"
import type { Answer, Order } from "./smtpLoad.ts"
import type * as Tools from "./tools.ts"

export const CONNECTIONS = 64
/** Connections of each contender to the sink. */
export const TO_SINK = Postfix.TO_SINK
/** After so many messages the code of Waybill is compiled, as in `accept`. */
const WARM_UP_MAILS = 40_000
/** After so many messages all processes of Postfix run. */
const POSTFIX_WARM_UP_MAILS = 1_000
/** Limit of a load that ends by the number of its requests. */
const AT_MOST_MILLIS = 120_000

/** Processor time in milliseconds. */
export interface Spent {
  readonly own: number
  /** Of Postgres, or of opendkim. */
  readonly helper: number
}

export interface Contender {
  readonly name: string
  readonly isSigning: boolean
  readonly warmUpMails: number
  /** Sends this many messages, and returns when all are accepted. */
  readonly send: (mails: number) => Promise<unknown>
  /** Number of accepted messages that are not finished, so that no contender works in another one's turn. */
  readonly unfinished: () => Promise<number>
  readonly spent: () => Spent
  readonly loadPid: number
}

export const NAMES = {
  oneProcess: "waybill, one process",
  twoProcesses: "waybill, an API and a worker",
  postfix: "postfix, signs nothing",
  opendkim: "postfix with opendkim",
} as const

const temporaryFolder = async (name: string): Promise<string> => {
  const folder = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), `waybill-${name}-`)),
    (made) => fs.rm(made, { recursive: true, force: true }),
  )
  // The users of Postfix need access to the folder.
  await fs.chmod(folder, 0o711)
  return folder
}

/** Adds the sending domain while mail goes to the sandbox, where a reserved name is verified at once. */
const addDomain = async (url: string, data: string, key: string): Promise<void> => {
  const service = await Waybill.start(url, data)
  await Waybill.addDomain(service, key)
  await service.stop()
}

/** Starts Waybill with a database of its own. */
export const waybill = async (
  postgres: EmbeddedPostgres.Running,
  load: Processes.Load,
  sink: number,
  name: typeof NAMES.oneProcess | typeof NAMES.twoProcesses,
): Promise<Contender> => {
  const url = await TemporaryServer.freshDatabase(postgres)
  const keys = await tenant(url, CONNECTIONS)
  const data = await temporaryFolder("data")
  await addDomain(Redacted.value(url), data, keys[0] ?? "")
  const settings = {
    TRANSPORT: "relay",
    SMTP_URL: `smtp://127.0.0.1:${sink}?connections=${TO_SINK}`,
  }
  const roles = name === NAMES.oneProcess ? [[]] : [["api"], ["worker"]]
  const processes: Array<Processes.Server> = []
  for (const each of roles) {
    processes.push(
      await Held.acquire(
        () => Waybill.startBundled(Redacted.value(url), data, each, settings),
        ({ stop }) => stop(),
      ),
    )
  }
  const [api] = processes
  if (api === undefined) throw new Error("there is no API")
  const unfinished = await outboxRows(url)
  return {
    name,
    isSigning: true,
    warmUpMails: WARM_UP_MAILS,
    send: (mails) => load.run({ port: api.port, keys, millis: AT_MOST_MILLIS, requests: mails }),
    unfinished,
    spent: () => ({
      own: processes.reduce((total, { pid }) => total + Cpu.ofTree(pid), 0),
      helper: Cpu.ofTree(postgres.pid),
    }),
    loadPid: load.pid,
  }
}

/** Returns a function that counts the deliveries in the outbox. */
const outboxRows = async (url: Redacted.Redacted): Promise<() => Promise<number>> => {
  const watcher = await Held.acquire(
    async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url) })
      await client.connect()
      return client
    },
    (client) => client.end(),
  )
  return async () => {
    const { rows } = await watcher.query<{ readonly n: number }>(
      "SELECT count(*)::int AS n FROM outbox WHERE kind = 'delivery'",
    )
    return rows[0]?.n ?? 0
  }
}

/** Starts Postfix, with opendkim if its program is given. */
export const postfix = async (
  tools: Tools.Postfix,
  load: SmtpLoad,
  sink: number,
  opendkim: string | undefined,
): Promise<Contender> => {
  const folder = await temporaryFolder("postfix")
  const milter =
    opendkim === undefined
      ? undefined
      : await Held.acquire(
          () => OpenDkim.start(opendkim, folder),
          ({ stop }) => stop(),
        )
  const instance = await Held.acquire(
    () => Postfix.start(tools, folder, sink, milter?.port),
    ({ stop }) => stop(),
  )
  return {
    name: milter === undefined ? NAMES.postfix : NAMES.opendkim,
    isSigning: milter !== undefined,
    warmUpMails: POSTFIX_WARM_UP_MAILS,
    send: (mails) => load.run({ port: instance.port, connections: CONNECTIONS, mails }),
    unfinished: instance.queued,
    spent: () => ({ own: instance.cpu(), helper: milter?.cpu() ?? 0 }),
    loadPid: load.pid,
  }
}

export interface SmtpLoad {
  readonly pid: number
  readonly run: (order: Order) => Promise<number>
}

/** Starts the load of SMTP. */
export const smtpLoad = async (): Promise<SmtpLoad> => {
  const child = await Held.acquire(
    async () => {
      const forked = fork(path.join(import.meta.dirname, "smtpLoad.ts"))
      await once(forked, "message")
      return forked
    },
    (forked) => forked.disconnect(),
  )
  const run = async (order: Order) => {
    const answered = once(child, "message") as Promise<[Answer]>
    child.send(order)
    const [answer] = await answered
    if ("problem" in answer) throw new Error(answer.problem)
    return answer.done
  }
  return { pid: child.pid ?? 0, run }
}
