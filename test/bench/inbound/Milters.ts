import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import * as net from "node:net"
import * as path from "node:path"
import * as Cpu from "../accept/Cpu.ts"
import { freePort } from "../../support/process/service.ts"

const LOOK_EVERY_MILLIS = 20
const READY_WITHIN_MILLIS = 20_000
/** Names under which they report their findings. */
const NAME = "mx.acme.test"
const DKIM_NAME = "dkim.acme.test"
/** Address of nobody: by default both leave out mail of this machine. */
const NOBODY = "192.0.2.1"

export interface Milter {
  readonly port: number
  readonly cpu: () => number
  readonly stop: () => Promise<void>
}

/** Starts an opendkim that verifies signatures. It and opendmarc ask the DNS server at port 53 of `resolver`. */
export const opendkim = (program: string, folder: string, resolver: string): Promise<Milter> =>
  start(program, ["-f", "-x"], folder, resolver, (port) => [
    "Mode v",
    `AuthservID ${DKIM_NAME}`,
    "AlwaysAddARHeader yes",
    `InternalHosts ${NOBODY}`,
    `Socket inet:${port}@127.0.0.1`,
    "Background no",
    "Syslog no",
    // It does not read /etc/resolv.conf where it is built with libunbound.
    `Nameservers ${resolver}`,
  ])

/** Starts an opendmarc that judges SPF itself, as sites without another milter for it have it. */
export const opendmarc = async (program: string, folder: string, resolver: string): Promise<Milter> => {
  const ignored = path.join(folder, "ignored")
  await fs.writeFile(ignored, `${NOBODY}\n`)
  return start(program, ["-f", "-c"], folder, resolver, (port) => [
    `AuthservID ${NAME}`,
    `TrustedAuthservIDs ${DKIM_NAME}`,
    `IgnoreHosts ${ignored}`,
    "SPFIgnoreResults true",
    "SPFSelfValidate true",
    "RejectFailures false",
    `Socket inet:${port}@127.0.0.1`,
    "Syslog false",
  ])
}

const start = async (
  program: string,
  flags: ReadonlyArray<string>,
  folder: string,
  resolver: string,
  configOf: (port: number) => ReadonlyArray<string>,
): Promise<Milter> => {
  const port = await freePort()
  const config = path.join(folder, `${path.basename(program)}.conf`)
  const resolvers = path.join(folder, "resolv.conf")
  await fs.writeFile(resolvers, `nameserver ${resolver}\n`)
  await fs.writeFile(config, `${configOf(port).join("\n")}\n`)
  // The resolvers of the system are replaced for this process only.
  const script = `mount --bind ${resolvers} /etc/resolv.conf && exec "$0" "$@"`
  const child = spawn("unshare", ["-m", "sh", "-c", script, program, ...flags, config], {
    stdio: ["ignore", "ignore", "inherit"],
  })
  process.once("exit", () => child.kill("SIGTERM"))
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, "exit")
    child.kill("SIGTERM")
    await gone
  }
  const until = performance.now() + READY_WITHIN_MILLIS
  while (!(await isOpen(port))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop()
      throw new Error(`${program} did not start`)
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MILLIS))
  }
  return { port, cpu: () => Cpu.ofTree(child.pid ?? 0), stop }
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1")
    socket.once("error", () => resolve(false))
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
  })
