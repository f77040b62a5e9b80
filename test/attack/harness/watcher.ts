import * as net from "node:net"
import { parentPort, workerData } from "node:worker_threads"
import { runDelayMs } from "../../support/process/runDelayMs.ts"
import { rssBytes } from "./processes.ts"

/**
 * Options of the watcher, which runs in its own thread, so that the attacker's own work is not measured as a stall of
 * the service. The watcher probes the service and an idle process without a pause, and samples the memory of the
 * service.
 */
export interface WatcherOptions {
  readonly service: Endpoint
  readonly control: Endpoint
  readonly pid: number
}
interface Endpoint {
  readonly host: string
  readonly port: number
}
/** Measurements between `begin` and `end`; times in milliseconds. */
export interface Figures {
  /** Longest wait for `/healthz`. */
  readonly stall: number
  /** Longest wait without the time in which the service waited for a processor, where the system reports that time. */
  readonly ownStall: number
  /** Longest wait for the idle process, which is the noise of the machine. */
  readonly noise: number
  readonly probes: number
  /** Number of probes whose connection was closed or refused. */
  readonly failed: number
  readonly rssBefore: number
  readonly rssPeak: number
}

/** Far below what counts as a stall. More probes would take the processor from what they look at. */
const PROBE_PAUSE_MS = 20
const MEMORY_EVERY_MS = 40

const { control, pid, service } = workerData as WatcherOptions
const port = parentPort
if (port === null) throw new Error("the watcher runs in a thread")

interface Wait {
  readonly since: number
  readonly delay: number
}

class Prober {
  longest = 0
  own = 0
  probes = 0
  failed = 0
  #socket: net.Socket | undefined
  #wait: Wait | undefined
  readonly #endpoint: Endpoint
  readonly #delay: () => number

  constructor(endpoint: Endpoint, delay: () => number) {
    this.#endpoint = endpoint
    this.#delay = delay
  }

  reset(): void {
    this.longest = 0
    this.own = 0
    this.probes = 0
    this.failed = 0
    if (this.#wait !== undefined) this.#wait = this.#now()
  }

  /** Records the wait of a probe that has no answer yet. */
  recordWait(): void {
    if (this.#wait === undefined) return
    const waited = performance.now() - this.#wait.since
    this.longest = Math.max(this.longest, waited)
    this.own = Math.max(this.own, waited - (this.#delay() - this.#wait.delay))
  }

  start(): void {
    this.#wait ??= this.#now()
    const socket = net.connect(this.#endpoint)
    this.#socket = socket
    socket.on("connect", () => this.#sendRequest(socket))
    socket.on("data", () => {
      // The chunk is the rest of an answer that has been counted.
      if (this.#wait === undefined) return
      this.recordWait()
      this.#wait = undefined
      this.probes++
      setTimeout(() => this.#sendRequest(socket), PROBE_PAUSE_MS)
    })
    socket.on("error", () => undefined)
    socket.on("close", () => {
      if (this.#socket !== socket) return
      this.failed++
      // The wait continues while the service is unreachable.
      setTimeout(() => this.start(), PROBE_PAUSE_MS)
    })
  }

  stop(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }

  #sendRequest(socket: net.Socket): void {
    if (socket.destroyed) return
    this.#wait ??= this.#now()
    socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
  }

  #now(): Wait {
    return { since: performance.now(), delay: this.#delay() }
  }
}

const probers = { service: new Prober(service, () => runDelayMs(pid)), control: new Prober(control, () => 0) }
let [rssBefore, rssPeak] = [0, 0]
const sample = (): number => {
  const now = rssBytes(pid)
  rssPeak = Math.max(rssPeak, now)
  return now
}
setInterval(sample, MEMORY_EVERY_MS)

port.on("message", (message: "begin" | "end" | "stop") => {
  if (message === "begin") {
    probers.service.reset()
    probers.control.reset()
    rssPeak = 0
    rssBefore = sample()
    return port.postMessage("began")
  }
  if (message === "stop") {
    probers.service.stop()
    probers.control.stop()
    return process.exit()
  }
  probers.service.recordWait()
  probers.control.recordWait()
  const { longest: stall, failed, own, probes } = probers.service
  const figures: Figures = { stall, ownStall: own, noise: probers.control.longest, probes, failed, rssBefore, rssPeak }
  return port.postMessage(figures)
})
probers.service.start()
probers.control.start()
