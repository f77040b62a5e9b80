import type * as RateLimit from "@waybill/domain/account/RateLimit"

/** The rate window that a request counts in; known before its route is, since unknown routes count too. */
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
