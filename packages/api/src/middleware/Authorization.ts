import type * as DomainName from "@waybill/domain/values/DomainName"
import type * as Id from "@waybill/domain/values/Id"
import type * as RateLimit from "@waybill/domain/account/RateLimit"
import type * as Scope from "@waybill/domain/account/Scope"
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"

/** The caller and its account. */
export class CurrentKey extends Context.Service<
  CurrentKey,
  {
    readonly account_id: Id.AccountId
    /** `null` in a dashboard session. */
    readonly key_id: Id.ApiKeyId | null
    readonly scopes: ReadonlyArray<Scope.Scope>
    /** The domain that the key is bound to; `null` if it is not bound. */
    readonly domain: DomainName.DomainName | null
    /** The test clock that the mail of a test key lives on. */
    readonly test_clock?: Id.TestClockId | undefined
  }
>()("@waybill/api/middleware/Authorization/CurrentKey") {}

/** The scope that an endpoint requires. Without it, any valid key may call the endpoint. */
export class RequiredScope extends Context.Service<RequiredScope, Scope.Scope>()(
  "@waybill/api/middleware/Authorization/RequiredScope",
) {}

/** A scope that suffices in place of the required one. */
export const FurtherScope = Context.Reference<Scope.Scope | undefined>(
  "@waybill/api/middleware/Authorization/FurtherScope",
  {
    defaultValue: () => undefined,
  },
)

/** The rate window in which an endpoint counts. */
export const Bucket = Context.Reference<RateLimit.Bucket>("@waybill/api/middleware/Authorization/Bucket", {
  defaultValue: () => "other",
})

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotateMerge(
    OpenApi.annotations({
      description: "`Authorization: Bearer <API key>`. Keep keys out of browsers and out of version control.",
    }),
  ),
)

export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentKey }>()(
  "@waybill/api/middleware/Authorization",
  {
    security: { api_key: bearer },
    error: [ApiError.Unauthorized, ApiError.RateLimited, ApiError.Forbidden],
    requiredForClient: true,
  },
) {}
