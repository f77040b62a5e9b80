import type { RouteRecord } from "@waybill/api/groups/InboundRoutes"
import { Effect, Schema } from "effect"
import { hash } from "node:crypto"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import * as Respelling from "../../Respelling.ts"
import { route } from "../../route.ts"
import * as Paging from "../Paging.ts"

/** Postmark's package writes the path with a capital, its documentation without one. */
const PATHS = ["/triggers/inboundRules", "/triggers/inboundrules"] as const
const ANYBODY = "*@"

/** Hexadecimal digits of a number that JSON keeps exactly. */
const ID_DIGITS = 12

/** Returns the number that Postmark has in place of an id. */
const numberOf = (id: string): number => Number.parseInt(hash("sha256", id, "hex").slice(0, ID_DIGITS), 16)

/** A rule is a route that refuses all mail of a sender, or of a domain. */
const ruleOf = ({ action, id, match }: RouteRecord) => {
  const { from, subject, to, verdict } = match
  if (action.type !== "reject" || from === null || to !== null || subject !== null || verdict !== null) return []
  return [{ ID: numberOf(id), Rule: from.startsWith(ANYBODY) ? from.slice(ANYBODY.length) : from, id }]
}

const allRules = Effect.map(Native.get<Native.List<RouteRecord>>("/v1/inbound/routes"), ({ data }) =>
  data.flatMap(ruleOf),
)

type Path = (typeof PATHS)[number]

const list = (path: Path) =>
  route(`GET ${path}`, { endpoint: "inboundRoutes.list", query: ["count", "offset"] }, function* ({ query }) {
    const { count, offset } = yield* Paging.rangeOf(query)
    const rules = yield* allRules
    const shown = rules.slice(offset, offset + count).map(({ ID, Rule }) => ({ ID, Rule }))
    return Native.ok({ TotalCount: rules.length, InboundRules: shown })
  })

const Creation = Schema.Struct({ Rule: Schema.String })

const create = (path: Path) =>
  route(`POST ${path}`, { endpoint: "inboundRoutes.create", body: Creation }, function* ({ body: { Rule }, headers }) {
    const made = yield* Native.post<RouteRecord>("/v1/inbound/routes", headers, {
      match: { from: Rule.includes("@") ? Rule : `${ANYBODY}${Rule}` },
      action: { type: "reject" },
    }).pipe(Respelling.renamed({ match: "Rule" }))
    return Native.ok({ ID: numberOf(made.id), Rule })
  })

const remove = (path: Path) =>
  route(`DELETE ${path}/:id`, "inboundRoutes.remove", function* (_, { id }) {
    const found = (yield* allRules).find(({ ID }) => String(ID) === id)
    if (found === undefined) return yield* Native.missing("There is no rule with this ID in this account.")
    yield* Native.remove(Native.path`/v1/inbound/routes/${found.id}`)
    return Native.ok({ ErrorCode: 0, Message: `Rule ${found.Rule} removed.` })
  })

export const routes: ReadonlyArray<Route> = PATHS.flatMap((path) => [list(path), create(path), remove(path)])
