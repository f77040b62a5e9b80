import { once } from "node:events"
import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { ApiRequests } from "./Api.ts"

/** An event as a webhook gets it. */
export interface HookEvent {
  /** Repeated calls have the id of the first. */
  readonly id: string
  readonly type: string
  readonly created_at: string
  /** Numbers the events of one object: 1, 2, 3. */
  readonly sequence: number
  readonly data: Readonly<Record<string, unknown>>
}

/** Answers a call: an error that it throws is a 500, so that the call is made again. */
export type HookHandler = (event: HookEvent) => unknown

/** A webhook of a test suite. */
export interface Hook {
  readonly id: string
  /** The calls so far, also those whose handler failed. */
  readonly events: ReadonlyArray<HookEvent>
  /** Removes the webhook. */
  readonly close: () => Promise<void>
}

const MAX_BODY_BYTES = 16 * 1024 * 1024

/** Creates a webhook whose calls, verified by their signature, go to a function. */
export const listen = async (api: ApiRequests, handler: HookHandler, types: ReadonlyArray<string>): Promise<Hook> => {
  const events: Array<HookEvent> = []
  let secret = ""
  const answer = async (request: IncomingMessage): Promise<number> => {
    const body = await read(request)
    if (!isSigned(request, body, secret)) return 401
    const event = JSON.parse(body) as HookEvent
    events.push(event)
    await handler(event)
    return 204
  }
  const server = createServer(async (request, response) => {
    const status = await answer(request).catch(() => 500)
    response.writeHead(status).end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  // The process of the tests may end while the webhook is open.
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const created = (await api.post("/v1/webhooks", { url, events: types })) as {
    readonly id: string
    readonly secret: string
  }
  secret = created.secret
  return {
    id: created.id,
    events,
    close: async () => {
      await api.remove(`/v1/webhooks/${created.id}`)
      await stop(server)
    },
  }
}

const stop = async (server: Server): Promise<void> => {
  server.closeAllConnections()
  server.close()
  await once(server, "close")
}

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error("too large")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Whether a call has the signature of Standard Webhooks. */
const isSigned = ({ headers }: IncomingMessage, body: string, secret: string): boolean => {
  const key = Buffer.from(secret.replace(/^whsec_/u, ""), "base64")
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`)
  return String(headers["webhook-signature"])
    .split(" ")
    .map((signature) => Buffer.from(signature))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
}
