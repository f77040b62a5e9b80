import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import type { Detail, Refusal } from "@waybill/domain/values/Refusal"
import type { RouteMatch, Params, Route } from "./Door.ts"

/** Returns what finds the first route that matches a percent-encoded path. */
export const finder = (routes: ReadonlyArray<Route>) => {
  const candidates = new Map<string, Array<{ readonly route: Route; readonly pattern: ReadonlyArray<string> }>>()
  for (const route of routes) {
    const pattern = route.path.split("/")
    const key = `${route.method} ${pattern.length}`
    candidates.set(key, [...(candidates.get(key) ?? []), { route, pattern }])
  }
  return (method: string, path: string): RouteMatch | undefined => {
    const segments = path.split("/").map(decoded)
    for (const { pattern, route } of candidates.get(`${method} ${segments.length}`) ?? []) {
      const params = paramsOf(pattern, segments)
      if (params !== undefined) return { route, params }
    }
    return undefined
  }
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
  const params: Record<string, string> = {}
  for (const [nth, part] of pattern.entries()) {
    const segment = segments[nth] ?? ""
    // A URL with a segment of dots leads to another path.
    if (part.startsWith(":") && !/^\.{0,2}$/u.test(segment)) params[part.slice(1)] = segment
    else if (part !== segment) return undefined
  }
  return params
}

const decoded = (segment: string): string => {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
