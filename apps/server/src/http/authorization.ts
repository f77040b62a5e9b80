import { Authorization, CurrentKey, RequiredScope } from "@waybill/api/Authorization"
import * as ApiError from "@waybill/api/ApiError"
import { Unauthorized } from "@waybill/api/RequestRefusal"
import * as Scope from "@waybill/domain/Scope"
import { type Actor, Provenance } from "@waybill/store/Provenance"
import { Context, Effect, Layer, Option } from "effect"
import { Admitted } from "./Admitted.ts"

/** Whose doing it is that a request asks for. */
export const provenanceOf = (actor: Actor, request_id: string, address: string): Provenance => ({
  actor,
  request_id,
  correlation_id: request_id,
  causation_id: null,
  address,
})

/** The edge has let the key in; here it is asked for the endpoint's scope, and its name goes into every event. */
export const AuthorizationLive = Layer.succeed(
  Authorization,
  Authorization.of({
    api_key: Effect.fnUntraced(function* (handler, { endpoint }) {
      const admitted = yield* Admitted
      if (admitted === undefined) return yield* new Unauthorized({ why: "missing" })
      const { address, key } = admitted
      const required = Context.getOption(endpoint.annotations, RequiredScope)
      if (Option.isSome(required) && !Scope.permits(key.scopes, required.value))
        return yield* new Scope.MissingScope({ required_scope: required.value })
      const request_id = yield* ApiError.RequestId
      return yield* handler.pipe(
        Effect.provideService(CurrentKey, {
          account_id: key.account_id,
          key_id: key.id,
          scopes: key.scopes,
          domain: key.domain,
        }),
        Effect.provideService(Provenance, provenanceOf({ type: "api_key", id: key.id }, request_id, address)),
      )
    }),
  }),
)
