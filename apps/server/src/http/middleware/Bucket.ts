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
