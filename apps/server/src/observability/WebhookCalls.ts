import type { Attempt } from "@waybill/store/webhooks/WebhookDeliveries"
import { Context, Metric } from "effect"

const NOWHERE = Context.empty()

const calls = Metric.histogram("waybill_webhook_call_seconds", {
  description:
    "Calls of webhooks that are written down, by the class of the answer's status; none where there was none",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
})
/** At nought before the first call: an increase is seen only of what was there before. */
const STATUSES = ["none", "2xx", "3xx", "4xx", "5xx"]
const series = new Map(STATUSES.map((status) => [status, Metric.withAttributes(calls, { status })]))
for (const one of series.values()) one.valueUnsafe(NOWHERE)

export const settled = ({ duration_ms, status }: Attempt): void => {
  const name = status === null ? "none" : `${Math.floor(status / 100)}xx`
  const histogram = series.get(name) ?? Metric.withAttributes(calls, { status: name })
  series.set(name, histogram)
  histogram.updateUnsafe(duration_ms / 1000, NOWHERE)
}
