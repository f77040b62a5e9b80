import { Effect } from "effect"
import type { CommitDeps } from "./Commit.ts"
import type { LogStorage } from "./LogStorage.ts"
import { streamKey, type StreamRef } from "../log/StreamRef.ts"
import type { StorageError } from "../postgres/StorageError.ts"
import type { AnyAggregate } from "../log/RecordedEvents.ts"
import * as StreamState from "../streams/StreamState.ts"

/** Number of events read and folded in one step, during which the process does nothing else. */
export const EVENTS_PER_STEP = 256

export interface TypedStreamRef extends StreamRef {
  readonly aggregate: AnyAggregate
}

/** Reads the state of a stream step by step outside the batches, starting from its cached state. */
export const readLongStream = Effect.fnUntraced(function* (
  { cache }: Pick<CommitDeps, "cache">,
  readStreams: LogStorage["readStreams"],
  { account_id, aggregate, stream_id }: TypedStreamRef,
  eventsPerStep = EVENTS_PER_STEP,
): Effect.fn.Return<StreamState.StreamState, StorageError> {
  const key = streamKey({ account_id, stream_id })
  let cached = cache.find(key, aggregate) ?? StreamState.initial(aggregate)
  while (true) {
    const from = StreamState.readFrom(cached)
    const streams = yield* readStreams([{ account_id, stream_id, from, to: from + eventsPerStep - 1 }])
    const rows = streams.get(key) ?? []
    if (StreamState.isContinuedBy(cached, rows)) {
      cached = StreamState.advance(cached, rows)
      if (rows.length < eventsPerStep) break
    } else {
      cache.delete(key)
      cached = StreamState.initial(aggregate)
    }
  }
  cache.store(key, cached)
  return cached
})
