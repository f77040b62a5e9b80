import { LruCache } from "@waybill/runtime/collections/LruCache"
import type { AnyAggregate, EventRow } from "../log/RecordedEvents.ts"
import type { StreamState } from "./StreamState.ts"

/** Maximum number of events of one stream that a batch reads. Longer streams are read outside the batches and cached. */
export const MAX_STREAM_EVENTS_IN_BATCH = 128
/** Maximum number of cached states of long streams; the least recently used are evicted first. */
export const MAX_CACHED_STATES = 10_000
/** Maximum length of all cached states together, as JSON. */
export const MAX_CACHED_CHARS = 16 * 1024 * 1024
/** Maximum length of one cached state, as JSON; a longer state is folded again each time. */
export const MAX_CACHED_STATE_CHARS = 4 * 1024 * 1024

export interface Limits {
  readonly streamEvents: number
  readonly states: number
  readonly chars: number
  readonly stateChars: number
}

const LIMITS: Limits = {
  streamEvents: MAX_STREAM_EVENTS_IN_BATCH,
  states: MAX_CACHED_STATES,
  chars: MAX_CACHED_CHARS,
  stateChars: MAX_CACHED_STATE_CHARS,
}

/**
 * States of long streams as far as this process has read them. A cached state may be outdated: its reader reads on from
 * the last known event, and sees by that event whether the state still holds.
 */
export interface StreamStateCache {
  readonly maxStreamEvents: number
  readonly find: (key: string, aggregate: AnyAggregate) => StreamState | undefined
  /** Stores the state of a long stream. Measuring it takes as long as writing it as JSON, so a batch must not call this. */
  readonly store: (key: string, state: StreamState) => void
  /** Replaces a cached state by what it became with these rows. */
  readonly advance: (key: string, state: StreamState, rows: ReadonlyArray<EventRow>) => void
  readonly delete: (key: string) => void
}

interface Entry {
  readonly state: StreamState
  readonly chars: number
}

export const make = (limits: Limits = LIMITS): StreamStateCache => {
  const cache = new LruCache<string, Entry>({
    maxEntries: limits.states,
    maxWeight: limits.chars,
    weigh: ({ chars }) => chars,
  })
  const set = (key: string, entry: Entry): void => {
    if (entry.chars > limits.stateChars) cache.delete(key)
    else cache.set(key, entry)
  }
  return {
    maxStreamEvents: limits.streamEvents,
    find: (key, aggregate) => {
      const state = cache.get(key)?.state
      return state?.aggregate === aggregate ? state : undefined
    },
    store: (key, state) => {
      if (state.version > limits.streamEvents) set(key, { state, chars: JSON.stringify(state.state).length })
    },
    advance: (key, state, rows) => {
      const entry = cache.get(key)
      // An upper bound: a state grows by at most the length of its events. Past the limit it is dropped and measured anew.
      const grown = rows.slice(1).reduce((sum, { data }) => sum + JSON.stringify(data).length, 0)
      if (entry !== undefined) set(key, { state, chars: entry.chars + grown })
    },
    delete: (key) => cache.delete(key),
  }
}
