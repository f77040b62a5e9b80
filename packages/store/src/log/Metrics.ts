import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import { Context, Metric } from "effect"
import type { Stored } from "./RecordedEvents.ts"

const NO_CONTEXT = Context.empty()

const events = Metric.counter("waybill_events_total", {
  description: "Events appended to the log by this process, by type; EmailQueued counts accepted messages",
  incremental: true,
})
const batchCommits = Metric.histogram("waybill_batch_commits", {
  description: "Commits that shared one database transaction",
  boundaries: [1, 2, 5, 10, 20, 50, 100],
})

/**
 * Makes a counter with one series per value. Every known value starts at zero before anything happens, because an alert
 * on an increase misses a counter that first appears with one.
 */
export const seriesBy = <Value extends string>(
  metric: Metric.Counter<number>,
  label: string,
  values: ReadonlyArray<Value>,
) => {
  const series = new Map(values.map((value) => [value, Metric.withAttributes(metric, { [label]: value })]))
  for (const one of series.values()) one.updateUnsafe(0, NO_CONTEXT)
  return (value: Value, count: number) => {
    const existing = series.get(value)
    const one = existing ?? Metric.withAttributes(metric, { [label]: value })
    if (existing === undefined) series.set(value, one)
    one.updateUnsafe(count, NO_CONTEXT)
  }
}
const countEvent = seriesBy<string>(events, "type", DomainEvent.TAGS)

/** Records a committed batch. */
export const batchCommitted = (commits: number, appended: ReadonlyArray<Stored>): void => {
  batchCommits.updateUnsafe(commits, NO_CONTEXT)
  const types = new Map<string, number>()
  for (const { type } of appended) types.set(type, (types.get(type) ?? 0) + 1)
  for (const [type, count] of types) countEvent(type, count)
}
