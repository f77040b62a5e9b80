import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"

/** Higher qualities take seconds for a few percent. */
const BROTLI_QUALITY = 5
/** Characters of the hash; enough to tell documents apart. */
const ETAG_CHARS = 22

/** Supported encodings in the order of preference. */
const ENCODINGS = ["br", "gzip"] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The bytes of a document by encoding; uncompressed under the empty name. */
export type Forms = ReadonlyMap<string, Uint8Array>

/** A document that is the same for every client. Its bytes are kept in memory once. */
export interface SharedDocument {
  readonly contentType: string
  readonly etag: string
  readonly forms: Forms
}

/** Compresses a document once, outside the event loop. */
export const make = (text: string, contentType: string): Effect.Effect<SharedDocument> =>
  Effect.promise(async () => {
    const plain = Buffer.from(text)
    const [brotli, gzipped] = await Promise.all([
      promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
      promisify(gzip)(plain),
    ])
    return {
      contentType,
      etag: etagOf(plain),
      forms: new Map([
        ["", plain],
        ["br", brotli],
        ["gzip", gzipped],
      ]),
    }
  })

/** Makes each of several documents once, at its first request; requests that come meanwhile wait for it. */
export const once = <A>() => {
  const made = new Map<string, Effect.Effect<A>>()
  return Effect.fnUntraced(function* (name: string, make: Effect.Effect<A>) {
    const known = made.get(name) ?? (yield* Effect.cached(make))
    made.set(name, known)
    return yield* known
  })
}

export const etagOf = (text: string | Uint8Array): string =>
  `"${createHash("sha256").update(text).digest("base64url").slice(0, ETAG_CHARS)}"`

/** Sources by which a content security policy allows the inline scripts of a page, and no others. */
export const scriptHashes = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<script>([^]*?)<\/script>/gu)].map(
    ([, code = ""]) => `'sha256-${createHash("sha256").update(code).digest("base64")}'`,
  )

/** Returns the form in the preferred encoding. */
export const formFor = (request: HttpServerRequest.HttpServerRequest, forms: Forms) => {
  const encoding = encodingFor(request, (each) => forms.has(each)) ?? ""
  const headers: Record<string, string> = { vary: "accept-encoding" }
  return {
    bytes: forms.get(encoding) ?? new Uint8Array(),
    headers: encoding === "" ? headers : { ...headers, "content-encoding": encoding },
  }
}

/** Returns the preferred encoding among those that the client accepts. */
export const encodingFor = (
  { headers }: HttpServerRequest.HttpServerRequest,
  isAvailable: (encoding: Encoding) => boolean = () => true,
): Encoding | undefined => {
  const offered = headers["accept-encoding"] ?? ""
  return ENCODINGS.find((each) => isAvailable(each) && isAccepted(offered, each))
}

/** Parses Accept-Encoding, such as `gzip, deflate, br;q=0.5`; `q=0` means refused. */
const isAccepted = (offered: string, encoding: string): boolean =>
  offered.split(",").some((part) => {
    const [name = "", quality = ""] = part.trim().split(";", 2)
    return name.trim().toLowerCase() === encoding && !/^\s*q=0(?:\.0*)?\s*$/u.test(quality)
  })

/** Responds with a document, or with a 304 if the client has it already. */
export const respond = ({ contentType, etag, forms }: SharedDocument, guarded: Readonly<Record<string, string>>) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const { bytes, headers } = formFor(request, forms)
    const all = { ...guarded, ...headers, etag, "cache-control": "no-cache" }
    return request.headers["if-none-match"]?.includes(etag) === true
      ? HttpServerResponse.empty({ status: 304, headers: all })
      : HttpServerResponse.uint8Array(bytes, { contentType, headers: all })
  })
