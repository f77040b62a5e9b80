import * as RecordedEvents from "../log/RecordedEvents.ts"

/** The state of a stream as of its last event that was read. */
export interface StreamState<State = unknown> {
  readonly aggregate: RecordedEvents.AnyAggregate
  readonly version: number
  readonly state: State
  /** Identifies the row of the last event, to see later whether the history is still the same. */
  readonly last: Pick<RecordedEvents.EventRow, "event_id" | "xmin"> | undefined
}

/** The state of a stream without events. */
export const initial = (aggregate: RecordedEvents.AnyAggregate): StreamState => ({
  aggregate,
  version: 0,
  state: aggregate.initial,
  last: undefined,
})

/** Version from which to read on: that of the last known event, which is read again to see whether it has changed. */
export const readFrom = ({ version }: StreamState): number => Math.max(1, version)

/**
 * Returns whether rows from `readFrom` on continue a known state. The last known event must still be there, because a log
 * restored, imported or lost in a failover may hold another event at its version. Its row must be the same as well: an
 * erasure, which changes events in place, rewrites all rows of a stream.
 */
export const isContinuedBy = ({ last }: StreamState, [first]: ReadonlyArray<RecordedEvents.EventRow>): boolean =>
  last === undefined || (first !== undefined && first.event_id === last.event_id && first.xmin === last.xmin)

/** Applies rows that were read from `readFrom` on. */
export const advance = (previous: StreamState, rows: ReadonlyArray<RecordedEvents.EventRow>): StreamState => {
  const { aggregate } = previous
  let { last, state, version } = previous
  for (const row of last === undefined ? rows : rows.slice(1)) {
    state = aggregate.evolve(state, RecordedEvents.eventOf(aggregate, row))
    last = row
    version++
  }
  return { aggregate, version, state, last: last && { event_id: last.event_id, xmin: last.xmin } }
}
