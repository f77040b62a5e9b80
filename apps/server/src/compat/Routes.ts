import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Scope } from "@waybill/domain/account/Scope"
import type * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { Effect } from "effect"
import type { Answer, DoorRequest, DoorServices, NativeError } from "./Door.ts"

export type Params = Readonly<Record<string, string>>

/** One route of a door. */
export interface Route {
  readonly method: string
  /** A path whose segments that begin with a colon are parameters, such as `/emails/:id`. */
  readonly path: string
  /** The rate window that the route counts in; `other` by default. */
  readonly bucket?: RateLimit.Bucket
  /** The query parameters that it takes; none by default. */
  readonly query?: ReadonlyArray<string>
  /** The scope of what the route calls, if it takes a body. */
  readonly scope?: Scope
  readonly handle: (request: DoorRequest, params: Params) => Effect.Effect<Answer, Refusal | NativeError, DoorServices>
}

export interface Match {
  readonly route: Route
  readonly params: Params
}

/** Returns the first route that matches a percent-encoded path, with its decoded parameters. */
export const find = (routes: ReadonlyArray<Route>, method: string, path: string): Match | undefined => {
  const segments = path.split("/")
  for (const route of routes) {
    const params = route.method === method ? paramsOf(route.path.split("/"), segments) : undefined
    if (params !== undefined) return { route, params }
  }
  return undefined
}

/** Returns the refusal of query parameters that a route does not take, if there are any. */
export const refusalOfQuery = ({ query: known = [] }: Route, query: URLSearchParams): Refusal | undefined => {
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name))
  const details = unknown.map((path) => ({
    path,
    message: "is an unknown parameter; Waybill has no meaning for it, so leave it out",
  }))
  return unknown.length === 0 ? undefined : new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
}

const paramsOf = (pattern: ReadonlyArray<string>, segments: ReadonlyArray<string>): Params | undefined => {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [nth, part] of pattern.entries()) {
    const segment = decoded(segments[nth] ?? "")
    // A URL with a segment of dots leads to another path.
    if (part.startsWith(":") && !/^\.{0,2}$/u.test(segment)) params[part.slice(1)] = segment
    else if (part !== segment) return undefined
  }
  return params
}

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
