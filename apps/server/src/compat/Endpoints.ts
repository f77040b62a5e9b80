import * as Groups from "@waybill/api/Groups"
import { Bucket } from "@waybill/api/middleware/Authorization"
import type { Scope } from "@waybill/domain/account/Scope"
import { Context } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as Authorization from "../web/Authorization.ts"

/** The group and the name of an endpoint of our own API, such as `emails.send`. */
export type Endpoint = {
  readonly [
    G in Groups.Group as G["identifier"]
  ]: `${G["identifier"]}.${HttpApiEndpoint.Identifier<HttpApiGroup.Endpoints<G>>}`
}[Groups.Group["identifier"]]

const ENDPOINTS: ReadonlyMap<string, { readonly group: string; readonly endpoint: HttpApiEndpoint.Top }> = new Map(
  Groups.GROUPS.flatMap(({ endpoints, identifier: group }) =>
    Object.values<HttpApiEndpoint.Top>(endpoints).map(
      (endpoint) => [`${group}.${endpoint.identifier}`, { group, endpoint }] as const,
    ),
  ),
)

const find = (name: Endpoint) => {
  const found = ENDPOINTS.get(name)
  if (found === undefined) throw new Error(`there is no endpoint ${name}`)
  return found
}

export const scopeOf = (name: Endpoint): Scope | undefined => Authorization.scopeOf(find(name).endpoint)

/** Returns the rate window in which an endpoint counts. */
export const bucketOf = (name: Endpoint) => Context.get(find(name).endpoint.annotations, Bucket)

/** Refuses a caller whose key may not call an endpoint, before anything of the request is read. */
export const authorize = (name: Endpoint) => {
  const { endpoint, group } = find(name)
  return Authorization.authorize(group, endpoint)
}
