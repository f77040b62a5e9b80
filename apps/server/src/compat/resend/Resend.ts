import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect } from "effect"
import type { Door } from "../Door.ts"
import * as Routes from "../Routes.ts"
import * as Absent from "./Absent.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Attachments from "./Attachments.ts"
import * as Domains from "./Domains.ts"
import * as Emails from "./Emails.ts"
import { errorOf } from "./errorOf.ts"
import * as Suppressions from "./Suppressions.ts"
import * as Usage from "./Usage.ts"
import * as Webhooks from "./Webhooks.ts"

const ROUTES: ReadonlyArray<Routes.Route> = [
  ...Emails.routes,
  ...Attachments.routes,
  ...Domains.routes,
  ...ApiKeys.routes,
  ...Webhooks.routes,
  ...Suppressions.routes,
  ...Usage.routes,
]

/** The API of Resend, as the npm package `resend` calls it. */
export const door: Door = {
  prefix: "/compat/resend",
  authorization: ({ authorization }) => authorization,
  plainSend: Emails.plainSend,
  bucketOf: (method, path) => Routes.find(ROUTES, method, below(path))?.route.bucket ?? "other",
  scopeOf: (method, path) => Routes.find(ROUTES, method, path)?.route.scope,
  refusalOf: Absent.refusalOf,
  handle: (request) => {
    const match = Routes.find(ROUTES, request.method, request.path)
    if (match === undefined)
      return Effect.fail(new RequestRefusal.NoSuchRoute({ method: request.method, path: request.path }))
    const refusal = Routes.refusalOfQuery(match.route, request.query)
    return refusal === undefined ? match.route.handle(request, match.params) : Effect.fail(refusal)
  },
  errorOf,
}

const below = (path: string): string => path.slice(door.prefix.length)
