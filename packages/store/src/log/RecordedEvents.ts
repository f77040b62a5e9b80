import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { AccountId, EventId } from "@waybill/domain/values/Id"
import { Schema } from "effect"
import type { Provenance } from "./Provenance.ts"

export interface Meta extends Provenance {
  readonly schema_version: number
}

export interface AnyEvent {
  readonly _tag: string
}

/** Any domain module with a decider. `evolve` is declared as a method, so that a module with narrower types fits. */
export interface AnyAggregate {
  readonly stream: string
  readonly Event: Schema.Codec<AnyEvent, unknown>
  readonly initial: unknown
  evolve(state: unknown, event: AnyEvent): unknown
}

/** An event with its position in the log. Times are ISO strings, because a `Date` would round them to milliseconds. */
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

/** The part of an event that a fold sees, so that read models cannot depend on positions, clocks or provenance. */
export type NewEvent = Pick<Recorded, "account_id" | "stream_id" | "version" | "event">

/** An event as its row stores it. */
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

type StoredData = Pick<Stored, "type" | "data" | "meta">

/** An event as it was read. */
export interface EventRow extends Stored {
  /** Id of the transaction that wrote the row; it changes only when an erasure rewrites the row. */
  readonly xmin: string
}

interface Coder {
  readonly encode: (event: AnyEvent) => unknown
  readonly decode: (json: unknown) => AnyEvent
}

// Cached, because compiling the coder of a schema costs far more than using it.
const coders = new WeakMap<object, Coder>()

export const coderOf = (aggregate: AnyAggregate): Coder => {
  const cached = coders.get(aggregate.Event)
  if (cached !== undefined) return cached
  const json = Schema.toCodecJson(aggregate.Event)
  const coder = { encode: Schema.encodeSync(json), decode: Schema.decodeUnknownSync(json) }
  coders.set(aggregate.Event, coder)
  return coder
}

export const encode = (aggregate: AnyAggregate, event: AnyEvent): Readonly<Record<string, unknown>> => {
  const { _tag, ...data } = coderOf(aggregate).encode(event) as Record<string, unknown>
  return data
}

/** Returns an event with its data in the current schema version; the log is never rewritten. */
export const inCurrentShape = <Event extends StoredData>(stored: Event): Event => ({
  ...stored,
  data: DomainEvent.upcast(stored.type, stored.meta.schema_version, stored.data),
})

export const decode = (aggregate: AnyAggregate, stored: Stored): Recorded => {
  const { type: _, data: __, ...envelope } = stored
  return { ...envelope, event: eventOf(aggregate, stored) }
}

/** Decodes an event, of an older schema version too. */
export const eventOf = (aggregate: AnyAggregate, { data, meta, type }: StoredData): AnyEvent =>
  coderOf(aggregate).decode({ _tag: type, ...DomainEvent.upcast(type, meta.schema_version, data) })

export const fold = (aggregate: AnyAggregate, history: ReadonlyArray<Recorded>): unknown => {
  let state = aggregate.initial
  for (const recorded of history) state = aggregate.evolve(state, recorded.event)
  return state
}
