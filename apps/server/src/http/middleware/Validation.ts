import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { RequiredScope } from "@waybill/api/Authorization"
import type { Scope } from "@waybill/domain/account/Scope"
import type { Detail } from "@waybill/domain/values/Refusal"
import { Validation } from "@waybill/api/errors/Validation"
import * as Violations from "@waybill/api/errors/Violations"
import { ByteSize, Context, Effect, Layer, Option, Result, Schema, type SchemaIssue } from "effect"
import { HttpIncomingMessage, type HttpServerError, HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { isUtf8 } from "node:buffer"
import * as Bodies from "./Bodies.ts"

/** Maximum number of values in a body; three times what the largest batch needs. */
export const MAX_VALUES = 100_000
/** Maximum nesting of a body; no request of the API needs more than 6. */
export const MAX_DEPTH = 32

/** Reads and checks bodies before any schema decodes them, and explains what a schema refuses. */
export const layer = (maxBodyBytes: number) =>
  Layer.succeed(Validation, (handler, { endpoint }) => {
    const checked =
      endpoint.payload.size === 0
        ? handler
        : Effect.andThen(
            readBody(Option.getOrUndefined(Context.getOption(endpoint.annotations, RequiredScope))),
            handler,
          ).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)))
    return explained(checked, endpoint)
  })

type Refused = RequestRefusal.NoSuchRoute | RequestRefusal.InvalidRequest

const explained = <A, E, R>(handler: Effect.Effect<A, E, R>, endpoint: HttpApiEndpoint.Top) =>
  Effect.catch(handler, (error): Effect.Effect<never, E | Refused, HttpServerRequest.HttpServerRequest> =>
    HttpApiError.HttpApiSchemaError.is(error) ? explain(error, endpoint) : Effect.fail(error),
  )

const refuse = (reason: RequestRefusal.InvalidRequest["reason"], message: string) =>
  new RequestRefusal.InvalidRequest({ reason, details: [{ path: "", message }] })

/** Reads a JSON body and checks its size, depth and number of values before it is parsed. */
export const readBody = Effect.fnUntraced(function* (scope: Scope | undefined) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const type = (request.headers["content-type"] ?? "application/json").split(";", 1)[0]?.trim() ?? ""
  if (type.toLowerCase() !== "application/json")
    return yield* refuse("unsupported_media_type", "must be sent as application/json")
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (encoding !== "identity") return yield* refuse("unsupported_media_type", "must be sent without Content-Encoding")
  // Decoders read the body again from the request's cache.
  const read = Bodies.reading(({ arrayBuffer }) => Effect.catch(arrayBuffer, (error) => unreadable(error)), scope)
  const bytes = Buffer.from(yield* read)
  const problem = problemOf(bytes)
  if (problem !== undefined) return yield* problem
})

/** Returns why a body must not be parsed, if there is a reason. */
export const problemOf = (bytes: Buffer): RequestRefusal.InvalidRequest | undefined => {
  if (!isUtf8(bytes)) return refuse("malformed_json", "is not UTF-8")
  const excess = excessOf(bytes)
  return excess === undefined ? undefined : refuse("payload_too_large", excess)
}

const unreadable = (error: HttpServerError.HttpServerError) =>
  error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
    ? refuse("payload_too_large", "is larger than this service accepts")
    : refuse("malformed_request", "ended before it was complete")

const explain = (
  error: HttpApiError.HttpApiSchemaError,
  endpoint: HttpApiEndpoint.Top,
): Effect.Effect<never, Refused, HttpServerRequest.HttpServerRequest> => {
  switch (error.kind) {
    case "Params":
      // An id of a wrong form matches nothing, like any unknown path.
      return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) =>
        Effect.fail(new RequestRefusal.NoSuchRoute({ method, path: url.split("?", 1)[0] ?? url })),
      )
    case "Body":
    case "ResponseHeaders":
      return Effect.die(error)
    case "Headers":
      return Effect.flatMap(bodyViolations(endpoint), (body) =>
        Effect.fail(together(invalid("Headers", error.cause.issue), body)),
      )
    default:
      return Effect.fail(
        // Only an error of JSON.parse concerns the whole body without an expected type.
        error.kind === "Payload" && error.cause.issue._tag === "InvalidValue"
          ? notJson()
          : invalid(error.kind, error.cause.issue),
      )
  }
}

/**
 * Returns the violations of the body. HttpApi reports the first invalid part of a request only, and checks headers
 * before the body.
 */
const bodyViolations = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const [payload] = endpoint.payload.values()
  if (payload === undefined) return undefined
  const text = yield* Effect.orDie(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.text))
  const schema: Schema.Top = payload.schemas[0]
  const decode = Schema.decodeUnknownEffect(schema as Schema.Codec<unknown, unknown>, { errors: "all" })
  try {
    const decoded = yield* Effect.result(decode(text === "" ? undefined : JSON.parse(text)))
    return Result.isSuccess(decoded) ? undefined : invalid("Payload", decoded.failure.issue)
  } catch {
    return notJson()
  }
})

/** Joins the violations of headers and body; the API reports all at once (contract §2). */
export const together = (
  headers: RequestRefusal.InvalidRequest,
  body: RequestRefusal.InvalidRequest | undefined,
): RequestRefusal.InvalidRequest =>
  body === undefined
    ? headers
    : new RequestRefusal.InvalidRequest({ reason: body.reason, details: [...headers.details, ...body.details] })

export const notJson = (): RequestRefusal.InvalidRequest => refuse("malformed_json", "is not valid JSON")

export const invalid = (
  kind: HttpApiError.HttpApiSchemaError["kind"],
  issue: SchemaIssue.Issue,
): RequestRefusal.InvalidRequest => {
  const details = Violations.fromIssue(issue)
  return new RequestRefusal.InvalidRequest({
    reason: "validation_failed",
    details: kind === "Headers" ? details.map(spell) : details,
  })
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
