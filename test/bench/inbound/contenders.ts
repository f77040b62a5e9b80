import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Redacted } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Cpu from "../accept/Cpu.ts"
import { tenant } from "../accept/tenant.ts"
import * as Waybill from "../accept/Waybill.ts"
import { freePort } from "../../support/process/service.ts"
import * as Postfix from "../postfix/Postfix.ts"
import * as Sink from "../postfix/Sink.ts"
import type * as Tools from "../postfix/tools.ts"
import * as Held from "../report/Held.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import type { Answer, Order } from "./load.ts"
import * as Milters from "./Milters.ts"

export const CONNECTIONS = 32
export const NAMES = {
  waybill: "waybill, parsed, judged and stored",
  milters: "postfix with opendkim and opendmarc",
  postfix: "postfix, judges nothing",
} as const

/** Where mail goes in, and what has become of it. */
export interface Contender {
  readonly name: string
  readonly port: number
  /** Returns when this many mails have reached their end, with the time of the last; `ended` is that of its 250. */
  readonly finished: (mails: number, ended: number) => Promise<number>
  /** Processor time in milliseconds: its own, and that of Postgres or the milters. */
  readonly spent: () => { readonly own: number; readonly helper: number }
}

const temporaryFolder = async (name: string): Promise<string> => {
  const folder = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), `waybill-${name}-`)),
    (made) => fs.rm(made, { recursive: true, force: true }),
  )
  // The users of Postfix need access to the folder.
  await fs.chmod(folder, 0o711)
  return folder
}

/** Starts Waybill with a database of its own. A mail has reached its end with its 250. */
export const waybill = async (postgres: EmbeddedPostgres.Running, dns: string): Promise<Contender> => {
  const url = await TemporaryServer.freshDatabase(postgres)
  const [key = ""] = await tenant(url, 1)
  const data = await temporaryFolder("data")
  const port = await freePort()
  const settings = { MAIL_PORT: String(port), DNS_SERVERS: dns }
  const service = await Held.acquire(
    () => Waybill.startBundled(Redacted.value(url), data, [], settings),
    ({ stop }) => stop(),
  )
  await Waybill.addDomain(service, key)
  return {
    name: NAMES.waybill,
    port,
    finished: async (_, ended) => ended,
    spent: () => ({ own: Cpu.ofTree(service.pid), helper: Cpu.ofTree(postgres.pid) }),
  }
}

/** Starts Postfix, which hands its mail to a sink over LMTP; a mail has reached its end there. */
export const postfix = async (
  tools: Tools.Postfix,
  verifying: { readonly opendkim: string; readonly opendmarc: string; readonly resolver: string } | undefined,
): Promise<Contender> => {
  const folder = await temporaryFolder("postfix")
  const { port, take } = await Sink.start()
  const milters =
    verifying === undefined
      ? []
      : [
          await Held.acquire(
            () => Milters.opendkim(verifying.opendkim, folder, verifying.resolver),
            ({ stop }) => stop(),
          ),
          await Held.acquire(
            () => Milters.opendmarc(verifying.opendmarc, folder, verifying.resolver),
            ({ stop }) => stop(),
          ),
        ]
  const instance = await Held.acquire(
    () =>
      Postfix.start(tools, folder, port, undefined, {
        relayhost: "",
        default_transport: `lmtp:inet:127.0.0.1:${port}`,
        default_destination_concurrency_limit: String(Postfix.TO_SINK),
        lmtp_connection_cache_on_demand: "no",
        smtpd_milters: milters.map((milter) => `inet:127.0.0.1:${milter.port}`).join(", "),
        milter_default_action: "tempfail",
      }),
    ({ stop }) => stop(),
  )
  return {
    name: verifying === undefined ? NAMES.postfix : NAMES.milters,
    port: instance.port,
    finished: async (mails) => {
      const { last, signed } = await take(mails)
      if (signed !== (verifying === undefined ? 0 : mails)) throw new Error(`${signed} of ${mails} mails were verified`)
      return last
    },
    spent: () => ({ own: instance.cpu(), helper: milters.reduce((sum, { cpu }) => sum + cpu(), 0) }),
  }
}

/** Starts the load; returns a function that sends a turn of signed mails. */
export const load = async (key: string) => {
  const child = await Held.acquire(
    async () => {
      const forked = fork(path.join(import.meta.dirname, "load.ts"))
      await once(forked, "message")
      return forked
    },
    (forked) => forked.disconnect(),
  )
  return async (port: number, mails: number) => {
    const answered = once(child, "message") as Promise<[Answer]>
    child.send({ port, mails, key, connections: CONNECTIONS } satisfies Order)
    const [answer] = await answered
    if ("problem" in answer) throw new Error(answer.problem)
    return answer
  }
}
