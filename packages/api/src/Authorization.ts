import type * as DomainName from "@waybill/domain/DomainName"
import type * as Id from "@waybill/domain/Id"
import type * as RateLimit from "@waybill/domain/RateLimit"
import type * as Scope from "@waybill/domain/Scope"
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import * as ApiError from "./ApiError.ts"

/** Who is asking, and for which account. */
export class CurrentKey extends Context.Service<
  CurrentKey,
  {
    readonly account_id: Id.AccountId
    /** `null` in a session of the dashboard. */
    readonly key_id: Id.ApiKeyId | null
    readonly scopes: ReadonlyArray<Scope.Scope>
    /** The one domain that the key is bound to. */
    readonly domain: DomainName.DomainName | null
  }
>()("@waybill/api/CurrentKey") {}

/** The scope an endpoint asks for. One without it takes any valid key. */
export class RequiredScope extends Context.Service<RequiredScope, Scope.Scope>()("@waybill/api/RequiredScope") {}

/** The rate window an endpoint counts in; `other` where nothing is said. */
export const Bucket = Context.Reference<RateLimit.Bucket>("@waybill/api/Bucket", { defaultValue: () => "other" })

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotateMerge(
    OpenApi.annotations({
      description: "`Authorization: Bearer <API key>`. Keep keys out of browsers and out of version control.",
    }),
  ),
)

export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentKey }>()(
  "@waybill/api/Authorization",
  {
    security: { api_key: bearer },
    error: [ApiError.Unauthorized, ApiError.RateLimited, ApiError.Forbidden],
    requiredForClient: true,
  },
) {}
