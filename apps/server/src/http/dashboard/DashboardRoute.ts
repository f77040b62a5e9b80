import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { ByteSize, Effect, type Schema } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Responses from "../../web/Responses.ts"
import * as Validation from "../../web/Validation.ts"
import { Admitted } from "../../requests/Admitted.ts"
import * as Query from "../../requests/Query.ts"
import * as RequestTarget from "../../requests/RequestTarget.ts"

/** Maximum body of a request of the dashboard's own routes; the largest contains a name, an address and a plan. */
export const MAX_DASHBOARD_BODY_BYTES = 64 * 1024

/** The signed-in user. A key gets a 404. */
export const user = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const admitted = yield* Admitted
  if (admitted === undefined || !("user" in admitted))
    return yield* new RequestRefusal.NoSuchRoute({ method: request.method, path: RequestTarget.pathOf(request.url) })
  return admitted.user
})

/** Answers a request of one of the dashboard's own routes, once its caller is admitted. Most routes take no query. */
export const json = <A, B, E extends Refusal, E2 extends Refusal, R, R2>(
  admit: Effect.Effect<B, E2, R2>,
  effect: Effect.Effect<A, E, R>,
  query?: Schema.Top,
) =>
  Effect.andThen(admit, Effect.andThen(checkQuery(query), effect)).pipe(
    Effect.map((body) =>
      HttpServerResponse.setHeader(HttpServerResponse.jsonUnsafe(body), "cache-control", "no-store"),
    ),
    Effect.catch(Responses.refused),
  )

export const bodyOf = <A>(schema: Schema.Codec<A, unknown>) =>
  Effect.provideService(
    Validation.decodedBody(schema),
    HttpIncomingMessage.MaxBodySize,
    ByteSize.bytes(MAX_DASHBOARD_BODY_BYTES),
  )

const checkQuery = (query: Schema.Top | undefined) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const violations = Query.nameViolations(query, url)
    return violations.details.length === 0 ? Effect.void : Effect.fail(RequestRefusal.invalid(violations))
  })
