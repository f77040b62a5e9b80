import { Result } from "effect"
import * as Refusal from "../values/Refusal.ts"
import type * as ApiKey from "./ApiKey.ts"
import type * as DomainName from "../values/DomainName.ts"
import * as Network from "../values/Network.ts"
import { permits } from "./permits.ts"
import type * as Scope from "./Scope.ts"
import type * as Timestamp from "../values/Timestamp.ts"

/** The domain that a key is bound to; `null` for a key without one, and for a dashboard session. */
export type BoundDomain = DomainName.DomainName | null

/** Whether a key may read and change objects of `domain`. */
export const allowsDomain = (bound: BoundDomain, domain: string): boolean => bound === null || bound === domain

/** A bound key used an object of another domain, or an endpoint for the whole account. */
export class KeyBoundToDomain extends Refusal.of("OutsideOfDomain", 403, "domain_not_allowed")<{
  readonly bound: string
  readonly subject: "thing" | "endpoint"
}> {
  override readonly message =
    this.subject === "thing"
      ? `This API key is bound to ${this.bound} and cannot use another domain.`
      : `This API key is bound to ${this.bound}, but this endpoint applies to the whole account.`
}

/** The permissions and limits of a key. */
export interface KeyLimits {
  readonly scopes: ReadonlyArray<Scope.Scope>
  readonly domain: BoundDomain
  readonly allowed_ips: ReadonlyArray<Network.Network>
  readonly expires_at: Timestamp.Timestamp | null
}

/** A key tried to create a key with more permissions than its own. */
export class ExceedsMaker extends Refusal.of("MoreThanTheKey", 403, "more_than_the_key")<{
  readonly field: "scopes" | "domain" | "allowed_ips" | "expires_at"
  readonly problem: string
}> {
  override readonly message = `An API key cannot create a key with more permissions than its own: ${this.problem}.`
  readonly details = [{ path: this.field, message: this.problem }]
}

type Limits = Omit<ApiKey.Command, "name">

/**
 * Returns the limits of the key that `maker` creates. Limits that the request leaves out are inherited from the maker.
 * Limits beyond the maker's are refused, not narrowed: the caller would rely on permissions that the new key lacks.
 */
export const limitsOfNewKey = <L extends Limits>(maker: KeyLimits, requested: L): Result.Result<L, ExceedsMaker> => {
  const refuse = (field: ExceedsMaker["field"], problem: string) => Result.fail(new ExceedsMaker({ field, problem }))
  const missing = requested.scopes.find((scope) => !permits(maker.scopes, scope))
  if (missing !== undefined) return refuse("scopes", `it lacks the scope ${missing}`)
  const domain = requested.domain ?? maker.domain
  if (maker.domain !== null && domain !== maker.domain) return refuse("domain", `it is bound to ${maker.domain}`)
  const allowed_ips = requested.allowed_ips.length === 0 ? maker.allowed_ips : requested.allowed_ips
  const outside = allowed_ips.find((network) => !Network.within(maker.allowed_ips, network))
  if (maker.allowed_ips.length > 0 && outside !== undefined)
    return refuse("allowed_ips", `it is not allowed from every address in ${outside}`)
  const expires_at = requested.expires_at ?? maker.expires_at
  if (maker.expires_at !== null && expires_at !== null && expires_at > maker.expires_at)
    return refuse("expires_at", `it expires at ${maker.expires_at}`)
  return Result.succeed({ ...requested, domain, allowed_ips, expires_at })
}
