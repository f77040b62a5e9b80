import * as ApiError from "@waybill/api/ApiError"
import { CurrentKey } from "@waybill/api/Authorization"
import { EmailMessage } from "@waybill/api/EmailMessage"
import * as Idempotency from "@waybill/api/Idempotency"
import { InternalError, type InvalidRequest } from "@waybill/api/RequestRefusal"
import * as Refusal from "@waybill/domain/Refusal"
import * as ScopeOf from "@waybill/domain/Scope"
import type { Networks } from "@waybill/mail/Network"
import { Admission, type Key } from "@waybill/store/Admission"
import type { EventStore } from "@waybill/store/EventStore"
import { Provenance } from "@waybill/store/Provenance"
import { Cause, Context, Effect, Exit, Fiber, Result, Schema, Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { newId } from "../fresh.ts"
import * as Position from "./Position.ts"
import * as Traces from "../observability/Traces.ts"
import { provenanceOf } from "./authorization.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as Edge from "./Edge.ts"
import { send } from "./emails.ts"
import type { Lane } from "./NodeServer.ts"
import * as validation from "./validation.ts"

/** Larger bodies take the long way, which reads them with more care for memory and for clients that go away. */
export const MAX_LANE_BYTES = 256 * 1024

const ENDPOINT = { method: "POST", path: "/v1/email/send" } as const

/**
 * The short way of the one request that comes by the thousand: what the router and the API's layers do for every
 * endpoint is done here by hand for this one, from the same pieces. Anything out of the ordinary takes the long way;
 * that both answer alike is tested.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly maxBodyBytes: number
  readonly trustedProxies: Networks
}) {
  const context = yield* Effect.context<Admission | EventStore>()
  // Closed when the server has ended its connections, not sooner: a stop gives what is under way its time.
  const scope = Scope.forkUnsafe(yield* Effect.scope, "parallel")
  const admission = Context.get(context, Admission)
  const maxBytes = Math.min(MAX_LANE_BYTES, options.maxBodyBytes)
  const run = Effect.runForkWith(context)
  const lane: Lane = (request, response) => {
    if (!isOrdinary(request, maxBytes)) return false
    const id = Effect.runSync(newId("RequestId"))
    const answered = answer(admission, request, id, options.trustedProxies)
    const fiber = Fiber.runIn(run(Traces.ofRequest(answered, id, request.method, request.headers)), scope)
    response.on("close", () => {
      if (!response.writableEnded) fiber.interruptUnsafe()
    })
    fiber.addObserver((exit) => {
      if (Exit.isSuccess(exit)) write(response, exit.value)
      else response.destroy()
    })
    return true
  }
  return lane
})

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/iu

const isOrdinary = ({ headers, method, url }: IncomingMessage, maxBytes: number): boolean => {
  if (url !== ENDPOINT.path || method !== ENDPOINT.method || headers.authorization === undefined) return false
  if (!JSON_TYPE.test(headers["content-type"] ?? "") || headers["content-encoding"] !== undefined) return false
  // Absent for a body in chunks, which may grow to anything.
  const bytes = Number(headers["content-length"] ?? 0)
  return bytes > 0 && bytes <= maxBytes
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

const answer = (
  admission: Admission["Service"],
  request: IncomingMessage,
  id: string,
  trustedProxies: Networks,
): Effect.Effect<Answer, never, EventStore> =>
  Effect.gen(function* () {
    const { authorization } = request.headers
    const forwarded = request.headers["x-forwarded-for"]
    const address = ClientAddress.of(
      request.socket.remoteAddress,
      typeof forwarded === "string" ? forwarded : undefined,
      trustedProxies,
    )
    const admitted = yield* Effect.exit(
      admission.admit({ tokenHash: Edge.hashIn(authorization), bucket: "send", address }),
    )
    if (Exit.isFailure(admitted)) return yield* broken(admitted.cause, id, yield* Edge.untouched(id))
    const verdict = admitted.value
    const standing = Edge.standingHeaders(id, verdict.standing)
    if (verdict._tag !== "Admitted") return refused(Edge.refusalOf(verdict, authorization), id, standing)
    const done = yield* Effect.exit(accepted(request, verdict.key, address, id))
    const said = { ...standing, ...(yield* Position.headers(verdict.key.account_id)) }
    if (Exit.isSuccess(done)) {
      const { body, headers } = done.value
      return { status: 200, headers: { ...said, ...headers }, body: JSON.stringify(body) }
    }
    return yield* broken(done.cause, id, said)
  })

const accepted = Effect.fnUntraced(function* (request: IncomingMessage, key: Key, address: string, id: string) {
  if (!ScopeOf.permits(key.scopes, "email:send"))
    return yield* new ScopeOf.MissingScope({ required_scope: "email:send" })
  const bytes = yield* bodyOf(request)
  const problem = validation.problemOf(bytes)
  if (problem !== undefined) return yield* problem
  const headers = yield* Effect.fromResult(headersOf(request))
  const payload = yield* Effect.fromResult(payloadOf(bytes))
  const call = { endpoint: ENDPOINT, headers, payload }
  return yield* Effect.provideContext(
    send(call),
    Context.make(CurrentKey, {
      account_id: key.account_id,
      key_id: key.id,
      scopes: key.scopes,
      domain: key.domain,
    }).pipe(Context.add(Provenance, provenanceOf({ type: "api_key", id: key.id }, id, address))),
  )
})

/** Whole already when the client sent all at once, as they do; else when the rest has come. */
const bodyOf = (request: IncomingMessage): Effect.Effect<Buffer> =>
  Effect.callback((resume) => {
    const whole = request.complete ? (request.read() as Buffer | null) : null
    if (whole !== null && whole.length === Number(request.headers["content-length"])) {
      return resume(Effect.succeed(whole))
    }
    const chunks: Array<Buffer> = whole === null ? [] : [whole]
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
  })

const decodeHeaders = Schema.decodeUnknownResult(Schema.Struct(Idempotency.headers), { errors: "all" })

const headersOf = (request: IncomingMessage): Result.Result<Idempotency.Headers, InvalidRequest> => {
  const key = request.headers["idempotency-key"]
  if (key === undefined) return Result.succeed({})
  return Result.mapError(decodeHeaders({ "idempotency-key": key }), ({ issue }) => validation.invalid("Headers", issue))
}

const json = Schema.toCodecJson(EmailMessage)
/** Stops at the first violation, which is several times as fast: nearly every message has none. */
const decode = Schema.decodeUnknownResult(json)
const decodeForAll = Schema.decodeUnknownResult(json, { errors: "all" })

const payloadOf = (bytes: Buffer): Result.Result<EmailMessage, InvalidRequest> => {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString("utf8"))
  } catch {
    return Result.fail(validation.notJson())
  }
  const decoded = decode(body)
  if (Result.isSuccess(decoded)) return Result.succeed(decoded.success)
  return Result.mapError(decodeForAll(body), ({ issue }) => validation.invalid("Payload", issue))
}

const refused = (refusal: Refusal.Refusal, id: string, standing: Record<string, string>): Answer => ({
  status: refusal.status,
  headers: { ...standing, ...Edge.refusalHeaders(refusal) },
  body: JSON.stringify(ApiError.toBody(refusal, id)),
})

const broken = <E>(cause: Cause.Cause<E>, id: string, standing: Record<string, string>): Effect.Effect<Answer> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  const error = Cause.squash(cause)
  if (Refusal.isRefusal(error)) return Effect.succeed(refused(error, id, standing))
  const logged = Effect.annotateLogs(Effect.logError("A request failed", cause), "request_id", id)
  return Effect.as(logged, refused(new InternalError(), id, standing))
}

const write = (response: ServerResponse, { body, headers, status }: Answer): void => {
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  })
  response.end(body)
}
