import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect } from "effect"
import type { Door, DoorRequest, Params } from "./Door.ts"
import * as Native from "./Native.ts"
import * as Routes from "./Routes.ts"

/** Paths of the other service that Waybill has no meaning for. A colon matches any segment; without a method all do. */
export type Absence = readonly [path: string, message: string, method?: string]

interface Parts extends Pick<Door, "authorization" | "errorOf" | "hasUuids" | "prefix" | "routes"> {
  readonly absent: ReadonlyArray<Absence>
  /** Puts the parameters of a query in the spelling that the routes have. */
  readonly queryOf?: (query: URLSearchParams) => URLSearchParams
  /** Whether a request has the public key of the other service with which programs only try its API. */
  readonly isTrial?: (headers: DoorRequest["headers"]) => boolean
}

/** Makes a door of its routes. The first absence that matches refuses a request with its sentence. */
export const makeDoor = ({ absent, isTrial, queryOf = (query) => query, routes, ...parts }: Parts): Door => ({
  ...parts,
  routes,
  bucketOf: (method, path) => Routes.find(routes, method, path)?.route.bucket ?? "other",
  endpointOf: (method, path) => Routes.find(routes, method, path)?.route.endpoint,
  isKnown: (path) =>
    absent.some(([each]) => begins(path, each)) || routes.some(({ method }) => Routes.find(routes, method, path)),
  refusalOf: (method, path) => {
    const found = absent.find(([each, , only]) => (only ?? method) === method && begins(path, each))
    if (found !== undefined) return Native.missing(found[1])
    return Routes.find(routes, method, path) === undefined
      ? new RequestRefusal.NoSuchRoute({ method, path })
      : undefined
  },
  trialOf: (method, path, headers) =>
    isTrial?.(headers) === true ? Routes.find(routes, method, path)?.route.trial : undefined,
  handle: (request) => {
    const { method, path } = request
    const match = Routes.find(routes, method, path)
    if (match === undefined) return Effect.fail(new RequestRefusal.NoSuchRoute({ method, path }))
    const query = queryOf(request.query)
    const refusal = Routes.refusalOfQuery(match.route, query)
    if (refusal !== undefined) return Effect.fail(refusal)
    return match.route.handle({ ...request, query, body: withoutParams(request.body, match.params) }, match.params)
  },
})

/** Leaves out of a body the ids that its path has too: several clients send their whole parameters as the body. */
const withoutParams = (body: unknown, params: Params): unknown => {
  const ids = Object.values(params).flatMap((id) => [id, Uuid.of(id)])
  if (ids.length === 0 || typeof body !== "object" || body === null || Array.isArray(body)) return body
  const isRepeated = (name: string, value: unknown) =>
    (typeof value === "string" || typeof value === "number") && ids.includes(String(value)) && isOfId(name)
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !isRepeated(name, value)))
}

/** Whether a field is named for an id. A name may be as long as the body, which is too long for a pattern with repeats. */
const isOfId = (name: string): boolean => name === "id" || ["_id", "ID", "Id"].some((end) => name.endsWith(end))

const begins = (path: string, pattern: string): boolean => {
  const segments = path.split("/")
  return pattern.split("/").every((part, nth) => (part === ":" ? segments[nth] : part === segments[nth]))
}
