import { spawn } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import * as net from "node:net"
import * as path from "node:path"
import * as Cpu from "../accept/Cpu.ts"
import { freePort } from "../../support/process/service.ts"

const LOOK_EVERY_MILLIS = 20
const READY_WITHIN_MILLIS = 20_000
export const SELECTOR = "wb1"

/** Starts an opendkim that signs mail of a domain with RSA-2048, as Waybill signs. */
export const start = async (program: string, folder: string, domain = "acme.test") => {
  const port = await freePort()
  const keyFile = path.join(folder, "key.pem")
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  await fs.writeFile(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 })
  const file = path.join(folder, "opendkim.conf")
  await fs.writeFile(
    file,
    [
      "Mode s",
      `Domain ${domain}`,
      `Selector ${SELECTOR}`,
      `KeyFile ${keyFile}`,
      "Canonicalization relaxed/relaxed",
      "SignatureAlgorithm rsa-sha256",
      "InternalHosts 127.0.0.1",
      `Socket inet:${port}@127.0.0.1`,
      "Background no",
      "Syslog no",
      // Temporary folders are below one that all users may write to.
      "RequireSafeKeys no",
      "",
    ].join("\n"),
  )
  const child = spawn(program, ["-f", "-x", file], { stdio: ["ignore", "ignore", "inherit"] })
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
      throw new Error("opendkim did not start")
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MILLIS))
  }
  /** Record of the key, at `SELECTOR` of the domain. */
  const record = `v=DKIM1; k=rsa; p=${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`
  return { port, record, cpu: () => Cpu.ofTree(child.pid ?? 0), stop }
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
