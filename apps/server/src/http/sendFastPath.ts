import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Idempotency from "@waybill/api/schemas/Idempotency"
import * as Scope from "@waybill/domain/account/Scope"
import type { Networks } from "@waybill/mail/dns/Network"
import { Admission, type AdmittedKey, type Verdict } from "@waybill/store/admission/Admission"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/commit/Provenance"
import { Replica } from "@waybill/store/postgres/Replica"
import { Context, Effect, Exit, Fiber, Result, Schema, Scope as Lifetime } from "effect"
import { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Acceptance from "../accept/Acceptance.ts"
import * as Idempotent from "../accept/Idempotent.ts"
import * as TrackingHosts from "../links/TrackingHosts.ts"
import * as Traces from "../observability/Traces.ts"
import * as NewIds from "../operate/NewIds.ts"
import { Instance } from "./Instance.ts"
import { earlierVerdicts } from "./middleware/Admitted.ts"
import * as Authorization from "./middleware/Authorization.ts"
import { bearerHash } from "./middleware/bearerHash.ts"
import * as ClientAddress from "./middleware/ClientAddress.ts"
import * as Responses from "./middleware/Responses.ts"
import * as Validation from "./middleware/Validation.ts"
import type { FastPath } from "./NodeServer.ts"
import * as Position from "./Position.ts"

/** Larger bodies are read by the normal path, within the memory budget. */
export const MAX_FAST_BYTES = 256 * 1024

const ENDPOINT = { method: "POST", path: "/v1/email/send" } as const
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/iu

const isPlainSend = ({ headers, method, url }: IncomingMessage, maxBytes: number): boolean => {
  if (url !== ENDPOINT.path || method !== ENDPOINT.method || headers.authorization === undefined) return false
  if (!JSON_TYPE.test(headers["content-type"] ?? "") || headers["content-encoding"] !== undefined) return false
  const bytes = Number(headers["content-length"] ?? 0)
  return bytes > 0 && bytes <= maxBytes
}

/** Returns the body if it has arrived completely, as it usually has once the request is admitted. */
const wholeBody = (request: IncomingMessage): Buffer | undefined =>
  request.complete && request.readableLength === Number(request.headers["content-length"])
    ? ((request.read() as Buffer | null) ?? undefined)
    : undefined

const decodeHeaders = Schema.decodeUnknownResult(Schema.Struct(Idempotency.headers))
/** Stops at the first violation, which is several times as fast as finding all. */
const decodeMessage = Schema.decodeUnknownResult(Schema.toCodecJson(EmailMessage))
const decoder = new TextDecoder()

/** Returns the decoded request; `undefined` if it is invalid, which the normal path explains. */
const decode = (request: IncomingMessage, bytes: Buffer) => {
  if (Validation.problemOf(bytes) !== undefined) return undefined
  const key = request.headers["idempotency-key"]
  const headers = decodeHeaders(key === undefined ? {} : { "idempotency-key": key })
  try {
    const message = decodeMessage(JSON.parse(decoder.decode(bytes)))
    return Result.isSuccess(headers) && Result.isSuccess(message)
      ? { headers: headers.success, payload: message.success }
      : undefined
  } catch {
    return undefined
  }
}

/** Reads and decodes the request, or leaves its body in the stream. */
const read = (request: IncomingMessage) => {
  const bytes = wholeBody(request)
  const call = bytes === undefined ? undefined : decode(request, bytes)
  // Put back at once, because the stream ends after this turn of the event loop.
  if (bytes !== undefined && call === undefined) request.unshift(bytes)
  return call
}

/**
 * Handles a plain `POST /v1/email/send` without the router and the API's layers, which cost a send a third of the process's
 * time (docs/decisions/0031-keep-the-fast-path-of-a-send.md). It knows only the regular case: a request that it does not
 * admit or cannot decode is handed to the normal path with its body and verdict, so that all errors are described in one
 * place. Uses few effects and no generators, because those make up most of the cost.
 */
export const sendFastPath = Effect.fnUntraced(function* (options: {
  readonly maxBodyBytes: number
  readonly trustedProxies: Networks
}) {
  const context = yield* Effect.context<Admission | EventStore>()
  const admission = Context.get(context, Admission)
  const store = Context.get(context, EventStore)
  const { tracks } = yield* Instance
  const hosts = yield* TrackingHosts.TrackingHosts
  const replica = yield* Replica
  // Ends with the server's connections, so that requests in progress are finished when the service stops.
  const lifetime = Lifetime.forkUnsafe(yield* Effect.scope, "parallel")
  const maxBytes = Math.min(MAX_FAST_BYTES, options.maxBodyBytes)
  const run = Effect.runForkWith(context)

  const commit = (key: AdmittedKey, address: string, id: string, call: NonNullable<ReturnType<typeof read>>) => {
    const { account_id, domain } = key
    const sender = { account_id, key: { id: key.id, domain }, tracks }
    const committing = Effect.clockWith((clock) => {
      const email = NewIds.newEmailAt(clock.currentTimeMillisUnsafe())
      const work = Acceptance.acceptMessage(sender, email.id, call.payload, email.at, Acceptance.queued)
      return Idempotent.commitTo({ store, account_id, domain }, { endpoint: ENDPOINT, ...call }, work)
    })
    const provenance = Authorization.provenanceOf({ type: "api_key", id: key.id }, id, address)
    return Effect.matchCauseEffect(Effect.provideService(committing, Provenance, provenance), {
      onFailure: (cause) => Responses.fromCause(cause, id),
      onSuccess: ({ body, headers }) =>
        Effect.succeed(HttpServerResponse.jsonUnsafe(body, { headers: { ...headers } })),
    })
  }

  const fastPath: FastPath = (request, response, normalPath) => {
    if (!isPlainSend(request, maxBytes) || TrackingHosts.isCustomerHost(hosts, request.headers)) return false
    const { authorization } = request.headers
    const forwarded = request.headers["x-forwarded-for"]
    const address = ClientAddress.of(
      request.socket.remoteAddress,
      typeof forwarded === "string" ? forwarded : undefined,
      options.trustedProxies,
    )
    const answer = (id: string, verdict: Verdict) => {
      const call = verdict._tag === "Admitted" && permits(verdict.key) ? read(request) : undefined
      if (verdict._tag !== "Admitted" || call === undefined) {
        earlierVerdicts.set(request, verdict)
        return Effect.sync(normalPath)
      }
      const clientPosition = request.headers[Position.HEADER]
      return Effect.map(commit(verdict.key, address, id, call), (made) => {
        const position = Position.headersBy(
          replica,
          verdict.key.account_id,
          typeof clientPosition === "string" ? clientPosition : undefined,
        )
        write(response, made, { ...Responses.requestHeaders(id, verdict.standing), ...position })
      })
    }
    const handled = Effect.clockWith((clock) => {
      const id = NewIds.newIdAt("RequestId", clock.currentTimeMillisUnsafe())
      const handling = Effect.matchCauseEffect(
        admission.admit({ tokenHash: bearerHash(authorization), bucket: "send", address }),
        {
          onFailure: (cause) =>
            Effect.zipWith(Responses.fromCause(cause, id), Responses.uncountedHeaders(id), (made, headers) =>
              write(response, made, headers),
            ),
          onSuccess: (verdict) => answer(id, verdict),
        },
      )
      return Traces.ofRequest(handling, id, request.method, request.headers)
    })
    const fiber = Fiber.runIn(run(handled), lifetime)
    response.on("close", () => {
      if (!response.writableEnded) fiber.interruptUnsafe()
    })
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) response.destroy()
    })
    return true
  }
  return fastPath
})

const permits = ({ scopes }: AdmittedKey): boolean => Scope.permits(scopes, "email:send")

const write = (
  response: ServerResponse,
  { body, headers, status }: HttpServerResponse.HttpServerResponse,
  more: Readonly<Record<string, string>>,
): void => {
  const bytes = body._tag === "Uint8Array" ? body.body : new Uint8Array()
  response.writeHead(status, {
    ...headers,
    ...more,
    "content-type": "application/json",
    "content-length": bytes.byteLength,
  })
  response.end(bytes)
}
