import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { RequiredScope } from "@waybill/api/Authorization"
import type { Scope } from "@waybill/domain/account/Scope"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as UnknownNames from "@waybill/api/errors/UnknownNames"
import { Validation } from "@waybill/api/errors/Validation"
import * as Violations from "@waybill/api/errors/Violations"
import { ByteSize, Context, Effect, Layer, Option, Result, Schema, type SchemaAST } from "effect"
import { HttpIncomingMessage, HttpRouter, type HttpServerError, HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { isUtf8 } from "node:buffer"
import * as HttpSettings from "../../boot/settings/HttpSettings.ts"
import * as Calls from "../../requestLog/Calls.ts"
import * as Query from "../Query.ts"
import * as Bodies from "./Bodies.ts"
import { jsonErrorIn, MAX_SEARCHED_CHARS } from "./jsonErrorIn.ts"

/** Maximum number of values in a body; three times what the largest batch needs. */
export const MAX_VALUES = 100_000
/** Maximum nesting of a body; no request of the API needs more than 6. */
export const MAX_DEPTH = 32

/** Decodes requests strictly: an unknown field is refused, because it is probably a misspelled one. */
const STRICT = { errors: "all", onExcessProperty: "error", reportInput: true } as const

/** Reads and checks query and body before any schema decodes them, and explains what a schema refuses. */
export const layer = (maxBodyBytes: number) =>
  Layer.succeed(Validation, (handler, { endpoint }) => {
    const scope = Option.getOrUndefined(Context.getOption(endpoint.annotations, RequiredScope))
    const advice =
      maxBodyBytes < HttpSettings.LARGEST_MAX_BODY_BYTES
        ? `; an operator can raise ${HttpSettings.MAX_BODY_SETTING}, up to ${formatBytes(HttpSettings.LARGEST_MAX_BODY_BYTES)}`
        : ""
    const read = endpoint.payload.size === 0 ? readNoBody(endpoint, scope, advice) : readBody(scope, advice)
    const checked = Effect.andThen(read, Effect.andThen(checkQuery(endpoint), handler))
    return explained(
      Effect.provideService(checked, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
      endpoint,
    )
  })

type Refused = RequestRefusal.NoSuchRoute | RequestRefusal.MalformedId | RequestRefusal.InvalidRequest

const explained = <A, E, R>(handler: Effect.Effect<A, E, R>, endpoint: HttpApiEndpoint.Top) =>
  Effect.catch(handler, (error): Effect.Effect<never, E | Refused, HttpRouter.Provided> =>
    HttpApiError.HttpApiSchemaError.is(error) ? explain(error, endpoint) : Effect.fail(error),
  )

export const refuse = (reason: RequestRefusal.InvalidRequest["reason"], message: string) =>
  new RequestRefusal.InvalidRequest({ reason, details: [{ path: "", message }] })

/**
 * Reads a JSON body and checks its size, depth and number of values before it is parsed. `advice` says what to do about a
 * body that is too large.
 */
export const readBody = Effect.fnUntraced(function* (scope: Scope | undefined, advice = "") {
  const request = yield* HttpServerRequest.HttpServerRequest
  const type = (request.headers["content-type"] ?? "application/json").split(";", 1)[0]?.trim() ?? ""
  if (type.toLowerCase() !== "application/json")
    return yield* refuse("unsupported_media_type", "must be sent as application/json")
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (encoding !== "identity") return yield* refuse("unsupported_media_type", "must be sent without Content-Encoding")
  // Decoders read the body again from the request's cache.
  const read = Bodies.reading(
    ({ arrayBuffer }) => Effect.catch(arrayBuffer, (error) => unreadable(error, advice)),
    scope,
  )
  const bytes = Buffer.from(yield* read)
  Calls.noteBody(NodeHttpServerRequest.toIncomingMessage(request), bytes)
  const problem = problemOf(bytes)
  if (problem !== undefined) return yield* problem
})

/** Reads the body of a request that takes none. Clients may send an empty one, or an object without fields. */
const readNoBody = Effect.fnUntraced(function* (
  endpoint: HttpApiEndpoint.Top,
  scope: Scope | undefined,
  advice: string,
) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) return
  yield* readBody(scope, advice)
  const body = yield* bodyViolations(endpoint)
  if (RequestRefusal.isInvalid(body) || body.details.length > 0) yield* refuseAll(endpoint)
})

/** Reads and decodes a JSON body outside the API. An empty one counts as an object without fields. */
export const decodedBody = Effect.fnUntraced(function* <A>(schema: Schema.Codec<A, unknown>) {
  yield* readBody(undefined)
  const sent = yield* parsedBody({})
  return yield* Effect.mapError(Schema.decodeUnknownEffect(schema, STRICT)(sent), ({ issue }) =>
    RequestRefusal.invalid(Violations.fromIssue(issue)),
  )
})

/** Returns why a body must not be parsed, if there is a reason. */
export const problemOf = (bytes: Buffer): RequestRefusal.InvalidRequest | undefined => {
  if (!isUtf8(bytes)) return refuse("malformed_json", "is not UTF-8")
  const excess = excessOf(bytes)
  return excess === undefined ? undefined : refuse("payload_too_large", excess)
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

const checkQuery = (endpoint: HttpApiEndpoint.Top) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
    Query.nameViolations(endpoint.query, url).details.length === 0 ? Effect.void : refuseAll(endpoint),
  )

/**
 * Fails with all violations of headers, query and body (contract §2), because HttpApi reports the first invalid part of a
 * request only.
 */
const refuseAll = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const { headers, method, url } = yield* HttpServerRequest.HttpServerRequest
  const { params } = yield* HttpRouter.RouteContext
  // An id of a wrong form names nothing, like an unknown one.
  const names = yield* issuesOf(endpoint.params, params)
  if (names !== undefined && Object.values(params).includes(""))
    return yield* new RequestRefusal.NoSuchRoute({ method, path: url.split("?", 1)[0] ?? url })
  if (names !== undefined) return yield* new RequestRefusal.MalformedId({ details: names.details })
  const header = yield* issuesOf(endpoint.headers, headers)
  const around = Violations.join([
    { details: header?.details.map(spell) ?? [], unknown: undefined },
    yield* Query.violations(endpoint.query, url),
  ])
  const body = yield* bodyViolations(endpoint)
  return yield* RequestRefusal.isInvalid(body)
    ? new RequestRefusal.InvalidRequest({ reason: body.reason, details: [...around.details, ...body.details] })
    : RequestRefusal.invalid(Violations.join([around, body]))
})

const issuesOf = Effect.fnUntraced(function* (
  schema: Schema.Top | undefined,
  sent: unknown,
  options: SchemaAST.ParseOptions = { errors: "all", reportInput: true },
) {
  if (schema === undefined) return undefined
  const decode = Schema.decodeUnknownEffect(schema as Schema.Codec<unknown, unknown>, options)
  const decoded = yield* Effect.result(decode(sent))
  return Result.isSuccess(decoded) ? undefined : Violations.fromIssue(decoded.failure.issue)
})

const bodyViolations = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const [payload] = endpoint.payload.values()
  const sent = yield* Effect.result(parsedBody(undefined))
  if (Result.isFailure(sent)) return sent.failure
  if (payload === undefined) return excessIn(sent.success)
  return (yield* issuesOf(payload.schemas[0], sent.success, STRICT)) ?? Violations.of([], [])
})

/** Returns the violations of a body where none is taken. */
const excessIn = (body: unknown): Violations.Violations => {
  if (body === undefined || body === null) return Violations.of([], [])
  if (typeof body !== "object" || Array.isArray(body))
    return Violations.of([], [{ path: "", message: "must be empty: this endpoint takes no fields" }])
  const names = Object.keys(body).slice(0, Violations.MAX_DETAILS)
  return Violations.of(
    names.map((name) => UnknownNames.describe("field", "", name, [])),
    [],
  )
}

/** Parses the body, which was read and checked before. */
const parsedBody = Effect.fnUntraced(function* (empty: unknown) {
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

const spell = ({ message, path }: Detail) => ({ path: path === "idempotency-key" ? "Idempotency-Key" : path, message })

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/**
 * Returns why a body is too complex to parse, if it is: ten megabytes can hold five million numbers, each of which
 * would become a violation. Scans the bytes, which is faster than parsing them.
 */
const excessOf = (bytes: Buffer): string | undefined => {
  let depth = 0
  let values = 1
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = endOfString(bytes, i)
        break
      case COMMA:
        values++
        break
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth++
        values++
        if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth--
        break
    }
    if (values > MAX_VALUES) return `holds more than ${MAX_VALUES} values`
  }
  return undefined
}

/** A quote is escaped if an odd number of backslashes precedes it. */
const endOfString = (bytes: Buffer, start: number): number => {
  for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
  return bytes.length
}
