import { execFileSync } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { freePort } from "../../support/process/service.ts"
import * as Tools from "./tools.ts"

/** Connections to the next server that Postfix may open at once. */
export const TO_SINK = 20

/**
 * Settings of the instance. Those after the first group make it faster than it is by default: no pause for clients that
 * are faster than the queue, processes for all connections, no look-ups of names and no counting of clients. A connection for
 * each message to the next server is faster than its cache of connections, which is a process between the others.
 */
const mainCf = (folder: string, relay: number, milter: number | undefined) => ({
  compatibility_level: "3.6",
  queue_directory: path.join(folder, "queue"),
  data_directory: path.join(folder, "data"),
  myhostname: "postfix.acme.test",
  mydestination: "",
  local_recipient_maps: "",
  alias_maps: "",
  alias_database: "",
  mynetworks: "127.0.0.0/8",
  inet_interfaces: "127.0.0.1",
  inet_protocols: "ipv4",
  relayhost: `[127.0.0.1]:${relay}`,
  smtpd_relay_restrictions: "permit_mynetworks, reject",
  smtpd_tls_security_level: "none",
  smtp_tls_security_level: "none",
  maillog_file_prefixes: folder,
  maillog_file: path.join(folder, "mail.log"),

  default_process_limit: "300",
  in_flow_delay: "0",
  qmgr_message_active_limit: "100000",
  qmgr_message_recipient_limit: "100000",
  smtp_destination_concurrency_limit: String(TO_SINK),
  initial_destination_concurrency: String(TO_SINK),
  smtp_connection_cache_on_demand: "no",
  smtpd_client_connection_count_limit: "0",
  smtpd_peername_lookup: "no",
  smtp_dns_support_level: "disabled",
  smtp_host_lookup: "native",
  max_use: "100000",
  ...(milter === undefined
    ? {}
    : { smtpd_milters: `inet:127.0.0.1:${milter}`, milter_protocol: "6", milter_default_action: "tempfail" }),
})

/** The services of Debian's master.cf that relaying and handing over need, none of them in a chroot. */
const masterCf = (port: number) =>
  [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    "pickup unix n - n 60 1 pickup",
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce",
    "defer unix - - n - 0 bounce",
    "trace unix - - n - 0 bounce",
    "verify unix - - n - 1 verify",
    "flush unix n - n 1000? 0 flush",
    "proxymap unix - - n - - proxymap",
    "smtp unix - - n - - smtp",
    "lmtp unix - - n - - lmtp",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "anvil unix - - n - 1 anvil",
    "scache unix - - n - 1 scache",
    "postlog unix-dgram n - n - 1 postlogd",
    "",
  ].join("\n")

export interface Instance extends Tools.Program {
  /** Number of messages in its queue. */
  readonly queued: () => Promise<number>
}

/** Starts a Postfix with folders and a port of its own, which passes all mail on to `relay`; `others` are its settings. */
export const start = async (
  tools: Tools.Postfix,
  folder: string,
  relay: number,
  milter: number | undefined,
  others: Readonly<Record<string, string>> = {},
): Promise<Instance> => {
  const config = path.join(folder, "config")
  const port = await freePort()
  const settings = { ...mainCf(folder, relay, milter), ...others }
  for (const made of [config, settings.queue_directory]) await fs.mkdir(made, { recursive: true })
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
  await fs.writeFile(path.join(config, "main.cf"), lines.join(""))
  await fs.writeFile(path.join(config, "master.cf"), masterCf(port))
  // Makes the folders of the queue, with their owners.
  execFileSync(tools.postfix, ["-c", config, "check"], { stdio: ["ignore", "ignore", "inherit"] })
  const master = await Tools.start(path.join(tools.daemons, "master"), ["-c", config, "-d"], port, "data").catch(
    async ({ message }) => {
      const log = await fs.readFile(settings.maillog_file, "utf8").catch(() => "without a log")
      throw new Error(`${message}:\n${log}`)
    },
  )
  const queued = async () => {
    const files = await Promise.all(
      ["incoming", "active", "deferred"].map((queue) => fs.readdir(path.join(settings.queue_directory, queue))),
    )
    return files.flat().filter((name) => name.length > 1).length
  }
  return { ...master, queued }
}
