import { Api, PREFIX } from "@waybill/api/Api"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Table from "@waybill/domain/values/Table"
import { nearestName } from "@waybill/domain/values/nearestName"

interface Route {
  readonly path: string
  readonly pattern: RegExp
  readonly methods: ReadonlySet<string>
}

/** Paths at which other services accept mail, and the endpoint that does it here. */
const ELSEWHERE: ReadonlyArray<readonly [path: RegExp, endpoint: string]> = [
  // Resend and Postmark.
  [/^\/(?:v1\/)?emails?\/batch$/u, "/email/send/batch"],
  [/^\/(?:v1\/)?(?:emails?|email\/withTemplate|emails\/send)$/u, "/email/send"],
  // SendGrid and Brevo.
  [/^\/v3\/(?:mail\/send|smtp\/email)$/u, "/email/send"],
  // Postal.
  [/^\/api\/v1\/send\/(?:message|raw)$/u, "/email/send"],
  // Mailgun.
  [/^\/v[34]\/[^/]+\/messages(?:\.mime)?$/u, "/email/send"],
]

const EMAIL = ["email", "email/logs"]
/** First names of paths that are typed from memory, with the beginnings that are meant. Other names mean the nearest one. */
const MEANT: Readonly<Record<string, ReadonlyArray<string>>> = {
  email: EMAIL,
  emails: EMAIL,
  messages: EMAIL,
  logs: ["email/logs"],
  send: ["email/send"],
  batch: ["email/send/batch"],
  keys: ["api-keys"],
  tokens: ["api-keys"],
  hooks: ["webhooks"],
  clocks: ["test/clocks"],
  bounces: ["suppressions"],
  usage: ["account", "stats"],
}
/** Prefixes that are typed instead of the one of the API. */
const PREFIXES = /^(?:\/api)?(?:\/v\d)?\//u

/** Routes of the API by path, built at the first unknown route. */
let routes: ReadonlyArray<Route> | undefined

const build = (): ReadonlyArray<Route> => {
  const byPath = new Map<string, Set<string>>()
  for (const group of Object.values(Api.groups))
    for (const endpoint of Object.values(group.endpoints)) {
      const methods = byPath.get(endpoint.path) ?? new Set()
      byPath.set(endpoint.path, methods.add(endpoint.method))
    }
  return Array.from(byPath, ([path, methods]) => ({ path, pattern: patternOf(path), methods: withHead(methods) }))
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:[a-z_]+/gu, "[^/]+")}$`, "u")

/** The router answers HEAD wherever it answers GET. */
const withHead = (methods: ReadonlySet<string>): ReadonlySet<string> =>
  methods.has("GET") ? new Set(["GET", "HEAD", ...methods]) : methods

/** Returns the methods of a path; none if the API has no such path. `/v1/email/send` is no id of an email. */
const methodsOf = (path: string): ReadonlyArray<string> => {
  routes ??= build()
  const route = routes.find((each) => each.path === path) ?? routes.find(({ pattern }) => pattern.test(path))
  return route === undefined ? [] : [...route.methods]
}

/** Whether a path is one of the API's as it stands, without an id. */
export const isFixed = (path: string): boolean => {
  routes ??= build()
  return routes.some((each) => each.path === path)
}

/** Returns the refusal of an unknown route, which says where to look if the path resembles a known one. */
export const refuse = (method: string, path: string): RequestRefusal.NoSuchRoute => {
  const allowed_methods = methodsOf(path)
  if (allowed_methods.length > 0) {
    const advice = `This path takes ${allowed_methods.join(", ")}.`
    return new RequestRefusal.NoSuchRoute({ method, path, allowed_methods, advice })
  }
  const advice = adviceElsewhere(method, path) ?? adviceOfPath(method, path)
  return new RequestRefusal.NoSuchRoute({ method, path, ...(advice === undefined ? {} : { advice }) })
}

const adviceElsewhere = (method: string, path: string): string | undefined => {
  const elsewhere = method === "POST" ? ELSEWHERE.find(([pattern]) => pattern.test(path)) : undefined
  return elsewhere === undefined ? undefined : `Waybill sends at POST ${PREFIX}${elsewhere[1]}.`
}

/** The API is below `/v1`, and its paths have one spelling. */
const adviceOfPath = (method: string, path: string): string | undefined => {
  if (path.endsWith("/") && methodsOf(path.slice(0, -1)).length > 0)
    return `Leave out the slash at the end: ${path.slice(0, -1)}.`
  const [name = "", ...rest] = path.replace(PREFIXES, "").split("/")
  const same = shownOf(method, [name, ...rest].join("/"))
  if (same !== undefined) return `The API begins with ${PREFIX}: use ${same}.`
  const meant = (Table.at(MEANT, name.toLowerCase()) ?? [nearestName(name, firstNames()) ?? ""])
    .map((beginning) => shownOf(method, [beginning, ...rest].join("/")))
    .find((shown) => shown !== undefined)
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

/** Returns a path of the API with the method, or with those that it takes. */
const shownOf = (method: string, below: string): string | undefined => {
  const path = `${PREFIX}/${below}`
  const methods = methodsOf(path)
  if (methods.length === 0) return undefined
  return methods.includes(method) ? `${method} ${path}` : `${path}, which takes ${methods.join(", ")}`
}

const firstNames = (): ReadonlyArray<string> => {
  routes ??= build()
  const below = routes.filter(({ path }) => path.startsWith(`${PREFIX}/`))
  return [...new Set(below.map(({ path }) => path.slice(PREFIX.length + 1).split("/", 1)[0] ?? ""))]
}
