import * as Routes from "../../bodies/Routes.ts"
import { SHAPES, type Shape } from "../../bodies/shapes.ts"
import { type Browser, type Reply, sendRequest } from "../../harness/http.ts"
import { type Attack, failedExpectations, type Scenario, summarize } from "../../harness/Scenario.ts"
import type { Customer } from "../../harness/Target.ts"

/** Characters of a body of long texts; the long form fills the largest body. */
const CHARS = { short: 512 * 1024, long: 9 * 1024 * 1024 }
/** Clients that send at the same time. */
const CLIENTS = 2
/** Time for all routes on a slow machine; the stalls are bounded apart. */
const WITHIN_MS = 90_000

interface Callers {
  readonly customer: Customer
  readonly operator: Browser
}

/** The owner signs in once for all shapes, because attempts are limited. */
const operators = new WeakMap<object, Promise<Browser>>()

const operatorOf = ({ target }: Attack): Promise<Browser> => {
  const operator = operators.get(target) ?? target.signedIn()
  operators.set(target, operator)
  return operator
}

const send = (
  { from, target }: Attack,
  { customer, operator }: Callers,
  { caller, method }: Routes.Route,
  { path, raw }: { readonly path: string; readonly raw?: string },
  nth: number,
): Promise<Reply> => {
  const sent = raw === undefined ? {} : { raw }
  if (caller === "operator") return operator.request(method, path, undefined, {}, raw)
  const key = caller === "test key" ? customer.testKey : customer.key
  const headers = { origin: target.url, "x-postmark-server-token": key }
  return sendRequest(target.http, method, path, { ...sent, key, from: from(nth), headers })
}

/** Sends every way into the service its largest request of one shape. */
const largestRequests = (shape: Shape): Scenario => ({
  name: `largest requests: ${shape.name}`,
  load: "one to each endpoint and door",
  within_ms: WITHIN_MS,
  run: async (attack) => {
    const callers: Callers = { customer: await attack.target.customer(), operator: await operatorOf(attack) }
    const chars = attack.size(CHARS.short, CHARS.long)
    const requests = Routes.all().flatMap((route, nth) => {
      const request = shape.requestTo(route, { chars })
      return request === undefined ? [] : [{ route, request, nth }]
    })
    const replies: Array<{ readonly what: string; readonly reply: Reply }> = []
    const queue = [...requests]
    const client = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const reply = await send(attack, callers, next.route, next.request, next.nth)
        replies.push({ what: `${next.route.method} ${next.route.path}`, reply })
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    const [slowest] = replies.toSorted((one, other) => other.reply.took_ms - one.reply.took_ms)
    const broken = replies.filter(({ reply: { status } }) => status === 0 || status >= 500)
    return {
      summary: `${summarize(replies.map(({ reply }) => reply.status))}; slowest ${slowest?.what} ${Math.round(slowest?.reply.took_ms ?? 0)} ms`,
      failures: failedExpectations([
        [requests.length > 0, "no route takes this shape"],
        [
          broken.length === 0,
          `no answer, or an internal error: ${broken.map(({ reply, what }) => `${what} ${reply.status}`).join(", ")}`,
        ],
      ]),
    }
  },
})

export const LARGEST_REQUESTS: ReadonlyArray<Scenario> = SHAPES.map(largestRequests)
