import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Turn from "@waybill/runtime/flow/Turn"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import type { ServerResponse } from "node:http"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import * as Bodies from "../../web/Bodies.ts"
import * as Validation from "../../web/Validation.ts"
import * as Endpoints from "../Endpoints.ts"
import * as ByteLists from "./ByteLists.ts"
import * as AbsentFields from "./AbsentFields.ts"

const ENCODINGS = ["identity", "gzip"]

interface Body {
  /** The bytes as the client sent them. */
  readonly received: Buffer
  /** The bytes to be parsed. */
  readonly bytes: Buffer
}
const NONE: Body = { received: Buffer.alloc(0), bytes: Buffer.alloc(0) }

/** Reads a body once, within the memory budget; calls of the own API are made from what it is translated to. */
export const read = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  endpoint: Endpoints.Endpoint | undefined,
  maxBodyBytes: number,
) {
  const { headers, method } = request
  const isEmpty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0
  if (method === "GET" || method === "HEAD" || isEmpty) return NONE
  const scope = endpoint === undefined ? undefined : Endpoints.scopeOf(endpoint)
  const receiving = Validation.receiveBody(scope, "", ENCODINGS)
  const most = ByteSize.bytes(maxBodyBytes)
  const received = (yield* Effect.provideService(receiving, HttpIncomingMessage.MaxBodySize, most)).bytes
  yield* Turn.afterLarge(received.length)
  const bytes = ByteLists.compact(
    headers["content-encoding"] === "gzip" ? yield* unzipped(received, request, maxBodyBytes) : received,
  )
  const problem = Validation.problemOf(bytes)
  if (problem !== undefined) return yield* problem
  yield* Turn.afterLarge(bytes.length)
  return { received, bytes } satisfies Body
})

/** Decompresses a body, outside the event loop. It may become as large as one that is sent without compression. */
const unzipped = Effect.fnUntraced(function* (
  bytes: Buffer,
  request: HttpServerRequest.HttpServerRequest,
  maxBodyBytes: number,
) {
  const readContext = yield* Bodies.ReadContext
  const largest = readContext?.budget.lease(readContext.holder)
  if (largest?.take(maxBodyBytes) === false) return yield* Bodies.full
  const whole = yield* Effect.tryPromise({
    try: () => promisify(gunzip)(bytes, { maxOutputLength: maxBodyBytes }),
    catch: (cause) =>
      (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
        ? Validation.refuse("payload_too_large", `is larger than ${maxBodyBytes} bytes without its gzip`)
        : Validation.refuse("malformed_request", "is not whole gzip"),
  }).pipe(Effect.ensuring(Effect.sync(() => largest?.release())))
  const lease = readContext?.budget.lease(readContext.holder)
  if (lease?.take(whole.length) === false) return yield* Bodies.full
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  response.once("close", () => lease?.release())
  return whole
})

/** Parses a body, and leaves out what counts as absent. */
export const parse = (bytes: Buffer): Effect.Effect<unknown, RequestRefusal.InvalidRequest> => {
  const text = bytes.toString("utf8")
  try {
    return Effect.succeed(AbsentFields.withoutAbsent(JSON.parse(text)))
  } catch {
    return Effect.fail(Validation.malformed(text))
  }
}
