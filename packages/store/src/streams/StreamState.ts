import { type AnyAggregate, eventOf, type Read, type Shapes } from "../commit/RecordedEvents.ts"

/** A stream as far as it was read: all that a decision needs of its history. */
export interface Folded {
  readonly aggregate: AnyAggregate
  readonly version: number
  readonly state: unknown
  /** The event at this version as it was read, by which the history it is of is known again. */
  readonly last: Pick<Read, "event_id" | "xmin"> | undefined
}

export const unread = (aggregate: AnyAggregate): Folded => ({
  aggregate,
  version: 0,
  state: aggregate.initial,
  last: undefined,
})

/** The version at which to read on: that of the last event that is known, so that it is seen again. */
export const from = ({ version }: Folded): number => Math.max(1, version)

/**
 * Whether a history goes on from what is known of it. Its last event is still there, so all before it is: a log lost in
 * a failover, restored or imported has another in its place. And its row is the one that was read: an erasure, which
 * changes events where they stand, writes all rows of a stream anew.
 */
export const goesOn = ({ last }: Folded, [first]: ReadonlyArray<Read>): boolean =>
  last === undefined || (first !== undefined && first.event_id === last.event_id && first.xmin === last.xmin)

/** Goes on by what was read from there. */
export const follow = (shapes: Shapes, known: Folded, rows: ReadonlyArray<Read>): Folded => {
  const { aggregate } = known
  let { last, state, version } = known
  for (const row of last === undefined ? rows : rows.slice(1)) {
    state = aggregate.evolve(state, eventOf(aggregate, shapes, row))
    last = row
    version++
  }
  return { aggregate, version, state, last: last && { event_id: last.event_id, xmin: last.xmin } }
}
