import type { Networks } from "@waybill/mail/dns/Network"
import { Admission } from "@waybill/store/admission/Admission"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Replica } from "@waybill/store/feed/Replica"
import type { Writer } from "@waybill/store/requests/RequestLogWriter"
import { Context, Effect, Exit, type Fiber } from "effect"
import * as RunningFibers from "../process/RunningFibers.ts"
import * as TrackingHosts from "../links/TrackingHosts.ts"
import * as Traces from "../observability/Traces.ts"
import * as NewIds from "../process/NewIds.ts"
import { FastSend, type Services } from "./FastSend.ts"
import { Instance } from "../settings/Instance.ts"
import type { FastPath } from "./NodeServer.ts"
import * as PlainSends from "./PlainSends.ts"

/** Larger bodies are read by the normal path, within the memory budget. */
export const MAX_FAST_BYTES = 256 * 1024

/**
 * Handles a plain `POST /v1/email/send`, or a door's send of one message, without the router and the API's layers, which
 * cost a send a third of the process's time (docs/decisions/0031-keep-the-fast-path-of-a-send.md). It knows only the
 * regular case: a request that it does not admit or cannot decode is handed to the normal path with its body and
 * admission, so that all errors are described in one place. Uses few effects and no generators, because those make up most
 * of the cost.
 */
export const sendFastPath = Effect.fnUntraced(function* (options: {
  readonly maxBodyBytes: number
  readonly trustedProxies: Networks
  readonly requestLog: Writer | undefined
}) {
  const context = yield* Effect.context<Admission | EventStore>()
  const services: Services = {
    admission: Context.get(context, Admission),
    store: Context.get(context, EventStore),
    replica: yield* Replica,
    tracks: (yield* Instance).tracks,
    ...options,
  }
  const hosts = yield* TrackingHosts.TrackingHosts
  // Ends with the server's connections, so that requests in progress are finished when the service stops.
  const running = yield* RunningFibers.make
  const maxBytes = Math.min(MAX_FAST_BYTES, options.maxBodyBytes)
  const run = Effect.runForkWith(context)

  let waiting: Array<() => void> = []
  /**
   * Runs work together with that of other requests which arrive in this turn of the event loop: the processor then has the code of
   * each step at hand. The body of a request usually arrives in the same turn as its headers.
   */
  const atEndOfTurn = (work: () => void) => {
    if (waiting.push(work) > 1) return
    setImmediate(() => {
      const all = waiting
      waiting = []
      for (const each of all) each()
    })
  }

  const fastPath: FastPath = (request, response, normalPath) => {
    const headers = request.headers as PlainSends.TextHeaders
    const send = PlainSends.find(request, headers, maxBytes)
    if (send === undefined || TrackingHosts.isCustomerHost(hosts, headers)) return false
    const sending = new FastSend(services, { request, response, headers, send, normalPath })
    const handled = Effect.clockWith((clock) => {
      const id = NewIds.newIdAt("RequestId", clock.currentTimeMillisUnsafe())
      return Traces.ofRequest(sending.handle(id), id, request.method, headers)
    })
    let fiber: Fiber.Fiber<void> | undefined
    let isClosed = false
    const begin = () => {
      if (isClosed) return
      fiber = run(handled)
      running.add(fiber)
      fiber.addObserver((exit) => {
        if (Exit.isFailure(exit)) response.destroy()
      })
    }
    response.on("close", () => {
      isClosed = true
      if (!response.writableEnded) fiber?.interruptUnsafe()
      sending.end()
    })
    atEndOfTurn(begin)
    return true
  }
  return fastPath
})
