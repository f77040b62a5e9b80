import type * as RateLimit from "@waybill/domain/account/RateLimit"

/** Returns the rate window that a request counts in. Depends on the path only, because unknown routes count too. */
export const bucketOf = (method: string, path: string): RateLimit.Bucket => {
  switch (path) {
    case "/v1/email/send":
    case "/v1/email/send/batch":
      return method === "POST" ? "send" : "other"
    case "/v1/email/logs":
      return method === "GET" || method === "HEAD" ? "logs" : "other"
    default:
      return "other"
  }
}
/** Returns the path of a request as the router reads it, so that an encoded spelling counts in the same rate window. */
export const pathOf = (url: string): string => {
  const path = encodedPathOf(url)
  if (!path.includes("%")) return path
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Returns the path of a request as it was sent. */
export const encodedPathOf = (url: string): string => url.replace(AUTHORITY, "/").split(/[?#;]/u, 1)[0] ?? url

/** Scheme and host of an absolute target that URL parsers reject (`http://[/v1`); the router ignores them too. */
const AUTHORITY = /^https?:\/\/.*?\//u

/** Returns the parameter `livemode`, whose form is checked with the other parameters. */
export const livemodeOf = (url: string): boolean | undefined => {
  if (!url.includes("livemode=")) return undefined
  const value = new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("livemode")
  return value === null ? undefined : value !== "false"
}
