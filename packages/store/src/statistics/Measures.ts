import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import { Context, Metric } from "effect"
import { KINDS } from "./InstanceStats.ts"
import type { Stored } from "../commit/RecordedEvents.ts"

const NOWHERE = Context.empty()

const events = Metric.counter("waybill_events_total", {
  description: "Facts appended to the log by this process, by their type: EmailQueued counts what was accepted",
  incremental: true,
})
const flightUnits = Metric.histogram("waybill_flight_units", {
  description: "Commits that travelled together in one transaction",
  boundaries: [1, 2, 5, 10, 20, 50, 100],
})
const recoveredLeases = Metric.counter("waybill_leases_recovered_total", {
  description: "Rows of the outbox taken back from a process that died, lost its lease, or could not end in time",
  incremental: true,
})

const logReads = Metric.counter("waybill_log_reads_total", {
  description: "Reads of the log by this process while it has a replica, by where they were answered",
  incremental: true,
})

const retentionWaits = Metric.counter("waybill_retention_waits_total", {
  description: "Runs of this process that left histories for the next one, because a read model was being replayed",
  incremental: true,
})
retentionWaits.updateUnsafe(0, NOWHERE)

export const retentionWaited = (): void => retentionWaits.updateUnsafe(1, NOWHERE)

const unreadReports = Metric.counter("waybill_unread_reports_total", {
  description: "Reports whose parsing was ended by this process, by whether they were kept unread or refused",
  incremental: true,
})

/**
 * Makes a counter with one series per value. Every known value starts at zero before anything happens, because an alert
 * on an increase misses a counter that first appears with one.
 */
const by = (metric: Metric.Counter<number>, label: string, values: ReadonlyArray<string>) => {
  const series = new Map(values.map((value) => [value, Metric.withAttributes(metric, { [label]: value })]))
  for (const one of series.values()) one.updateUnsafe(0, NOWHERE)
  return (value: string, count: number) => {
    const known = series.get(value)
    const one = known ?? Metric.withAttributes(metric, { [label]: value })
    if (known === undefined) series.set(value, one)
    one.updateUnsafe(count, NOWHERE)
  }
}
const byType = by(events, "type", DomainEvent.TAGS)
const byKind = by(recoveredLeases, "kind", KINDS)

const byPlace = by(logReads, "at", ["primary", "replica"])

export const logRead = (at: "primary" | "replica"): void => byPlace(at, 1)

const byUnread = by(unreadReports, "outcome", ["kept", "refused"])

export const reportUnread = (outcome: "kept" | "refused"): void => byUnread(outcome, 1)

/** Records a committed batch. */
export const landed = (units: number, appended: ReadonlyArray<Stored>): void => {
  flightUnits.updateUnsafe(units, NOWHERE)
  const types = new Map<string, number>()
  for (const { type } of appended) types.set(type, (types.get(type) ?? 0) + 1)
  for (const [type, count] of types) byType(type, count)
}

export const leasesRecovered = (rows: ReadonlyArray<{ readonly kind: string }>): void => {
  for (const [kind, found] of Map.groupBy(rows, (row) => row.kind)) byKind(kind, found.length)
}
