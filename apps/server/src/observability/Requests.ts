import { Context, Metric } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { bucketOf } from "../http/Bucket.ts"

const NOWHERE = Context.empty()

const requests = Metric.histogram("waybill_http_request_seconds", {
  description: "Requests answered, from their head to the end of their answer, by rate window and class of status",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
})

/** Three windows and five classes: fifteen series at most. */
const series = new Map<string, Metric.Histogram<number>>()

const seriesOf = (bucket: string, status: string): Metric.Histogram<number> => {
  const name = `${bucket} ${status}`
  const known = series.get(name)
  if (known !== undefined) return known
  const made = Metric.withAttributes(requests, { bucket, status })
  series.set(name, made)
  return made
}

/** Probes and pages are nobody's traffic; a client that left before its answer counts as such. */
export const observe = (request: IncomingMessage, response: ServerResponse): void => {
  const path = request.url ?? ""
  if (!path.startsWith("/v1/")) return
  const began = performance.now()
  response.on("close", () => {
    const query = path.indexOf("?")
    const bucket = bucketOf(request.method ?? "", query === -1 ? path : path.slice(0, query))
    const status = response.writableFinished ? `${Math.floor(response.statusCode / 100)}xx` : "gone"
    seriesOf(bucket, status).updateUnsafe((performance.now() - began) / 1000, NOWHERE)
  })
}
