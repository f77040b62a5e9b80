import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { RequiredScope } from "@waybill/api/middleware/Authorization"
import type { Scope } from "@waybill/domain/account/Scope"
import * as Turn from "@waybill/runtime/flow/Turn"
import type { Detail } from "@waybill/domain/values/Refusal"
import { decodeStrictly } from "@waybill/api/errors/decodeStrictly"
import * as Excess from "@waybill/api/errors/Excess"
import * as UnknownNames from "@waybill/api/errors/UnknownNames"
import { Validation } from "@waybill/api/middleware/Validation"
import * as Violations from "@waybill/api/errors/Violations"
import { ByteSize, Context, Effect, Layer, Option, Result, Schema } from "effect"
import { HttpIncomingMessage, HttpRouter, type HttpServerError, HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { Availability } from "@waybill/store/availability/Availability"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as HttpSettings from "../settings/HttpSettings.ts"
import * as Calls from "../requestLog/Calls.ts"
import * as KnownRoutes from "../requests/KnownRoutes.ts"
import * as Query from "../requests/Query.ts"
import * as Bodies from "./Bodies.ts"
import * as BodyScan from "../requests/BodyScan.ts"
import type { HeldRequest } from "./HeldRequest.ts"
import { jsonErrorIn, MAX_SEARCHED_CHARS } from "./jsonErrorIn.ts"
import * as Responses from "./Responses.ts"
import * as RequestTarget from "../requests/RequestTarget.ts"

/** Reads and checks query and body before any schema decodes them, and explains what a schema refuses. */
export const layer = (maxBodyBytes: number) =>
  Layer.effect(
    Validation,
    Effect.map(Availability, (availability) => (handler, { endpoint }) => {
      const scope = Option.getOrUndefined(Context.getOption(endpoint.annotations, RequiredScope))
      const advice =
        maxBodyBytes < HttpSettings.LARGEST_MAX_BODY_BYTES
          ? `; an operator can raise ${HttpSettings.MAX_BODY_SETTING}, up to ${formatBytes(HttpSettings.LARGEST_MAX_BODY_BYTES)}`
          : ""
      const read = endpoint.payload.size === 0 ? readNoBody : readPayload
      const checked = explained(withQuery(endpoint, handler), endpoint, availability)
      const handled = Effect.flatMap(read(endpoint, scope, advice), (request) => inRequest(request, checked))
      return handled.pipe(
        // Errors of endpoints have no `Allow` header.
        Effect.catchTag("NoSuchRoute", Responses.refused),
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
      )
    }),
  )

const inRequest = <A, E, R>(request: HttpServerRequest.HttpServerRequest, work: Effect.Effect<A, E, R>) =>
  Effect.provideService(work, HttpServerRequest.HttpServerRequest, request)

type Refused = RequestRefusal.NoSuchRoute | RequestRefusal.MalformedId | RequestRefusal.InvalidRequest
type Unavailable = StoreUnavailable | RequestRefusal.InternalError

/** Explains what a schema refuses, and says what a store that cannot be used means for the request. */
const explained = <A, E, R>(
  handler: Effect.Effect<A, E, R>,
  endpoint: HttpApiEndpoint.Top,
  availability: Availability["Service"],
) =>
  Effect.catch(handler, (error): Effect.Effect<never, E | Refused | Unavailable, HttpRouter.Provided> => {
    if (error instanceof StoreUnavailable)
      return Effect.flatMap(Responses.ofUnavailable(error, endpoint.method === "GET"), Effect.fail).pipe(
        Effect.provideService(Availability, availability),
      )
    return HttpApiError.HttpApiSchemaError.is(error) ? explain(error, endpoint) : Effect.fail(error)
  })

export const refuse = (reason: RequestRefusal.InvalidRequest["reason"], message: string) =>
  new RequestRefusal.InvalidRequest({ reason, details: [{ path: "", message }] })

/**
 * Reads a JSON body and checks its size, depth and number of values before it is parsed. `advice` says what to do about a
 * body that is too large. Returns the request with its body.
 */
export const readBody = Effect.fnUntraced(function* (scope: Scope | undefined, advice = "") {
  const held = yield* receiveBody(scope, advice)
  const problem = problemOf(held.bytes)
  if (problem !== undefined) return yield* problem
  yield* Turn.afterLarge(held.bytes.length)
  return held
})

/** Reads the bytes of a JSON body, in one of some encodings, and checks nothing of what they say. */
export const receiveBody = Effect.fnUntraced(function* (
  scope: Scope | undefined,
  advice: string,
  encodings: ReadonlyArray<string> = ["identity"],
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const type = (request.headers["content-type"] ?? "application/json").split(";", 1)[0]?.trim() ?? ""
  if (type.toLowerCase() !== "application/json")
    return yield* refuse("unsupported_media_type", "must be sent as application/json")
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (!encodings.includes(encoding))
    return yield* refuse(
      "unsupported_media_type",
      encodings.length === 1
        ? "must be sent without Content-Encoding"
        : `must be sent with the Content-Encoding ${encodings.join(" or ")}`,
    )
  const held = yield* Effect.catchTag(Bodies.read(scope), "HttpServerError", (error) => unreadable(error, advice))
  Calls.noteBody(held.source, held.bytes)
  return held
})

/**
 * Reads the body of an endpoint. One with an unknown field, or with more items or fields than are allowed, is refused before it
 * is decoded, so that the decoder of the endpoint is a compiled one: those that look for unknown fields are interpreted.
 */
const readPayload = (endpoint: HttpApiEndpoint.Top, scope: Scope | undefined, advice: string) =>
  Effect.flatMap(readBody(scope, advice), (held) =>
    fits(endpoint, held)
      ? Effect.as(Turn.afterLarge(held.bytes.length), held)
      : inRequest(held, Effect.as(refuseAll(endpoint), held)),
  )

/** Whether nothing in a body is too much for its schema. A text that is not JSON is left to the decoder. */
const fits = (endpoint: HttpApiEndpoint.Top, { body }: HeldRequest): boolean => {
  const [payload] = endpoint.payload.values()
  const schema = payload?.schemas[0]
  try {
    return (
      schema === undefined ||
      Excess.isChecked(schema) ||
      body === "" ||
      !Excess.bound(schema, JSON.parse(body)).isExceeded
    )
  } catch {
    return true
  }
}

/** Reads the body of a request that takes none. Clients may send an empty one, or an object without fields. */
const readNoBody = Effect.fnUntraced(function* (
  endpoint: HttpApiEndpoint.Top,
  scope: Scope | undefined,
  advice: string,
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { headers } = request
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) return request
  const held = yield* readBody(scope, advice)
  const body = yield* inRequest(held, bodyViolations(endpoint))
  if (RequestRefusal.isInvalid(body) || !Violations.isNone(body)) yield* inRequest(held, refuseAll(endpoint))
  return held
})

/** Reads and decodes a JSON body outside the API. An empty one counts as an object without fields. */
export const decodedBody = Effect.fnUntraced(function* <A>(schema: Schema.Codec<A, unknown>) {
  const held = yield* readBody(undefined)
  return yield* Effect.mapError(decodeStrictly(schema)(yield* inRequest(held, parsedBody({}))), RequestRefusal.invalid)
})

/** Returns the refusal of a body that must not be parsed. */
export const problemOf = (bytes: Buffer): RequestRefusal.InvalidRequest | undefined => {
  const { problem } = BodyScan.scan(bytes)
  return problem === undefined ? undefined : refuse(problem.reason, problem.message)
}

const unreadable = Effect.fnUntraced(function* (error: HttpServerError.HttpServerError, advice: string) {
  if (error.reason._tag !== "RequestParseError" || error.reason.reason !== "BodyTooLarge")
    return yield* refuse("malformed_request", "ended before it was complete")
  const limit = yield* HttpIncomingMessage.MaxBodySize
  const most = limit === undefined ? "this service accepts" : formatBytes(ByteSize.toNumberUnsafe(limit))
  return yield* refuse("payload_too_large", `is larger than ${most}${advice}`)
})

/** Writes a size such as `10485760 bytes (10 MiB)`. */
const formatBytes = (bytes: number): string =>
  bytes % MIB === 0 ? `${bytes} bytes (${bytes / MIB} MiB)` : `${bytes} bytes`

const MIB = 1024 * 1024

const explain = (
  error: HttpApiError.HttpApiSchemaError,
  endpoint: HttpApiEndpoint.Top,
): Effect.Effect<never, Refused, HttpRouter.Provided> =>
  error.kind === "Body" || error.kind === "ResponseHeaders" ? Effect.die(error) : refuseAll(endpoint)

/** Refuses unknown parameters, and gives the others to the handler. */
const withQuery = <A, E, R>(endpoint: HttpApiEndpoint.Top, handler: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ url }): Effect.Effect<A, E | Refused, R | HttpRouter.Provided> => {
      if (Query.nameViolations(endpoint.query, url).details.length > 0) return refuseAll(endpoint)
      const pairs = Query.pairsOf(url)
      if (pairs === undefined) return handler
      const withPairs = (params: HttpServerRequest.ParsedSearchParams["Service"]) => ({
        ...params,
        [Query.PAIRS]: [...pairs],
      })
      return Effect.updateService(handler, HttpServerRequest.ParsedSearchParams, withPairs)
    },
  )

/**
 * Fails with all violations of headers, query and body, because HttpApi reports the first invalid part of a
 * request only.
 */
const refuseAll = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const { headers, method, url } = yield* HttpServerRequest.HttpServerRequest
  const { params } = yield* HttpRouter.RouteContext
  // An id of a wrong form names nothing, like an unknown one.
  const names = yield* violationsOf(endpoint.params, params)
  const path = RequestTarget.pathOf(url)
  // `/v1/email/send` is no id of an email.
  if (!Violations.isNone(names) && (Object.values(params).includes("") || KnownRoutes.isFixed(path)))
    return yield* KnownRoutes.refuse(method, path)
  if (!Violations.isNone(names)) return yield* new RequestRefusal.MalformedId({ details: names.details })
  const header = yield* violationsOf(endpoint.headers, headers)
  const around = Violations.join([
    { ...header, details: header.details.map(spell) },
    yield* Query.violations(endpoint.query, url),
  ])
  const body = yield* bodyViolations(endpoint)
  return yield* RequestRefusal.isInvalid(body)
    ? new RequestRefusal.InvalidRequest({
        ...around,
        reason: body.reason,
        details: [...around.details, ...body.details],
      })
    : RequestRefusal.invalid(Violations.join([around, body]))
})

const violationsOf = Effect.fnUntraced(function* (schema: Schema.Top | undefined, sent: unknown) {
  if (schema === undefined) return Violations.NONE
  const decode = Schema.decodeUnknownEffect(schema as Schema.Codec<unknown, unknown>, {
    errors: "all",
    reportInput: true,
  })
  const decoded = yield* Effect.result(decode(sent))
  return Result.isSuccess(decoded) ? Violations.NONE : Violations.fromIssue(decoded.failure.issue)
})

const bodyViolations = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const [payload] = endpoint.payload.values()
  const sent = yield* Effect.result(parsedBody(undefined))
  if (Result.isFailure(sent)) return sent.failure
  if (payload === undefined) return excessIn(sent.success)
  const decode = decodeStrictly(payload.schemas[0] as Schema.Codec<unknown, unknown>)
  return yield* Effect.match(decode(sent.success), {
    onFailure: (violations) => (sent.success === undefined ? emptyBody(violations) : violations),
    onSuccess: () => Violations.NONE,
  })
})

const emptyBody = ({ details }: Violations.Violations): Violations.Violations =>
  Violations.of(
    [],
    details.map(({ message, path }) => ({ path, message: `is empty; it ${message}` })),
  )

/** Returns the violations of a body where none is taken. */
const excessIn = (body: unknown): Violations.Violations => {
  if (body === undefined || body === null) return Violations.NONE
  if (typeof body !== "object" || Array.isArray(body))
    return Violations.of([], [{ path: "", message: "must be empty: this endpoint takes no fields" }])
  const names = Object.keys(body)
  const listed = names.slice(0, Violations.MAX_DETAILS)
  return Violations.of(
    listed.map((name) => UnknownNames.describe("field", "", name, [])),
    [],
    names.length - listed.length,
  )
}

/** Parses the body, which was read and checked before. */
const parsedBody = Effect.fnUntraced(function* (empty: unknown) {
  // The request keeps what was read, so that a second read cannot fail.
  const text = yield* Effect.orDie(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.text))
  return yield* Effect.try({
    try: (): unknown => (text === "" ? empty : JSON.parse(text)),
    catch: () => malformed(text),
  })
})

/** Refuses a body that is not JSON. Its content may be confidential, so the error names only the place. */
export const malformed = (text: string): RequestRefusal.InvalidRequest => {
  const error = jsonErrorIn(text)
  const where =
    error === undefined
      ? `; the error is after the first ${MAX_SEARCHED_CHARS} characters`
      : `: line ${error.line}, column ${error.column} should have ${error.expected}`
  return refuse("malformed_json", `is not valid JSON${where}`)
}

const spell = (detail: Detail) => (detail.path === "idempotency-key" ? { ...detail, path: "Idempotency-Key" } : detail)
