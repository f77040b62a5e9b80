import * as Aggregates from "@waybill/domain/stream/Aggregates"
import type * as RecordedEvents from "./RecordedEvents.ts"

/** Returns the aggregate of a kind of stream. */
export const aggregateOf = (stream: string): RecordedEvents.AnyAggregate => {
  const aggregate = Object.values<RecordedEvents.AnyAggregate>(Aggregates.aggregates).find(
    (each) => each.stream === stream,
  )
  if (aggregate === undefined) throw new Error(`no stream is called ${stream}`)
  return aggregate
}
