import { fork } from "node:child_process"
import { once } from "node:events"
import * as path from "node:path"
import type { Arrivals } from "../deliver/sink.ts"
import * as Held from "../report/Held.ts"

/** Time without a message after which a round has failed. */
const SILENT_MILLIS = 30_000
const LOOK_EVERY_MILLIS = 5

export interface Arrived {
  /** Time of the last final dot, in milliseconds since the epoch. */
  readonly last: number
  readonly signed: number
}

export interface Sink {
  readonly port: number
  readonly pid: number
  /** Waits until this many messages, each once, have arrived since the last call. */
  readonly take: (mails: number) => Promise<Arrived>
}

/** Starts the SMTP server that takes the messages of all contenders. */
export const start = async (): Promise<Sink> => {
  const child = await Held.acquire(
    async () => fork(path.join(import.meta.dirname, "../deliver/sink.ts")),
    (forked) => forked.disconnect(),
  )
  const [hello] = (await once(child, "message")) as [{ readonly port: number }]
  const ids = new Set<string>()
  let last = 0
  let signed = 0
  child.on("message", ({ arrived }: Arrivals) => {
    for (const [id, at, isSigned] of arrived) {
      if (ids.has(id)) throw new Error(`${id} arrived twice`)
      ids.add(id)
      last = Math.max(last, at)
      if (isSigned) signed++
    }
  })
  const take = async (mails: number): Promise<Arrived> => {
    const began = Date.now()
    while (ids.size < mails) {
      if (Date.now() - Math.max(began, last) > SILENT_MILLIS) throw new Error(`${ids.size} of ${mails} mails arrived`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MILLIS))
    }
    const result = { last, signed }
    ids.clear()
    last = 0
    signed = 0
    return result
  }
  return { port: hello.port, pid: child.pid ?? 0, take }
}
