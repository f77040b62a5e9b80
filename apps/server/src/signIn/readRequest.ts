import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Validation from "../http/middleware/Validation.ts"
import { PATH } from "./Options.ts"
import * as Endpoints from "./Endpoints.ts"

interface AuthRequest {
  /** Path below `PATH`. */
  readonly path: string
  /** Path and query, encoded again from the decoded values. */
  readonly url: string
  readonly body: string | null
  readonly tries: Endpoints.Tries | undefined
}

/** Reads the parts of a request that the library may see: a known path, and fields that a schema has decoded. */
export const readRequest = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, oidc: boolean) {
  const { method, url } = request
  const [whole = "", search = ""] = url.split(/\?(.*)/su, 2)
  const path = whole.slice(PATH.length)
  const endpoint = Endpoints.find(method, path, oidc)
  if (endpoint === undefined) return yield* new RequestRefusal.NoSuchRoute({ method, path: whole })
  const query = yield* readQuery(endpoint, search)
  const body = endpoint.body === undefined ? null : JSON.stringify(yield* bodyOf(endpoint.body, request))
  return { path, url: `${whole}${query}`, body, tries: endpoint.tries } satisfies AuthRequest
})

const readQuery = Effect.fnUntraced(function* ({ lenient, query }: Endpoints.Endpoint, search: string) {
  const sent = [...new URLSearchParams(search)]
  const fields = Object.fromEntries(sent)
  const decoded = yield* decode("Query", query ?? Endpoints.NOTHING, fields, lenient === true ? "ignore" : "error")
  const written = new URLSearchParams(decoded as Record<string, string>).toString()
  return written === "" ? "" : `?${written}`
})

const bodyOf = Effect.fnUntraced(function* (
  schema: Schema.Codec<unknown, unknown>,
  request: HttpServerRequest.HttpServerRequest,
) {
  yield* Validation.readBody(undefined)
  const text = yield* Effect.orDie(request.text)
  const sent = yield* Effect.try({
    try: (): unknown => (text === "" ? {} : JSON.parse(text)),
    catch: Validation.notJson,
  })
  return yield* decode("Payload", schema, sent, "error")
})

const decode = (
  kind: "Payload" | "Query",
  schema: Schema.Codec<unknown, unknown>,
  sent: unknown,
  onExcessProperty: "error" | "ignore",
) =>
  Effect.mapError(Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty })(sent), ({ issue }) =>
    Validation.invalid(kind, issue),
  )
