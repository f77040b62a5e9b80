import * as fs from "node:fs/promises"
import * as net from "node:net"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as Failure from "../system/Failure.ts"
import * as Placement from "./Placement.ts"

/** Linux allows 107 bytes and macOS 103, and Postgres also creates a file with the suffix ".lock". */
const SOCKET_PATH_MAX_BYTES = 100
/** Only part of the socket's file name. */
const SOCKET_PORT = 5432
const SOCKET_FOLDER = "run"
const LEFTOVER_MS = 3_000
const RETRY_MS = 50
const LOOPBACK = "127.0.0.1"

export type Address =
  | { readonly _tag: "Socket"; readonly folder: string; readonly port: number; readonly temporary: boolean }
  | { readonly _tag: "Loopback"; readonly port: number }

/**
 * Whether sockets can be created in a folder. Some file systems (network shares, some container mounts) do not support
 * them, and a path may be too long.
 */
const supportsSockets = async (folder: string): Promise<boolean> => {
  const socket = path.join(folder, `.s.PGSQL.${SOCKET_PORT}`)
  if (Buffer.byteLength(socket) > SOCKET_PATH_MAX_BYTES) return false
  const probe = path.join(folder, ".probe")
  return await new Promise((resolve) => {
    const server = net.createServer()
    server.once("error", () => resolve(false))
    server.listen(probe, () => server.close(() => resolve(true)))
  })
}

/** Whether any server listens on the folder's socket, even one in another container or machine. */
export const isListening = (placement: Placement.Placement): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(path.join(placement.home, SOCKET_FOLDER, `.s.PGSQL.${SOCKET_PORT}`))
    const finish = (isListening: boolean) => {
      socket.destroy()
      resolve(isListening)
    }
    socket.once("connect", () => finish(true))
    socket.once("error", () => finish(false))
  })

/** Waits for the socket to close. Processes of a killed server accept connections for a moment longer. */
const keepsListening = async (placement: Placement.Placement): Promise<boolean> => {
  const until = performance.now() + LEFTOVER_MS
  while (await isListening(placement)) {
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
  placement: Placement.Placement,
  temporaryFolder: string,
  loopback: boolean,
): Promise<Address> => {
  if (loopback) return { _tag: "Loopback", port: await freePort() }
  // The folder holds leftovers, and their lock file may name a process id that is in use again. If the socket still
  // answers, its server runs in another container or machine and has the cluster open.
  if (await keepsListening(placement)) {
    throw new Failure.NotStarted({
      reason: `A server in another container or machine uses ${placement.folder}.`,
      detail: "Stop it, or choose another folder.",
    })
  }
  await fs.rm(path.join(placement.home, SOCKET_FOLDER), { recursive: true, force: true })
  const inHome = await Placement.privateFolder(path.join(placement.home, SOCKET_FOLDER), placement.owner)
  if (await supportsSockets(inHome)) return { _tag: "Socket", folder: inHome, port: SOCKET_PORT, temporary: false }
  const inTemp = await fs.mkdtemp(path.join(temporaryFolder, "waybill-"))
  await Placement.privateFolder(inTemp, placement.owner)
  if (await supportsSockets(inTemp)) return { _tag: "Socket", folder: inTemp, port: SOCKET_PORT, temporary: true }
  await fs.rm(inTemp, { recursive: true, force: true })
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
