import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect } from "effect"
import type { Door } from "../Door.ts"
import * as Routes from "../Routes.ts"
import * as Emails from "./Emails.ts"
import { errorOf } from "./errorOf.ts"

const ROUTES: ReadonlyArray<Routes.Route> = [...Emails.routes]

/** The API of Resend, as the npm package `resend` calls it. */
export const door: Door = {
  prefix: "/compat/resend",
  authorization: ({ authorization }) => authorization,
  bucketOf: (method, path) => Routes.find(ROUTES, method, below(path))?.route.bucket ?? "other",
  scopeOf: (method, path) => Routes.find(ROUTES, method, path)?.route.scope,
  handle: (request) => {
    const match = Routes.find(ROUTES, request.method, request.path)
    return match === undefined
      ? Effect.fail(new RequestRefusal.NoSuchRoute({ method: request.method, path: request.path }))
      : match.route.handle(request, match.params)
  },
  errorOf,
}

const below = (path: string): string => path.slice(door.prefix.length)
