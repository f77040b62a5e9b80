import type * as ApiError from "@waybill/api/errors/ApiError"
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { Origin } from "../accept/Origin.ts"
import * as Bodies from "../http/middleware/Bodies.ts"
import * as RequestTarget from "../http/middleware/RequestTarget.ts"
import * as Validation from "../http/middleware/Validation.ts"
import { type Answer, type Door, type DoorRequest, NativeApi, NativeError, type NativeRequest } from "./Door.ts"
import * as Respelling from "./Respelling.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Handles an admitted request to a door by calls of `app`, Waybill's own API. */
export const handle = <R>(door: Door, app: Effect.Effect<Response, never, R>, maxBodyBytes: number) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const request = yield* HttpServerRequest.HttpServerRequest
    const path = belowPrefix(door, request.url)
    const refusal = door.refusalOf?.(request.method, path)
    if (refusal !== undefined) return yield* Effect.fail(refusal)
    const bytes = yield* bodyOf(request, door, path, maxBodyBytes)
    const doorRequest: DoorRequest = {
      method: request.method,
      path,
      query: new URLSearchParams(RequestTarget.queryOf(request.url)),
      headers: request.headers,
      body: bytes.length === 0 ? undefined : yield* parse(bytes),
    }
    // A repeated request is recognized by what the client sent, because what it is translated to may depend on the time.
    const origin = { route: `${request.method} ${door.prefix}${path}`, body: sha256(bytes) }
    const replayed: Record<string, string> = {}
    const native = Layer.succeed(NativeApi, {
      call: (nativeRequest) =>
        callNative(app, request, nativeRequest).pipe(
          Effect.tap(({ headers }) =>
            Effect.sync(() => {
              if (headers[REPLAYED] !== undefined) replayed[REPLAYED] = headers[REPLAYED]
            }),
          ),
          Effect.provide(context),
        ),
    })
    const answer = yield* door.handle(doorRequest).pipe(
      Effect.provide(native),
      Effect.provideService(Origin, origin),
      Effect.catch((error) =>
        error instanceof NativeError
          ? Effect.succeed<Answer>({ status: error.status, body: { error: error.error }, headers: error.headers })
          : Effect.fail(error),
      ),
    )
    return responseOf(answer, replayed)
  })

/** Returns an answer with further headers; one without a body is empty. */
export const responseOf = ({ body, headers, status }: Answer, more: object): Response => {
  const response =
    body === undefined ? HttpServerResponse.empty({ status }) : HttpServerResponse.jsonUnsafe(body, { status })
  return HttpServerResponse.setHeaders(response, { ...more, ...headers })
}

/** Tells that an answer repeats the one to an earlier request with the same idempotency key. */
const REPLAYED = "idempotent-replayed"

/** The encoded path, because a decoded one no longer shows which slashes separate segments. */
const belowPrefix = (door: Door, url: string): string => {
  const segments = RequestTarget.encodedPathOf(url).split("/").slice(door.prefix.split("/").length)
  return segments.map((segment) => `/${segment}`).join("")
}

/** Reads a body once, within the memory budget; calls of the own API are made from what it is translated to. */
const bodyOf = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  door: Door,
  path: string,
  maxBodyBytes: number,
) {
  const { headers, method } = request
  const isEmpty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0
  if (method === "GET" || method === "HEAD" || isEmpty) return Buffer.alloc(0)
  return yield* Effect.andThen(
    Validation.readBody(door.scopeOf(method, path)),
    Effect.map(Effect.orDie(request.arrayBuffer), (bytes) => Buffer.from(bytes)),
  ).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)))
})

const parse = (bytes: Buffer) => {
  const text = bytes.toString("utf8")
  return Effect.try({ try: () => JSON.parse(text) as unknown, catch: () => Validation.malformed(text) })
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

/** Runs a request through the own API's router. Its body is in memory already, so no budget counts it again. */
const callNative = Effect.fnUntraced(function* <R>(
  app: Effect.Effect<Response, never, R>,
  request: HttpServerRequest.HttpServerRequest,
  { body, headers, method, path }: NativeRequest,
) {
  const inner = HttpServerRequest.fromWeb(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  ).modify({ remoteAddress: request.remoteAddress })
  const response = yield* app.pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, inner),
    Effect.provideService(Bodies.ReadContext, undefined),
  )
  const answer = contentOf(response)
  if (response.status < 400) return { status: response.status, body: answer, headers: response.headers }
  const retryAfter = response.headers["retry-after"]
  const kept = retryAfter === undefined ? {} : { "retry-after": retryAfter }
  return yield* new NativeError({ status: response.status, error: (answer as ApiError.Body).error, headers: kept })
})

const contentOf = ({ body }: Response): unknown =>
  body._tag === "Uint8Array" ? (JSON.parse(Buffer.from(body.body).toString("utf8")) as unknown) : null

/** Returns an error response in the other service's shape; other responses and their headers stay as they are. */
export const inShapeOf = (door: Door, response: Response, spelling?: Respelling.Spelling): Response => {
  if (response.status < 400) return response
  const { error } = contentOf(response) as ApiError.Body
  const spelled = spelling === undefined ? error : Respelling.respell(error, spelling)
  const { body, headers, status } = door.errorOf(response.status, spelled)
  const { "content-length": _, "content-type": __, ...kept } = response.headers
  return HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe(body, { status }), { ...kept, ...headers })
}
