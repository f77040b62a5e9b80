import * as fs from "node:fs/promises"
import * as net from "node:net"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { NotStarted } from "./Failure.ts"
import * as Placement from "./Placement.ts"

/** The kernel takes 107 bytes on Linux and 103 on macOS, and Postgres appends ".lock" beside it. */
const SOCKET_PATH_MAX_BYTES = 100
/** Only the end of the socket's name. */
const SOCKET_PORT = 5432
const SOCKET_FOLDER = "run"
const LEFTOVER_MS = 3_000
const RETRY_MS = 50
const LOOPBACK = "127.0.0.1"

export type Address =
  | { readonly _tag: "Socket"; readonly folder: string; readonly port: number; readonly temporary: boolean }
  | { readonly _tag: "Loopback"; readonly port: number }

/** Some file systems (shares, some container mounts) hold no sockets, and a path may be too long for one. */
const holdsSockets = async (folder: string): Promise<boolean> => {
  const socket = path.join(folder, `.s.PGSQL.${SOCKET_PORT}`)
  if (Buffer.byteLength(socket) > SOCKET_PATH_MAX_BYTES) return false
  const probe = path.join(folder, ".probe")
  return await new Promise((resolve) => {
    const server = net.createServer()
    server.once("error", () => resolve(false))
    server.listen(probe, () => server.close(() => resolve(true)))
  })
}

/** Whether a server listens at the folder's socket, whoever's it is and wherever it runs. */
export const answers = (place: Placement.Placement): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(path.join(place.home, SOCKET_FOLDER, `.s.PGSQL.${SOCKET_PORT}`))
    const over = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once("connect", () => over(true))
    socket.once("error", () => over(false))
  })

/** Processes of a killed server notice it within moments, and answer till then. */
const goesOnAnswering = async (place: Placement.Placement): Promise<boolean> => {
  const until = performance.now() + LEFTOVER_MS
  while (await answers(place)) {
    if (performance.now() > until) return true
    await pause(RETRY_MS)
  }
  return false
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once("error", reject)
    server.listen(0, LOOPBACK, () => {
      const address = server.address()
      server.close(() =>
        address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no free port")),
      )
    })
  })

export const choose = async (
  place: Placement.Placement,
  temporaryFolder: string,
  loopback: boolean,
): Promise<Address> => {
  if (loopback) return { _tag: "Loopback", port: await freePort() }
  // What lies there is left over, and its lock file might name a number that is in use again. If it goes on answering,
  // its processes are where we cannot see them, and they have the cluster open.
  if (await goesOnAnswering(place)) {
    throw new NotStarted({
      reason: `A server that is not seen from here serves ${place.folder}, in another container or machine.`,
      detail: "Stop it, or choose another folder.",
    })
  }
  await fs.rm(path.join(place.home, SOCKET_FOLDER), { recursive: true, force: true })
  const near = await Placement.privateFolder(path.join(place.home, SOCKET_FOLDER), place.owner)
  if (await holdsSockets(near)) return { _tag: "Socket", folder: near, port: SOCKET_PORT, temporary: false }
  const far = await fs.mkdtemp(path.join(temporaryFolder, "waybill-"))
  await Placement.privateFolder(far, place.owner)
  if (await holdsSockets(far)) return { _tag: "Socket", folder: far, port: SOCKET_PORT, temporary: true }
  await fs.rm(far, { recursive: true, force: true })
  return { _tag: "Loopback", port: await freePort() }
}

export const discard = async (address: Address): Promise<void> => {
  if (address._tag === "Socket" && address.temporary) await fs.rm(address.folder, { recursive: true, force: true })
}

export const settings = (address: Address): Readonly<Record<string, string>> =>
  address._tag === "Socket"
    ? {
        listen_addresses: "",
        port: String(address.port),
        unix_socket_directories: address.folder,
        unix_socket_permissions: "0700",
      }
    : { listen_addresses: LOOPBACK, port: String(address.port), unix_socket_directories: "" }
