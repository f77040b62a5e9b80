import { Context, Metric } from "effect"
import type { Stored } from "./Recorded.ts"

const NOWHERE = Context.empty()

const events = Metric.counter("waybill_events_total", {
  description: "Facts appended to the log by this process, by their type: EmailQueued counts what was accepted",
  incremental: true,
})
const flightUnits = Metric.histogram("waybill_flight_units", {
  description: "Commits that travelled together in one transaction",
  boundaries: [1, 2, 5, 10, 20, 50, 100],
})
const recovered = Metric.counter("waybill_leases_recovered_total", {
  description: "Rows of the outbox taken back from a process that died, lost its lease, or could not end in time",
  incremental: true,
})

/** A series a value, made when it is first met: the types of events are few, and so are the kinds of work. */
const by = (metric: Metric.Counter<number>, label: string) => {
  const series = new Map<string, Metric.Counter<number>>()
  return (value: string, count: number) => {
    const known = series.get(value)
    const one = known ?? Metric.withAttributes(metric, { [label]: value })
    if (known === undefined) series.set(value, one)
    one.updateUnsafe(count, NOWHERE)
  }
}
const byType = by(events, "type")
const byKind = by(recovered, "kind")

/** A flight is in the log. */
export const landed = (units: number, appended: ReadonlyArray<Stored>): void => {
  flightUnits.updateUnsafe(units, NOWHERE)
  const types = new Map<string, number>()
  for (const { type } of appended) types.set(type, (types.get(type) ?? 0) + 1)
  for (const [type, count] of types) byType(type, count)
}

export const leasesRecovered = (rows: ReadonlyArray<{ readonly kind: string }>): void => {
  for (const [kind, found] of Map.groupBy(rows, (row) => row.kind)) byKind(kind, found.length)
}
