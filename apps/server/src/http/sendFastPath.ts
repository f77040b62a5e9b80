import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Idempotency from "@waybill/api/schemas/Idempotency"
import * as Scope from "@waybill/domain/account/Scope"
import type { Networks } from "@waybill/mail/dns/Network"
import { Admission, type AdmittedKey, type Verdict } from "@waybill/store/admission/Admission"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/commit/Provenance"
import { Replica } from "@waybill/store/postgres/Replica"
import type { Writer } from "@waybill/store/requests/RequestLogWriter"
import { Context, Effect, Exit, Option, Schema } from "effect"
import type { IncomingMessage } from "node:http"
import * as Acceptance from "../accept/Acceptance.ts"
import * as RequestCommit from "../accept/RequestCommit.ts"
import * as RunningFibers from "../boot/RunningFibers.ts"
import * as TrackingHosts from "../links/TrackingHosts.ts"
import * as Traces from "../observability/Traces.ts"
import * as NewIds from "../operate/NewIds.ts"
import * as Calls from "../requestLog/Calls.ts"
import { Instance } from "./Instance.ts"
import { earlierAdmissions } from "./middleware/Admitted.ts"
import * as Authorization from "./middleware/Authorization.ts"
import { bearerHash } from "./middleware/bearerHash.ts"
import * as ClientAddress from "./middleware/ClientAddress.ts"
import * as Responses from "./responses/Responses.ts"
import * as Validation from "./middleware/Validation.ts"
import type { FastPath } from "./NodeServer.ts"
import * as PlainSends from "./PlainSends.ts"
import * as Position from "./Position.ts"

/** Larger bodies are read by the normal path, within the memory budget. */
export const MAX_FAST_BYTES = 256 * 1024

interface Sender {
  readonly key: AdmittedKey
  readonly address: string
  readonly id: string
  /** Undefined if requests are not logged. */
  readonly logged: Calls.Call | undefined
}

const Call = Schema.Struct({ headers: Schema.Struct(Idempotency.headers), payload: Schema.toCodecJson(EmailMessage) })
/** Stops at the first violation, which is several times as fast as finding all. */
const decodeStrictly = Schema.decodeUnknownOption(Call, { onExcessProperty: "error" })
/** Ignores unknown fields, which takes half the time: compiled schemas cannot refuse them. */
const decodeKnown = Schema.decodeUnknownOption(Call)

const FIELDS: ReadonlySet<string> = new Set(Object.keys(EmailMessage.fields))
/** Fields whose objects could have unknown fields of their own. */
const NESTED = ["attachments", "tracking"]

const hasOnlyKnownFields = (payload: object): boolean =>
  Object.keys(payload).every((name) => FIELDS.has(name)) && !NESTED.some((name) => Object.hasOwn(payload, name))

const decode = (call: { readonly headers: object; readonly payload: unknown }) =>
  typeof call.payload === "object" && call.payload !== null && hasOnlyKnownFields(call.payload)
    ? decodeKnown(call)
    : decodeStrictly(call)

const decoder = new TextDecoder()

/** Reads and decodes a valid request whose body has arrived, as it usually has; otherwise leaves the body in the stream. */
const read = (request: IncomingMessage, headers: PlainSends.TextHeaders, { originOf, translate }: PlainSends.Send) => {
  if (!request.complete || request.readableLength !== Number(headers["content-length"])) return undefined
  const bytes = request.read() as Buffer
  try {
    if (Validation.problemOf(bytes) === undefined) {
      const key = headers["idempotency-key"]
      const given = key === undefined ? {} : { "idempotency-key": key }
      const translated = translate(JSON.parse(decoder.decode(bytes)))
      const call = decode({ headers: given, payload: translated?.body })
      if (translated !== undefined && Option.isSome(call))
        return { ...call.value, bytes, translated, origin: originOf(bytes) }
    }
  } catch {}
  // Put back at once, because the stream ends after this turn of the event loop.
  request.unshift(bytes)
  return undefined
}

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
  const admission = Context.get(context, Admission)
  const store = Context.get(context, EventStore)
  const { tracks } = yield* Instance
  const hosts = yield* TrackingHosts.TrackingHosts
  const replica = yield* Replica
  // Ends with the server's connections, so that requests in progress are finished when the service stops.
  const running = yield* RunningFibers.make
  const { requestLog } = options
  const maxBytes = Math.min(MAX_FAST_BYTES, options.maxBodyBytes)
  const run = Effect.runForkWith(context)

  const commit = (
    { key, ...request }: Sender,
    { bytes: _, origin, translated, ...call }: NonNullable<ReturnType<typeof read>>,
  ) => {
    const { account_id, domain, test_clock } = key
    const { address, id, logged } = request
    const sender = { account_id, key: { id: key.id, domain, test_clock }, tracks }
    const committing = Effect.clockWith((clock) => {
      const email = NewIds.newEmailAt(clock.currentTimeMillisUnsafe())
      const work = Acceptance.acceptMessage(sender, email.id, call.payload, email.at, Acceptance.queued)
      return RequestCommit.commitTo(
        { store, account_id, domain, origin },
        { endpoint: PlainSends.ENDPOINT, ...call },
        work,
      )
    })
    const provenance = Authorization.provenanceOf({ type: "api_key", id: key.id }, id, address)
    return Effect.matchCauseEffect(Effect.provideService(committing, Provenance, provenance), {
      onFailure: (cause) =>
        Effect.map(Responses.fromCause(cause, id), (response) => {
          if (logged !== undefined) logged.reason = Calls.reasonOf(response)
          return translated.refused(response)
        }),
      onSuccess: ({ body, headers }) => Effect.succeed(translated.accepted(body, headers)),
    })
  }

  const fastPath: FastPath = (request, response, normalPath) => {
    const headers = request.headers as PlainSends.TextHeaders
    const send = PlainSends.find(request, headers, maxBytes)
    if (send === undefined || TrackingHosts.isCustomerHost(hosts, headers)) return false
    const began = performance.now()
    const address = ClientAddress.of(request.socket.remoteAddress, headers["x-forwarded-for"], options.trustedProxies)
    const tokenHash = bearerHash(send.authorization(headers))
    const handOver = (admitted: Exit.Exit<Verdict>) =>
      Effect.sync(() => {
        earlierAdmissions.set(request, admitted)
        normalPath()
      })
    let logged: Calls.Call | undefined
    const handled = Effect.clockWith((clock) => {
      const id = NewIds.newIdAt("RequestId", clock.currentTimeMillisUnsafe())
      const handling = Effect.matchCauseEffect(admission.admit({ tokenHash, bucket: "send", address }), {
        onFailure: (cause) => handOver(Exit.failCause(cause)),
        onSuccess: (verdict) => {
          if (verdict._tag !== "Admitted" || !Scope.permits(verdict.key.scopes, "email:send"))
            return handOver(Exit.succeed(verdict))
          const { key, standing } = verdict
          const call = read(request, headers, send)
          if (call === undefined) return handOver(Exit.succeed(verdict))
          if (requestLog !== undefined) {
            const { bytes: body } = call
            logged = { request, response, id, caller: Calls.callerOf(key), address, began, body, reason: null }
          }
          return Effect.map(commit({ key, address, id, logged }, call), ({ body, headers: own, status }) => {
            const position = Position.headersBy(replica, key.account_id, headers[Position.HEADER])
            response.writeHead(status, { ...own, ...Responses.requestHeaders(id, standing), ...position })
            response.end(body._tag === "Uint8Array" ? body.body : undefined)
          })
        },
      })
      return Traces.ofRequest(handling, id, request.method, headers)
    })
    const fiber = run(handled)
    running.add(fiber)
    response.on("close", () => {
      if (!response.writableEnded) fiber.interruptUnsafe()
      if (requestLog !== undefined && logged !== undefined) Calls.end(requestLog, logged)
    })
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) response.destroy()
    })
    return true
  }
  return fastPath
})
