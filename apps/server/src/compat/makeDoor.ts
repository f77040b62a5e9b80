import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Result } from "effect"
import type { Door, Params } from "./Door.ts"
import * as Native from "./Native.ts"
import * as Routes from "./Routes.ts"

/** Paths of the other service that Waybill has no meaning for. A colon matches any segment; without a method all do. */
export type Absence = readonly [path: string, message: string, method?: string]

interface Parts extends Pick<Door, "authorization" | "errorOf" | "hasUuids" | "prefix" | "routes"> {
  readonly absent: ReadonlyArray<Absence>
  /** Puts the parameters of a query in the spelling that the routes have. */
  readonly queryOf?: (query: URLSearchParams) => URLSearchParams
  readonly isTrial?: Door["isTrial"]
}

/** Makes a door of its routes. The first absence that matches refuses a request with its sentence. */
export const makeDoor = ({
  absent,
  isTrial = () => false,
  queryOf = (query) => query,
  routes,
  ...parts
}: Parts): Door => {
  const find = Routes.finder(routes)
  const absences = absent.map(([path, message, method]) => ({ pattern: path.split("/"), message, method }))
  return {
    ...parts,
    routes,
    isTrial,
    isKnown: (path) => {
      const segments = path.split("/")
      return (
        absences.some(({ pattern }) => begins(segments, pattern)) || routes.some(({ method }) => find(method, path))
      )
    },
    find: (method, path) => {
      const segments = path.split("/")
      const absence = absences.find(
        ({ method: only = method, pattern }) => only === method && begins(segments, pattern),
      )
      if (absence !== undefined) return Result.fail(Native.missing(absence.message))
      const match = find(method, path)
      return match === undefined ? Result.fail(new RequestRefusal.NoSuchRoute({ method, path })) : Result.succeed(match)
    },
    handle: (request, { params, route }) => {
      const query = queryOf(request.query)
      const refusal = Routes.refusalOfQuery(route, query)
      if (refusal !== undefined) return Effect.fail(refusal)
      return route.handle({ ...request, query, body: withoutParams(request.body, params) }, params)
    },
  }
}

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

const begins = (segments: ReadonlyArray<string>, pattern: ReadonlyArray<string>): boolean =>
  pattern.every((part, nth) => (part === ":" ? segments[nth] : part === segments[nth]))
