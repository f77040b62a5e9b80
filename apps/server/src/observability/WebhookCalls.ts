import type { Attempt } from "@waybill/store/webhooks/WebhookDeliveries"
import { Context, Metric } from "effect"

const EMPTY = Context.empty()

const calls = Metric.histogram("waybill_webhook_call_seconds", {
  description: "Duration of webhook calls, by class of the status; none if there was no answer",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
})
/** Statuses whose series start at 0, since an increase is only visible in a series that exists. */
const STATUSES = ["none", "2xx", "3xx", "4xx", "5xx"]
const series = new Map(STATUSES.map((status) => [status, Metric.withAttributes(calls, { status })]))
for (const one of series.values()) one.valueUnsafe(EMPTY)

export const observe = ({ duration_ms, status }: Attempt): void => {
  const name = status === null ? "none" : `${Math.floor(status / 100)}xx`
  const histogram = series.get(name) ?? Metric.withAttributes(calls, { status: name })
  series.set(name, histogram)
  histogram.updateUnsafe(duration_ms / 1000, EMPTY)
}
