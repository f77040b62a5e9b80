import { Effect } from "effect"
import { HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import * as SharedDocument from "../pages/SharedDocument.ts"

/** Smaller answers fit a packet as they are. */
export const MIN_COMPRESSED_BYTES = 1_400
/** Larger answers are sent as they are, so that they do not hold up the thread pool, which signs mail as well. */
export const MAX_COMPRESSED_BYTES = 4 * 1024 * 1024
/** Quality of Brotli that is as fast as gzip, and smaller. */
const BROTLI_QUALITY = 4

/**
 * Answers with the content of a message, or with a whole webhook call. A message may hold a secret, such as a link that sets
 * a password, beside a text that somebody else chose; the compressed size would tell that person how alike the two are
 * (BREACH). See docs/decisions/api.md, 0038.
 */
const CONFIDENTIAL = /\/msg_|\/whd_|^\/v1\/sandbox\/messages\/|^\/v1\/requests\//u

/** Whether an answer may be compressed: one to a read of the API without content. Answers with new secrets are to POST. */
const isCompressible = ({ method }: HttpServerRequest.HttpServerRequest, path: string): boolean =>
  method === "GET" && path.startsWith("/v1/") && !CONFIDENTIAL.test(path)

/** Compresses a large JSON answer if the client accepts that, outside the event loop. Event streams stay as they are. */
export const compressed = (
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  response: HttpServerResponse.HttpServerResponse,
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { body, status } = response
  if (
    status !== 200 ||
    body._tag !== "Uint8Array" ||
    body.contentType !== "application/json" ||
    !isCompressible(request, path)
  )
    return Effect.succeed(response)
  const varying = HttpServerResponse.setHeader(response, "vary", "accept-encoding")
  const encoding = SharedDocument.encodingFor(request)
  const size = body.contentLength
  if (encoding === undefined || size < MIN_COMPRESSED_BYTES || size > MAX_COMPRESSED_BYTES)
    return Effect.succeed(varying)
  return Effect.map(compress(encoding, body.body), (bytes) =>
    varying.pipe(
      HttpServerResponse.setBody(HttpBody.uint8Array(bytes, body.contentType)),
      HttpServerResponse.setHeader("content-encoding", encoding),
    ),
  )
}

const compress = (encoding: SharedDocument.Encoding, bytes: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.promise(() =>
    encoding === "gzip"
      ? promisify(gzip)(bytes)
      : promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  )
