import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect } from "effect"
import type { Door } from "./Door.ts"
import * as Native from "./Native.ts"
import * as Routes from "./Routes.ts"

/** Paths of the other service that Waybill has no meaning for. A colon matches any segment; without a method all do. */
export type Absence = readonly [path: string, message: string, method?: string]

interface Parts extends Pick<Door, "authorization" | "errorOf" | "plainSend" | "prefix"> {
  readonly routes: ReadonlyArray<Routes.Route>
  readonly absent: ReadonlyArray<Absence>
}

/** Makes a door of its routes. The first absence that matches refuses a request with its sentence. */
export const makeDoor = ({ absent, routes, ...parts }: Parts): Door => ({
  ...parts,
  bucketOf: (method, path) => Routes.find(routes, method, path.slice(parts.prefix.length))?.route.bucket ?? "other",
  scopeOf: (method, path) => Routes.find(routes, method, path)?.route.scope,
  refusalOf: (method, path) => {
    const segments = path.split("/")
    const found = absent.find(
      ([each, , only]) =>
        (only ?? method) === method &&
        each.split("/").every((part, nth) => (part === ":" ? segments[nth] : part === segments[nth])),
    )
    return found === undefined ? undefined : Native.missing(found[1])
  },
  handle: (request) => {
    const match = Routes.find(routes, request.method, request.path)
    if (match === undefined)
      return Effect.fail(new RequestRefusal.NoSuchRoute({ method: request.method, path: request.path }))
    const refusal = Routes.refusalOfQuery(match.route, request.query)
    return refusal === undefined ? match.route.handle(request, match.params) : Effect.fail(refusal)
  },
})
