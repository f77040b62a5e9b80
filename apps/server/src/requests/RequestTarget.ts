import type * as RateLimit from "@waybill/domain/account/RateLimit"

/** Returns the rate window that a request counts in. Depends on the target only, because unknown routes count too. */
export const bucketOf = (method: string, path: string, query = ""): RateLimit.Bucket => {
  const isRead = method === "GET" || method === "HEAD"
  switch (path) {
    case "/v1/email/send":
    case "/v1/email/send/batch":
      return method === "POST" ? "send" : "other"
    case "/v1/email/logs":
      return isRead ? "logs" : "other"
    case "/v1/sandbox/messages":
      // The log finds what is searched.
      return isRead && new URLSearchParams(query).has("q") ? "logs" : "other"
    default:
      return isAnswer(path) && method === "POST" ? "send" : "other"
  }
}

/** Renderings and checks of templates store nothing, and an editor asks for one with each pause of its author. */
export const isTrial = (method: string, path: string): boolean =>
  method === "POST" && /^\/v1\/templates\/(?:validate|[^/]+\/render)$/u.test(path)

/** An answer to a received mail and its forward count like a send. */
const isAnswer = (path: string): boolean => path.startsWith("/v1/inbound/") && /\/(?:forward|reply)$/u.test(path)

/** Paths that machines ask for every few seconds. They need no key, and no trace is made of them. */
export const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"])

/** Targets with another spelling than `/path?query`: with a scheme and host, a `;` before the query, or a fragment. */
const OTHER_SPELLING = /^[^/]|[;#]/u
/** Scheme and host of an absolute target that URL parsers reject (`http://[/v1`). */
const AUTHORITY = /^https?:\/\/.*?\//u

/**
 * Returns the target of a request in the one spelling that routing, limits, metrics and the request log read, so that none of
 * them sees another request than the one that is handled.
 */
export const canonical = (url: string): string => {
  if (!OTHER_SPELLING.test(url)) return url
  const [target = ""] = originForm(url).split("#", 1)
  const end = target.search(/[?;]/u)
  return end === -1 ? target : `${target.slice(0, end)}?${target.slice(end + 1)}`
}

const originForm = (url: string): string => {
  if (url.startsWith("/")) return url
  const parsed = /^https?:\/\//iu.test(url) ? URL.parse(url) : null
  return parsed === null ? url.replace(AUTHORITY, "/") : parsed.pathname + parsed.search
}

/** Returns the path of a canonical target as the router matches it, so that an encoded spelling counts in the same rate window. */
export const pathOf = (target: string): string => {
  const path = encodedPathOf(target)
  if (!path.includes("%")) return path
  try {
    // An encoded percent sign stays encoded, as in the router.
    return decodeURI(path.replaceAll("%25", "%2525"))
  } catch {
    return path
  }
}

/** Returns the path of a canonical target as it was sent. */
export const encodedPathOf = (target: string): string => target.split("?", 1)[0] ?? target

/** Returns the query of a canonical target without its question mark; empty if there is none. */
export const queryOf = (target: string): string => {
  const start = target.indexOf("?")
  return start === -1 ? "" : target.slice(start + 1)
}

/** Returns the parameter `livemode`, whose form is checked with the other parameters. */
export const livemodeOf = (target: string): boolean | undefined => {
  if (!target.includes("livemode=")) return undefined
  const value = new URLSearchParams(queryOf(target)).get("livemode")
  return value === null ? undefined : value !== "false"
}
