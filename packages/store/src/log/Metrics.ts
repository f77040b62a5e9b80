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
const logReads = Metric.counter("waybill_log_reads_total", {
  description: "Log reads of this process while it has a replica, by the server that answered",
  incremental: true,
})

const retentionWaits = Metric.counter("waybill_retention_waits_total", {
  description: "Retention runs of this process postponed because a read model was being rebuilt",
  incremental: true,
})
retentionWaits.updateUnsafe(0, NO_CONTEXT)

export const retentionPostponed = (): void => retentionWaits.updateUnsafe(1, NO_CONTEXT)

const unreadReports = Metric.counter("waybill_unread_reports_total", {
  description: "Reports whose parsing was ended by this process, by whether they were kept unread or refused",
  incremental: true,
})

const unloggedRequests = Metric.counter("waybill_requests_not_logged_total", {
  description:
    "API calls that this process left out of the request log, because too many waited, a bound was reached or a write failed",
  incremental: true,
})

/**
 * Makes a counter with one series per value. Every known value starts at zero before anything happens, because an alert
 * on an increase misses a counter that first appears with one.
 */
export const seriesBy = (metric: Metric.Counter<number>, label: string, values: ReadonlyArray<string>) => {
  const series = new Map(values.map((value) => [value, Metric.withAttributes(metric, { [label]: value })]))
  for (const one of series.values()) one.updateUnsafe(0, NO_CONTEXT)
  return (value: string, count: number) => {
    const existing = series.get(value)
    const one = existing ?? Metric.withAttributes(metric, { [label]: value })
    if (existing === undefined) series.set(value, one)
    one.updateUnsafe(count, NO_CONTEXT)
  }
}
const countEvent = seriesBy(events, "type", DomainEvent.TAGS)

const countLogRead = seriesBy(logReads, "at", ["primary", "replica"])

export const logRead = (at: "primary" | "replica"): void => countLogRead(at, 1)

const countUnread = seriesBy(unreadReports, "outcome", ["kept", "refused"])

export const reportUnread = (outcome: "kept" | "refused"): void => countUnread(outcome, 1)

const feedback = Metric.counter("waybill_feedback_total", {
  description: "Complaints at the addresses for feedback, by whether they were recorded or dropped",
  incremental: true,
})
const countFeedback = seriesBy(feedback, "outcome", ["recorded", "dropped"])

export const feedbackReceived = (outcome: "recorded" | "dropped"): void => countFeedback(outcome, 1)

const NOT_LOGGED = ["many_accepted", "buffer_full", "beyond_bounds", "write_failed"] as const
const countUnlogged = seriesBy(unloggedRequests, "cause", NOT_LOGGED)

export const requestsNotLogged = (cause: (typeof NOT_LOGGED)[number], count: number): void =>
  countUnlogged(cause, count)

/** Records a committed batch. */
export const batchCommitted = (commits: number, appended: ReadonlyArray<Stored>): void => {
  batchCommits.updateUnsafe(commits, NO_CONTEXT)
  const types = new Map<string, number>()
  for (const { type } of appended) types.set(type, (types.get(type) ?? 0) + 1)
  for (const [type, count] of types) countEvent(type, count)
}
