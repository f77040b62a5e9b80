import * as fs from "node:fs/promises"
import * as path from "node:path"
import { freePort } from "../../support/process/service.ts"
import * as Tools from "../postfix/tools.ts"

/** Names under which they report their findings. */
const NAME = "mx.acme.test"
const DKIM_NAME = "dkim.acme.test"
/** Address of nobody: by default both leave out mail of this machine. */
const NOBODY = "192.0.2.1"

/** Starts an opendkim that verifies signatures. It and opendmarc ask the DNS server at port 53 of `resolver`. */
export const opendkim = (program: string, folder: string, resolver: string): Promise<Tools.Program> =>
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
export const opendmarc = async (program: string, folder: string, resolver: string): Promise<Tools.Program> => {
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
): Promise<Tools.Program> => {
  const port = await freePort()
  const config = path.join(folder, `${path.basename(program)}.conf`)
  const resolvers = path.join(folder, "resolv.conf")
  await fs.writeFile(resolvers, `nameserver ${resolver}\n`)
  await fs.writeFile(config, `${configOf(port).join("\n")}\n`)
  // The resolvers of the system are replaced for this process only.
  const script = `mount --bind ${resolvers} /etc/resolv.conf && exec "$0" "$@"`
  return Tools.start("unshare", ["-m", "sh", "-c", script, program, ...flags, config], port)
}
