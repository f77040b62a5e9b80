import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { ByteSize, Effect, type Schema } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Responses from "../../web/Responses.ts"
import * as Validation from "../../web/Validation.ts"
import * as Query from "../../requests/Query.ts"

/** Maximum body of a request of the dashboard's own routes; the largest contains a name, an address and a plan. */
export const MAX_DASHBOARD_BODY_BYTES = 64 * 1024

/** Answers a request of one of the dashboard's own routes, once its caller is admitted. The routes take no query. */
export const json = <A, B, E extends Refusal, E2 extends Refusal, R, R2>(
  admit: Effect.Effect<B, E2, R2>,
  effect: Effect.Effect<A, E, R>,
) =>
  Effect.andThen(admit, Effect.andThen(checkQuery, effect)).pipe(
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

const checkQuery = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
  const violations = Query.nameViolations(undefined, url)
  return violations.details.length === 0 ? Effect.void : Effect.fail(RequestRefusal.invalid(violations))
})
