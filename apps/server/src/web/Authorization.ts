import { Authorization, CurrentKey, FurtherScope, RequiredScope } from "@waybill/api/middleware/Authorization"
import * as ApiError from "@waybill/api/errors/ApiError"
import * as BoundKeys from "@waybill/api/BoundKeys"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as TestKeys from "@waybill/api/TestKeys"
import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import * as Livemode from "@waybill/domain/account/Livemode"
import { permits } from "@waybill/domain/account/permits"
import * as Scope from "@waybill/domain/account/Scope"
import * as Team from "@waybill/domain/account/Team"
import { type Actor, Provenance } from "@waybill/store/log/Provenance"
import { Context, Effect, Layer, Option, Result } from "effect"
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
    api_key: (handler, { endpoint, group }) =>
      Effect.flatMap(authorize(group.identifier, endpoint), ({ actor, admitted, current, scope }) =>
        Effect.updateContext(handler, (context: Context.Context<never>) => {
          const request_id = Context.get(context, ApiError.RequestId)
          return context.pipe(
            Context.add(CurrentKey, current),
            Context.add(Revocations.CurrentGrant, { admitted, scope }),
            Context.add(Provenance, provenanceOf(actor, request_id, admitted.address)),
          )
        }),
      ),
  }),
)

/** The scope that an endpoint requires; `undefined` if any key may call it. */
export const scopeOf = ({ annotations }: HttpApiEndpoint.Top): Scope.Scope | undefined =>
  Option.getOrUndefined(Context.getOption(annotations, RequiredScope))

/** Returns the caller of an endpoint; refuses one that may not call it, whatever the request contains. */
export const authorize = (group: string, endpoint: HttpApiEndpoint.Top) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
    Effect.flatMap(Admitted, (admitted) => Effect.fromResult(grantOf(admitted, group, endpoint, url))),
  )

interface Allowed {
  readonly actor: Actor
  readonly admitted: Admitted
  readonly current: CurrentKey["Service"]
  readonly scope: Scope.Scope | undefined
}

type Forbidden =
  | RequestRefusal.Unauthorized
  | Scope.MissingScope
  | KeyLimits.KeyBoundToDomain
  | TestKeys.LiveOnly
  | TestKeys.OtherMode
  | TestKeys.TestOnly

const grantOf = (
  admitted: Admitted | undefined,
  group: string,
  endpoint: HttpApiEndpoint.Top,
  url: string,
): Result.Result<Allowed, Forbidden> => {
  if (admitted === undefined) return Result.fail(new RequestRefusal.Unauthorized({ why: "missing" }))
  const { actor, current } = callerOf(admitted)
  const rule = TestKeys.ruleOf(group, endpoint.identifier)
  // Comes before the scopes, which a test key cannot have if such an endpoint requires them.
  if (rule === "live only" && !Livemode.isLive(current.account_id)) return Result.fail(new TestKeys.LiveOnly())
  const required = scopeOf(endpoint)
  const further = Context.get(endpoint.annotations, FurtherScope)
  const scope = [required, further].find((each) => each !== undefined && permits(current.scopes, each))
  if (required !== undefined && scope === undefined)
    return Result.fail(new Scope.MissingScope({ required_scope: required }))
  if (current.domain !== null && BoundKeys.ruleOf(group, endpoint.identifier) === "whole account")
    return Result.fail(new KeyLimits.KeyBoundToDomain({ bound: current.domain, subject: "endpoint" }))
  const inOwnMode = inMode(current, rule, url)
  return Result.map(inOwnMode, (current) => ({ actor, admitted, current, scope }))
}

/** Returns the caller with the account of the mode it works in: that of its key or, for a session, the requested one. */
const inMode = (
  current: CurrentKey["Service"],
  rule: TestKeys.Rule,
  url: string,
): Result.Result<CurrentKey["Service"], TestKeys.OtherMode | TestKeys.TestOnly> => {
  const isLive = Livemode.isLive(current.account_id)
  if (rule === "test only")
    return isLive && current.key_id !== null ? Result.fail(new TestKeys.TestOnly()) : Result.succeed(inTest(current))
  if (rule !== "own mode") return Result.succeed(current)
  const livemode = RequestTarget.livemodeOf(url)
  if (livemode === undefined || livemode === isLive) return Result.succeed(current)
  return current.key_id === null
    ? Result.succeed(inTest(current))
    : Result.fail(new TestKeys.OtherMode({ livemode: isLive }))
}

const inTest = (current: CurrentKey["Service"]): CurrentKey["Service"] => ({
  ...current,
  account_id: Livemode.testAccountOf(current.account_id),
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
