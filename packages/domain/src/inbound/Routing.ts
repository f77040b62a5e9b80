import type * as Address from "../values/Address.ts"
import type * as Id from "../values/Id.ts"
import type { Applied, Forwarded, InboundStatus, SenderVerdict } from "./InboundState.ts"
import * as RoutePattern from "./RoutePattern.ts"
import type { Match, RouteSettings } from "./RouteState.ts"

/** Facts of a mail that routes ask for. */
export interface Facts {
  readonly to: ReadonlyArray<string>
  readonly from: string
  readonly subject: string
  readonly verdict: SenderVerdict
}

/** A route of the account. */
export interface Candidate extends RouteSettings {
  readonly route_id: Id.InboundRouteId
}

/** A route, whether it applies to a mail, and why. */
export interface Choice {
  readonly route: Candidate
  readonly applies: boolean
  /** Continues the sentence "The route applies because" or "does not apply because". */
  readonly reason: string
}

/** Returns the routes in the order in which they are tried. */
export const inOrder = <A extends Candidate>(routes: ReadonlyArray<A>): ReadonlyArray<A> =>
  routes.toSorted((a, b) => a.position - b.position || (a.route_id < b.route_id ? -1 : 1))

/**
 * Chooses the routes that apply to a mail: all that match, in order, until one stops. A route that refuses or drops the
 * mail ends the choice too.
 */
export const choose = (routes: ReadonlyArray<Candidate>, facts: Facts): ReadonlyArray<Choice> => {
  let ended: string | undefined
  return inOrder(routes).map((route): Choice => {
    if (!route.enabled) return { route, applies: false, reason: "the route is disabled" }
    if (ended !== undefined) return { route, applies: false, reason: ended }
    const mismatch = mismatchOf(route.match, facts)
    if (mismatch !== undefined) return { route, applies: false, reason: mismatch }
    if (endsWith(route)) ended = `route ${route.route_id} ends the choice`
    return { route, applies: true, reason: matchOf(route.match) }
  })
}

const endsWith = ({ action, stop }: Candidate): boolean => stop || action.type === "reject" || action.type === "drop"

/** Returns the first condition that does not hold, in words. */
const mismatchOf = ({ from, subject, to, verdict }: Match, facts: Facts): string | undefined => {
  if (to !== undefined && !facts.to.some((address) => RoutePattern.matches(to, address))) return `no recipient is ${to}`
  if (from !== undefined && !RoutePattern.matches(from, facts.from)) return `the sender is not ${from}`
  if (subject !== undefined && !facts.subject.toLowerCase().includes(subject.toLowerCase()))
    return `the subject does not contain “${subject}”`
  if (verdict !== undefined && facts.verdict !== verdict) return `the verdict is ${facts.verdict}, not ${verdict}`
  return undefined
}

const matchOf = ({ from, subject, to, verdict }: Match): string => {
  const parts = [
    ...(to === undefined ? [] : [`a recipient is ${to}`]),
    ...(from === undefined ? [] : [`the sender is ${from}`]),
    ...(subject === undefined ? [] : [`the subject contains “${subject}”`]),
    ...(verdict === undefined ? [] : [`the verdict is ${verdict}`]),
  ]
  return parts.length === 0 ? "the route is for every mail" : parts.join(", ")
}

/** The routes that apply to a mail, and its end. A mail that is refused has no other route. */
export interface Plan {
  readonly status: InboundStatus
  readonly applied: ReadonlyArray<Applied>
  /** The addresses of each route that forwards, in order. */
  readonly forwards: ReadonlyArray<RouteForward>
  /** Reply to the server of a mail that is refused. */
  readonly message: string | undefined
}

interface RouteForward {
  readonly route_id: Id.InboundRouteId
  readonly to: ReadonlyArray<Address.Address>
}

export const plan = (routes: ReadonlyArray<Candidate>, facts: Facts): Plan => {
  const chosen = choose(routes, facts).flatMap(({ applies, route }) => (applies ? [route] : []))
  const refusing = chosen.find(({ action }) => action.type === "reject")
  if (refusing?.action.type === "reject")
    return { status: "rejected", applied: [appliedOf(refusing)], forwards: [], message: refusing.action.message }
  const dropped = chosen.some(({ action }) => action.type === "drop")
  return {
    status: dropped ? "dropped" : "received",
    applied: chosen.map(appliedOf),
    forwards: chosen.flatMap(({ action, route_id }) =>
      action.type === "forward" ? [{ route_id, to: action.to }] : [],
    ),
    message: undefined,
  }
}

/** Returns the routes that applied, with what became of each forward. */
export const withForwards = (
  applied: ReadonlyArray<Applied>,
  forwards: ReadonlyMap<Id.InboundRouteId, Forwarded>,
): ReadonlyArray<Applied> => applied.map((route) => ({ ...route, ...forwards.get(route.route_id) }))

const appliedOf = ({ action, route_id }: Candidate): Applied => ({
  route_id,
  action: action.type,
  ...(action.type === "webhook" && action.webhook_id !== null ? { webhook_id: action.webhook_id } : {}),
})
