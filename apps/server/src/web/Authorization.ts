import { Authorization, CurrentKey, FurtherScope, RequiredScope } from "@waybill/api/Authorization"
import * as ApiError from "@waybill/api/errors/ApiError"
import * as BoundKeys from "@waybill/api/BoundKeys"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as TestKeys from "@waybill/api/TestKeys"
import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Scope from "@waybill/domain/account/Scope"
import * as Team from "@waybill/domain/account/Team"
import { type Actor, Provenance } from "@waybill/store/log/Provenance"
import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import * as Revocations from "../live/Revocations.ts"
import { Admitted } from "../requests/Admitted.ts"
import * as RequestTarget from "../requests/RequestTarget.ts"

/** Returns the provenance that the events of a request record. */
export const provenanceOf = (actor: Actor, request_id: string, address: string): Provenance => ({
  actor,
  request_id,
  correlation_id: request_id,
  causation_id: null,
  address,
})

/**
 * Checks the endpoint's scope and its rule for keys bound to a domain, and provides the caller to the handler. The
 * caller was admitted before.
 */
export const layer = Layer.succeed(
  Authorization,
  Authorization.of({
    api_key: Effect.fnUntraced(function* (handler, { endpoint, group }) {
      const { actor, admitted, current, scope } = yield* authorize(group.identifier, endpoint)
      const request_id = yield* ApiError.RequestId
      return yield* handler.pipe(
        Effect.provideService(CurrentKey, current),
        Effect.provideService(Revocations.CurrentGrant, { admitted, scope }),
        Effect.provideService(Provenance, provenanceOf(actor, request_id, admitted.address)),
      )
    }),
  }),
)

/** The scope that an endpoint requires; `undefined` if any key may call it. */
export const scopeOf = ({ annotations }: HttpApiEndpoint.Top): Scope.Scope | undefined =>
  Option.getOrUndefined(Context.getOption(annotations, RequiredScope))

/** Returns the caller of an endpoint; refuses one that may not call it, whatever the request contains. */
export const authorize = Effect.fnUntraced(function* (group: string, endpoint: HttpApiEndpoint.Top) {
  const admitted = yield* Admitted
  if (admitted === undefined) return yield* new RequestRefusal.Unauthorized({ why: "missing" })
  const { actor, current } = callerOf(admitted)
  const required = scopeOf(endpoint)
  const further = Context.get(endpoint.annotations, FurtherScope)
  const scope = [required, further].find((each) => each !== undefined && Scope.permits(current.scopes, each))
  if (required !== undefined && scope === undefined) return yield* new Scope.MissingScope({ required_scope: required })
  if (current.domain !== null && BoundKeys.ruleOf(group, endpoint.identifier) === "whole account")
    return yield* new KeyLimits.KeyBoundToDomain({ bound: current.domain, subject: "endpoint" })
  const inOwnMode = yield* inMode(current, TestKeys.ruleOf(group, endpoint.identifier))
  return { actor, admitted, current: inOwnMode, scope }
})

/** Returns the caller with the account of the mode it works in: that of its key or, for a session, the requested one. */
const inMode = Effect.fnUntraced(function* (
  current: CurrentKey["Service"],
  rule: TestKeys.Rule,
): Effect.fn.Return<
  CurrentKey["Service"],
  TestKeys.LiveOnly | TestKeys.OtherMode | TestKeys.TestOnly,
  HttpServerRequest.HttpServerRequest
> {
  const isLive = Livemode.isLive(current.account_id)
  if (rule === "live only" && !isLive) return yield* new TestKeys.LiveOnly()
  if (rule === "test only") {
    if (isLive && current.key_id !== null) return yield* new TestKeys.TestOnly()
    return { ...current, account_id: Livemode.testAccountOf(current.account_id) }
  }
  if (rule !== "own mode") return current
  const livemode = RequestTarget.livemodeOf((yield* HttpServerRequest.HttpServerRequest).url)
  if (livemode === undefined || livemode === isLive) return current
  if (current.key_id !== null) return yield* new TestKeys.OtherMode({ livemode: isLive })
  return { ...current, account_id: Livemode.testAccountOf(current.account_id) }
})

/** A user has the scopes of their role, as if they held a key with them. */
const callerOf = (admitted: Admitted): { readonly actor: Actor; readonly current: CurrentKey["Service"] } => {
  if ("user" in admitted) {
    const { account_id, role, user_id } = admitted.user
    const current = { account_id, key_id: null, scopes: Team.SCOPES[role], domain: null }
    return { actor: { type: "user", id: user_id }, current }
  }
  const { account_id, domain, id, scopes, test_clock } = admitted.key
  return { actor: { type: "api_key", id }, current: { account_id, key_id: id, scopes, domain, test_clock } }
}
