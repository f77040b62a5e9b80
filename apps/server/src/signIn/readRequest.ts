import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Query from "../requests/Query.ts"
import * as Validation from "../web/Validation.ts"
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
  const whole = url.split("?", 1)[0] ?? ""
  const path = whole.slice(PATH.length)
  const endpoint = Endpoints.find(method, path, oidc)
  if (endpoint === undefined) return yield* new RequestRefusal.NoSuchRoute({ method, path: whole })
  const query = yield* readQuery(endpoint, url)
  const body = endpoint.body === undefined ? null : JSON.stringify(yield* Validation.decodedBody(endpoint.body))
  return { path, url: `${whole}${query}`, body, tries: endpoint.tries } satisfies AuthRequest
})

const readQuery = Effect.fnUntraced(function* (endpoint: Endpoints.Endpoint, url: string) {
  const { lenient, query } = endpoint
  const violations = lenient === true ? undefined : yield* Query.violations(query, url)
  if (violations !== undefined && violations.details.length > 0) return yield* RequestRefusal.invalid(violations)
  const [, search = ""] = url.split(/\?(.*)/su, 2)
  const fields = Object.fromEntries(new URLSearchParams(search))
  const decoded = yield* Effect.mapError(
    Schema.decodeUnknownEffect(query ?? Endpoints.NOTHING, { errors: "all" })(fields),
    ({ issue }) => RequestRefusal.invalid(Violations.fromIssue(issue)),
  )
  const written = new URLSearchParams(decoded as Record<string, string>).toString()
  return written === "" ? "" : `?${written}`
})
