import { Context, Metric } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as RequestTarget from "../requests/RequestTarget.ts"

const EMPTY = Context.empty()

const requests = Metric.histogram("waybill_http_request_seconds", {
  description: "Duration of requests from their headers to the end of the response, by rate limit and class of status",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
})

const BUCKETS = ["send", "logs", "other"]
/** Classes of statuses; `gone` if the client left before the response. */
const STATUSES = ["2xx", "3xx", "4xx", "5xx", "gone"]

/** All possible series. They start at 0, since an increase is only visible in a series that exists. */
const series = new Map(
  BUCKETS.flatMap((bucket) =>
    STATUSES.map((status) => [`${bucket} ${status}`, Metric.withAttributes(requests, { bucket, status })] as const),
  ),
)
for (const one of series.values()) one.valueUnsafe(EMPTY)

/** Observes requests of the API, and no probes or pages. */
export const observe = (request: IncomingMessage, response: ServerResponse): void => {
  const target = RequestTarget.canonical(request.url ?? "")
  const path = RequestTarget.pathOf(target)
  if (!path.startsWith("/v1/")) return
  const began = performance.now()
  response.on("close", () => {
    const bucket = RequestTarget.bucketOf(request.method ?? "", path, RequestTarget.queryOf(target))
    const status = response.writableFinished ? `${Math.floor(response.statusCode / 100)}xx` : "gone"
    series.get(`${bucket} ${status}`)?.updateUnsafe((performance.now() - began) / 1000, EMPTY)
  })
}
