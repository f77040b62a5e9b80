import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as ApiError from "@waybill/api/errors/ApiError"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { Networks } from "@waybill/mail/dns/Network"
import { Admission, type Verdict } from "@waybill/store/admission/Admission"
import * as Availability from "@waybill/store/availability/Availability"
import * as Databases from "@waybill/store/routing/Databases"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import type { Writer } from "@waybill/store/requests/RequestLogWriter"
import { Clock, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Doors from "../../compat/doors/Doors.ts"
import * as DoorRequests from "../../compat/doors/DoorRequests.ts"
import * as TrackingHosts from "../../links/TrackingHosts.ts"
import { Revocations } from "../../live/Revocations.ts"
import * as Traces from "../../observability/Traces.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as Calls from "../../requestLog/Calls.ts"
import * as ForeignKeys from "./ForeignKeys.ts"
import type { DocumentWindows } from "../pages/DocumentWindows.ts"
import * as Position from "./Position.ts"
import { Admitted } from "../../requests/Admitted.ts"
import * as Compression from "./Compression.ts"
import * as LargeResponses from "./LargeResponses.ts"
import { bearerHash } from "./bearerHash.ts"
import * as Bodies from "../../web/Bodies.ts"
import type { ByteBudget } from "../../web/ByteBudget.ts"
import * as ClientAddress from "../../requests/ClientAddress.ts"
import * as InjectedFaults from "../../requests/InjectedFaults.ts"
import * as RequestTarget from "../../requests/RequestTarget.ts"
import * as Uuids from "../../requests/Uuids.ts"
import * as Responses from "../../web/Responses.ts"
import * as Session from "../../signIn/Session.ts"
import type { CompatHosts } from "../../settings/CompatHosts.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Limits of the memory that all requests of a server hold together. */
export interface Budgets {
  readonly bodies: ByteBudget
  readonly answers: ByteBudget
}

export interface Options {
  readonly trustedProxies: Networks
  /** Paths outside /v1 that everybody may request without a rate limit, such as health checks. */
  readonly open: (path: string) => boolean
  /** The open paths that customers' tracking domains serve too; those domains serve nothing else. */
  readonly visit: (path: string) => boolean
  /** Paths outside /v1 whose response is the same for everybody; limited per client address. */
  readonly document: (path: string, request: HttpServerRequest.HttpServerRequest) => boolean
  readonly windows: DocumentWindows
  /** Host names that are a door of another service each. */
  readonly doorHosts: CompatHosts
  readonly budgets: Budgets
  readonly maxBodyBytes: number
  /** Undefined if requests are not logged. */
  readonly requestLog: Writer | undefined
}

/** A request with its id and path. */
interface Incoming {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly id: string
  readonly path: string
  /** The door of another service's API that the request came through. */
  readonly entrance: Doors.Entrance | undefined
  /** Time of its beginning on the clock of `performance`. */
  readonly began: number
}

/**
 * Handles every request: gives it an id, counts it in its rate window, and gives all failures the same shape. 401 and 429
 * come before anything that the router answers.
 */
export const handleRequest = Effect.fnUntraced(function* <E, R>(app: Effect.Effect<Response, E, R>, options: Options) {
  const received = yield* HttpServerRequest.HttpServerRequest
  const url = Uuids.inPath(RequestTarget.canonical(received.url))
  const request = url === received.url ? received : received.modify({ url })
  const began = performance.now()
  const id = yield* NewIds.newId("RequestId")
  const path = RequestTarget.pathOf(request.url)
  const entrance = Doors.entranceOf(RequestTarget.encodedPathOf(request.url), request, options.doorHosts)
  const responding = Effect.map(responseTo(app, options, { request, id, path, entrance, began }), (response) => {
    Calls.noteAnswer(NodeHttpServerRequest.toIncomingMessage(request), response)
    return response
  }).pipe(Effect.provideService(HttpServerRequest.HttpServerRequest, request))
  const shaped =
    entrance === undefined
      ? responding
      : Effect.map(responding, (response) => DoorRequests.inShapeOf(entrance, response))
  if (RequestTarget.PROBES.has(path)) return yield* shaped
  return yield* Traces.ofRequest(shaped, id, request.method, request.headers)
})

const responseTo = Effect.fnUntraced(function* <E, R>(
  app: Effect.Effect<Response, E, R>,
  options: Options,
  incoming: Incoming,
) {
  const { entrance, id, path, request } = incoming
  if (!options.visit(path) && TrackingHosts.isCustomerHost(yield* TrackingHosts.TrackingHosts, request.headers)) {
    const refusal = new RequestRefusal.NoSuchRoute({ method: request.method, path })
    // Not cached, because the client may have claimed the host name itself.
    return HttpServerResponse.setHeaders(Responses.respond(refusal, id), {
      ...(yield* Responses.uncountedHeaders(id)),
      "cache-control": "no-store",
    })
  }
  const isRead = request.method === "GET" || request.method === "HEAD"
  const handle = <E, R>(effect: Effect.Effect<Response, E, R>) =>
    effect.pipe(
      Effect.catchCause((cause) => Responses.fromCause(cause, id, isRead)),
      Effect.provideService(ApiError.RequestId, id),
      Effect.annotateLogs("request_id", id),
    )
  if (entrance === undefined && options.open(path))
    return HttpServerResponse.setHeaders(yield* handle(app), yield* Responses.uncountedHeaders(id))
  const address = ClientAddress.ofRequest(request, options.trustedProxies)
  return yield* entrance === undefined && options.document(path, request)
    ? documentResponse(handle(app), options, incoming, address)
    : admittedResponse(handle, app, options, incoming, address)
})

/** Responds with a public document, within the window of the client's address. */
const documentResponse = Effect.fnUntraced(function* <R>(
  app: Effect.Effect<Response, never, R>,
  { windows }: Options,
  { id, path, request }: Incoming,
  address: string,
) {
  const now_ms = yield* Clock.currentTimeMillis
  const { refusal, standing } = windows.count(address, now_ms, path)
  const response = refusal === undefined ? yield* app : Responses.respond(refusal, id)
  const bytes = request.method === "HEAD" ? 0 : lengthOf(response)
  const byteRefusal = bytes === 0 ? undefined : windows.charge(address, now_ms, bytes)
  return HttpServerResponse.setHeaders(
    byteRefusal === undefined ? response : Responses.respond(byteRefusal, id),
    Responses.requestHeaders(id, standing),
  )
})

/** Length of a response that counts as a document; a 304 or an error does not. */
const lengthOf = ({ body, status }: Response): number =>
  status === 200 && body._tag === "Uint8Array" ? body.contentLength : 0

/** Admits the request by its key or session, and runs the application on its behalf. */
const admittedResponse = Effect.fnUntraced(function* <E, R>(
  handle: <E, R>(app: Effect.Effect<Response, E, R>) => Effect.Effect<Response, never, R | Availability.Availability>,
  app: Effect.Effect<Response, E, R>,
  options: Options,
  incoming: Incoming,
  address: string,
) {
  const { budgets, maxBodyBytes } = options
  const { entrance, id, path, request } = incoming
  const authorization =
    entrance === undefined ? request.headers.authorization : entrance.door.authorization(request.headers)
  const admission = yield* Admission
  const bucket =
    entrance === undefined
      ? RequestTarget.bucketOf(request.method, path, RequestTarget.queryOf(request.url))
      : Doors.bucketOf(entrance)
  const query = { tokenHash: bearerHash(authorization), bucket, address }
  const admitting = yield* Effect.exit(Session.admitOr(request, query, admission.admit(query)))
  if (admitting._tag === "Failure")
    return HttpServerResponse.setHeaders(
      // Admission accepts nothing.
      yield* Responses.fromCause(admitting.cause, id, true),
      yield* Responses.uncountedHeaders(id),
    )
  const verdict = admitting.value
  logCall(options, incoming, verdict, address)
  const headers = {
    ...Responses.requestHeaders(id, verdict.standing),
    ...(entrance === undefined ? {} : Responses.doorHeaders(verdict.standing, yield* Clock.currentTimeMillis)),
  }
  const isTrial = entrance !== undefined && Doors.trialOf(entrance, request.headers) !== undefined
  const needsKey = !isTrial && (entrance !== undefined || isApi(path))
  const refusal =
    refusalOf(verdict, needsKey, authorization, request.headers) ??
    (bucket === "send" ? yield* InjectedFaults.take : undefined)
  if (refusal !== undefined) return HttpServerResponse.setHeaders(Responses.respond(refusal, id), headers)
  const admitted = admittedBy(verdict, address)
  const account_id = accountOf(verdict)
  const holder = account_id ?? RateWindows.clientAddress(address).bucket
  const { check } = yield* Revocations
  const readContext: Bodies.ReadContext = {
    budget: budgets.bodies,
    holder,
    readmit: (scope) =>
      admitted === undefined || account_id === undefined
        ? Effect.void
        : Effect.andThen(check({ admitted, scope }), Databases.requireHere(account_id)),
  }
  // A request without an account needs no database. A failure is handled in the account's database, which it is of.
  const run = <E, R>(work: Effect.Effect<Response, E, R>) =>
    account_id === undefined
      ? handle(work)
      : Effect.matchEffect(Databases.find(account_id), {
          onFailure: (error) => handle(Effect.fail(error)),
          onSuccess: (own) => own.run(handle(Effect.andThen(Availability.check, work))),
        })
  const handling = entrance === undefined ? run(app) : run(DoorRequests.handle(entrance, handle(app), maxBodyBytes))
  const response = yield* handling.pipe(
    Effect.provideService(Admitted, admitted),
    Effect.provideService(Bodies.ReadContext, readContext),
  )
  const overload = LargeResponses.count(budgets.answers, holder, request, response)
  const position = request.method === "GET" ? {} : yield* Position.headers(account_id, request)
  const answer =
    overload === undefined ? yield* Compression.compressed(request, path, response) : Responses.respond(overload, id)
  return HttpServerResponse.setHeaders(answer, { ...headers, ...position })
})

/** Logs a call of the API by an account. Pages and their reads are none, and a caller without a known key has no account. */
const logCall = (
  { requestLog }: Options,
  { began, entrance, id, path, request }: Incoming,
  verdict: Verdict | Session.UserAdmitted,
  address: string,
): void => {
  if (requestLog === undefined || (entrance === undefined && !isApi(path))) return
  const caller = callerOf(verdict, request)
  if (caller === undefined) return
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  const source = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
  const target = request.url
  Calls.begin(requestLog, {
    request: source,
    response,
    target,
    id,
    caller,
    address,
    began,
    body: undefined,
    answer: undefined,
    reason: null,
  })
}

const callerOf = (
  verdict: Verdict | Session.UserAdmitted,
  { method, url }: HttpServerRequest.HttpServerRequest,
): Calls.Caller | undefined => {
  if (verdict._tag !== "UserAdmitted") return verdict.key === null ? undefined : Calls.callerOf(verdict.key)
  const { account_id, user_id } = verdict.user
  const isRead = method === "GET" || method === "HEAD" || RequestTarget.isTrial(method, RequestTarget.pathOf(url))
  return isRead ? undefined : Calls.memberOf(account_id, user_id, RequestTarget.livemodeOf(url) ?? true)
}

const accountOf = (verdict: Verdict | Session.UserAdmitted): string | undefined => {
  if (verdict._tag === "UserAdmitted") return verdict.user.account_id
  return verdict._tag === "Admitted" ? verdict.key.account_id : undefined
}

const admittedBy = (verdict: Verdict | Session.UserAdmitted, address: string): Admitted | undefined => {
  if (verdict._tag === "UserAdmitted") return { user: verdict.user, session_id: verdict.session_id, address }
  return verdict._tag === "Admitted" ? { key: verdict.key, address } : undefined
}

/** Paths outside the API may be requested without a key, within the rate limit. */
const refusalOf = (
  verdict: Verdict | Session.UserAdmitted,
  needsKey: boolean,
  authorization: string | undefined,
  headers: HttpServerRequest.HttpServerRequest["headers"],
): Refusal | undefined => {
  if (verdict._tag === "RateLimited") return verdict.refusal
  if (verdict._tag !== "Unauthorized" || !needsKey) return undefined
  if (verdict.reason !== "missing") return new RequestRefusal.Unauthorized({ why: verdict.reason })
  return ForeignKeys.refuse(headers) ?? new RequestRefusal.Unauthorized({ why: whyUnread(authorization, headers) })
}

/** Returns why a request has no key that can be looked up. */
const whyUnread = (
  authorization: string | undefined,
  headers: HttpServerRequest.HttpServerRequest["headers"],
): "missing" | "elsewhere" | "unschemed" | "mistyped" | "malformed" => {
  if (authorization === undefined) return headers["x-api-key"] === undefined ? "missing" : "elsewhere"
  if (!/^bearer(?: |$)/iu.test(authorization)) return "unschemed"
  return ApiKeySecret.isWhole(authorization.replace(/^bearer +/iu, "")) ? "mistyped" : "malformed"
}

const isApi = (path: string): boolean => path === "/v1" || path.startsWith("/v1/")
