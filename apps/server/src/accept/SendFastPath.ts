import * as ApiError from "@waybill/api/errors/ApiError"
import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Idempotency from "@waybill/api/schemas/Idempotency"
import { InternalError, type InvalidRequest } from "@waybill/api/errors/RequestRefusal"
import * as Refusal from "@waybill/domain/values/Refusal"
import * as ScopeOf from "@waybill/domain/account/Scope"
import type { Networks } from "@waybill/mail/dns/Network"
import { Admission, type Key } from "@waybill/store/admission/Admission"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/commit/Provenance"
import { Replica, type ReplicaShape } from "@waybill/store/postgres/Replica"
import { Cause, Context, Effect, Exit, Fiber, Option, Result, Schema, Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { newEmailAt, newIdAt } from "../operate/fresh.ts"
import * as Position from "../http/Position.ts"
import * as Traces from "../observability/Traces.ts"
import { Revocations } from "../live/Revocations.ts"
import type { Admitted } from "../http/middleware/Admitted.ts"
import { provenanceOf } from "../http/middleware/authorization.ts"
import * as Bodies from "../http/middleware/Bodies.ts"
import type { ByteBudget } from "../http/middleware/ByteBudget.ts"
import * as ClientAddress from "../http/middleware/ClientAddress.ts"
import { onceAt } from "./commitRequest.ts"
import * as Edge from "../http/middleware/Edge.ts"
import { sending } from "../http/api/emails.ts"
import { Instance } from "../http/Instance.ts"
import type { Lane } from "../http/NodeServer.ts"
import * as TrackingHosts from "../links/TrackingHosts.ts"
import * as validation from "../http/middleware/validation.ts"

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
  readonly bodies: ByteBudget
}) {
  const context = yield* Effect.context<Admission | EventStore>()
  const { tracks } = yield* Instance
  const hosts = yield* TrackingHosts.TrackingHosts
  // Closed when the server has ended its connections, not sooner: a stop gives what is under way its time.
  const scope = Scope.forkUnsafe(yield* Effect.scope, "parallel")
  const house: House = {
    admission: Context.get(context, Admission),
    store: Context.get(context, EventStore),
    replica: yield* Replica,
    trustedProxies: options.trustedProxies,
    tracks,
    bodies: options.bodies,
    revocations: yield* Revocations,
  }
  const maxBytes = Math.min(MAX_LANE_BYTES, options.maxBodyBytes)
  const run = Effect.runForkWith(context)
  const lane: Lane = (request, response) => {
    if (!isOrdinary(request, maxBytes) || TrackingHosts.isAsked(hosts, request.headers)) return false
    const fiber = Fiber.runIn(run(answer(house, request, response)), scope)
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

/** What the lane stands on, looked up once and not for each request. */
interface House {
  readonly admission: Admission["Service"]
  readonly store: EventStore["Service"]
  readonly replica: ReplicaShape
  readonly trustedProxies: Networks
  readonly tracks: boolean
  readonly bodies: ByteBudget
  readonly revocations: Revocations["Service"]
}

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

// Few effects, and no generators: what they cost is most of what the long way costs.
const answer = (house: House, request: IncomingMessage, response: ServerResponse): Effect.Effect<Answer> =>
  Effect.clockWith((clock) => {
    const id = newIdAt("RequestId", clock.currentTimeMillisUnsafe())
    return Traces.ofRequest(answerAs(id, house, request, response), id, request.method, request.headers)
  })

const answerAs = (
  id: string,
  house: House,
  request: IncomingMessage,
  response: ServerResponse,
): Effect.Effect<Answer> => {
  const { authorization } = request.headers
  const forwarded = request.headers["x-forwarded-for"]
  const address = ClientAddress.of(
    request.socket.remoteAddress,
    typeof forwarded === "string" ? forwarded : undefined,
    house.trustedProxies,
  )
  const asked = { tokenHash: Edge.hashIn(authorization), bucket: "send", address } as const
  return Effect.matchCauseEffect(house.admission.admit(asked), {
    onFailure: (cause) => Effect.flatMap(Edge.untouched(id), (standing) => broken(cause, id, standing)),
    onSuccess: (verdict) => {
      const standing = Edge.standingHeaders(id, verdict.standing)
      if (verdict._tag !== "Admitted")
        return Effect.succeed(refused(Edge.refusalOf(verdict, authorization), id, standing))
      const { key } = verdict
      const header = request.headers[Position.HEADER]
      const known = typeof header === "string" ? header : undefined
      const said = () => ({ ...standing, ...Position.headersBy(house.replica, key.account_id, known) })
      return Effect.matchCauseEffect(
        Effect.suspend(() => accepted(house, { request, response }, key, address, id)),
        {
          onFailure: (cause) => broken(cause, id, said()),
          onSuccess: ({ body, headers }) =>
            Effect.succeed({ status: 200, headers: { ...said(), ...headers }, body: JSON.stringify(body) }),
        },
      )
    },
  })
}

interface Sent {
  readonly body: unknown
  readonly headers: { readonly "idempotent-replayed"?: string }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const accepted = (
  house: House,
  exchange: Exchange,
  key: Key,
  address: string,
  id: string,
): Effect.Effect<Sent, unknown> => {
  if (!ScopeOf.permits(key.scopes, "email:send"))
    return Effect.fail(new ScopeOf.MissingScope({ required_scope: "email:send" }))
  const { request } = exchange
  const provenance = provenanceOf({ type: "api_key", id: key.id }, id, address)
  const queued = (bytes: Buffer) => Effect.provideService(queue(house, request, key, bytes), Provenance, provenance)
  const whole = wholeBodyOf(request)
  if (whole !== undefined) return queued(whole)
  return Effect.flatMap(bodyOf(house, exchange, { key, address }), queued)
}

const queue = (
  { store, tracks }: House,
  request: IncomingMessage,
  key: Key,
  bytes: Buffer,
): Effect.Effect<Sent, unknown> => {
  const problem = validation.problemOf(bytes)
  if (problem !== undefined) return Effect.fail(problem)
  const headers = headersOf(request)
  const payload = payloadOf(bytes)
  if (Result.isFailure(headers))
    return Effect.fail(validation.together(headers.failure, Option.getOrUndefined(Result.getFailure(payload))))
  if (Result.isFailure(payload)) return Effect.fail(payload.failure)
  const { account_id } = key
  const from = { account_id, key: { id: key.id, domain: key.domain }, tracks }
  return Effect.clockWith((clock) => {
    const { asked, id } = newEmailAt(clock.currentTimeMillisUnsafe())
    const work = sending(from, id, payload.success, asked)
    return onceAt(
      { store, account_id, domain: key.domain },
      { endpoint: ENDPOINT, headers: headers.success, payload: payload.success },
      work,
    )
  })
}

/** Clients send all at once, as a rule. */
const wholeBodyOf = (request: IncomingMessage): Buffer | undefined => {
  if (!request.complete || request.readableLength !== Number(request.headers["content-length"])) return undefined
  return (request.read() as Buffer | null) ?? undefined
}

/** And else the rest comes later, within the budget of all bodies, and perhaps when the key holds no more. */
const bodyOf = (
  { bodies, revocations }: House,
  { request, response }: Exchange,
  admitted: Admitted & { readonly key: Key },
): Effect.Effect<Buffer, unknown> =>
  Effect.clockWith((clock) => {
    const began = SteadyClock.millisOf(clock)
    const tooMuch = Bodies.counting(bodies.lease(admitted.key.account_id), request, response)
    if (tooMuch === undefined) return Bodies.full
    const whole = Effect.callback<Buffer>((resume) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
    })
    return Effect.tap(Effect.raceFirst(whole, tooMuch), () =>
      SteadyClock.millisOf(clock) - began > Bodies.READMITTED_AFTER_MS
        ? revocations.check({ admitted, scope: "email:send" })
        : Effect.void,
    )
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

const decoder = new TextDecoder()

const payloadOf = (bytes: Buffer): Result.Result<EmailMessage, InvalidRequest> => {
  let body: unknown
  try {
    // Which leaves a byte order mark out, as the long way does.
    body = JSON.parse(decoder.decode(bytes))
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
