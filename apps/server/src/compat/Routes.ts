import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import type { Detail, Refusal } from "@waybill/domain/values/Refusal"
import type { Params, Route } from "./Door.ts"

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

/** Returns the refusal of query parameters that a route does not take, or not so often, if there are any. */
export const refusalOfQuery = (
  { lists = [], query: known = [] }: Route,
  query: URLSearchParams,
): Refusal | undefined => {
  const details: Array<Detail> = []
  const seen = new Set<string>()
  for (const path of query.keys()) {
    if (details.length === Violations.MAX_DETAILS) break
    if (!known.includes(path)) details.push({ path, message: UNKNOWN })
    else if (seen.has(path) && !lists.includes(path)) details.push({ path, message: "must be given once" })
    seen.add(path)
  }
  return details.length === 0 ? undefined : new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
}

const UNKNOWN = "is an unknown parameter; Waybill has no meaning for it, so leave it out"

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
