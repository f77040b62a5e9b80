import type { AccountId, EventId } from "@waybill/domain/values/Id"
import { Schema } from "effect"
import type { Provenance } from "./Provenance.ts"

export interface Meta extends Provenance {
  readonly schema_version: number
}

export interface AnyEvent {
  readonly _tag: string
}

/** Any domain module that is a decider. `evolve` is a method here so that each module's own types fit. */
export interface AnyAggregate {
  readonly stream: string
  readonly Event: Schema.Codec<AnyEvent, unknown>
  readonly initial: unknown
  evolve(state: unknown, event: AnyEvent): unknown
}

/** A fact with its place in the log. Times are ISO strings: a `Date` would round what the log keeps. */
export interface Recorded<Event = AnyEvent> {
  readonly position: bigint
  readonly event_id: EventId
  readonly account_id: AccountId
  readonly stream_id: string
  readonly stream: string
  readonly version: number
  readonly event: Event
  readonly meta: Meta
  readonly recorded_at: string
}

/** What a fold may see of a fact, so that its rows can depend on nothing else: not on a position, a clock, or who did it. */
export type Fact = Pick<Recorded, "account_id" | "stream_id" | "version" | "event">

/** The same fact as its row holds it. */
export interface Stored {
  readonly position: bigint
  readonly event_id: EventId
  readonly account_id: AccountId
  readonly stream_id: string
  readonly stream: string
  readonly version: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly meta: Meta
  readonly recorded_at: string
}

/** As it was read. */
export interface Read extends Stored {
  /** The transaction that wrote the row: another one where it was written anew, as only an erasure does. */
  readonly xmin: string
}

/** What the domain says about the shapes of its events over time. */
export interface Shapes {
  readonly schemaVersion: (type: string) => number
  readonly upcast: (
    type: string,
    schemaVersion: number,
    data: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>
}

interface Coder {
  readonly encode: (event: AnyEvent) => unknown
  readonly decode: (json: unknown) => AnyEvent
}

// Compiling a schema's coder costs far more than using it.
const coders = new WeakMap<object, Coder>()

export const coderOf = (aggregate: AnyAggregate): Coder => {
  const known = coders.get(aggregate.Event)
  if (known !== undefined) return known
  const json = Schema.toCodecJson(aggregate.Event)
  const coder = { encode: Schema.encodeSync(json), decode: Schema.decodeUnknownSync(json) }
  coders.set(aggregate.Event, coder)
  return coder
}

export const encode = (aggregate: AnyAggregate, event: AnyEvent): Readonly<Record<string, unknown>> => {
  const { _tag, ...data } = coderOf(aggregate).encode(event) as Record<string, unknown>
  return data
}

export const decode = (aggregate: AnyAggregate, shapes: Shapes, stored: Stored): Recorded => {
  const { type: _, data: __, ...place } = stored
  return { ...place, event: eventOf(aggregate, shapes, stored) }
}

/** Old facts are lifted to today's shape on the way in; the log itself is never rewritten. */
export const eventOf = (aggregate: AnyAggregate, shapes: Shapes, { data, meta, type }: Stored): AnyEvent =>
  coderOf(aggregate).decode({ _tag: type, ...shapes.upcast(type, meta.schema_version, data) })

export const fold = (aggregate: AnyAggregate, history: ReadonlyArray<Recorded>): unknown => {
  let state = aggregate.initial
  for (const recorded of history) state = aggregate.evolve(state, recorded.event)
  return state
}
