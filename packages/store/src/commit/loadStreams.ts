import { Effect } from "effect"
import type { CommitDeps, PendingCommit } from "./Commit.ts"
import { streamKey, type StreamRange } from "../log/StreamRef.ts"
import type { LogTransaction } from "./LogStorage.ts"
import type { StorageError } from "../postgres/StorageError.ts"
import type { TypedStreamRef } from "./readLongStream.ts"
import * as StreamState from "../streams/StreamState.ts"
import type { StreamStateCache } from "../streams/StreamStateCache.ts"

interface StreamToLoad extends TypedStreamRef {
  readonly cached: StreamState.StreamState
  /** Whether the stream is read to its end, however long it is. */
  readonly isReadWhole: boolean
}

/** Loads the streams of a batch, except those that have more events than a batch reads. */
export const loadStreams = Effect.fnUntraced(function* (
  { cache }: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
): Effect.fn.Return<ReadonlyMap<string, StreamState.StreamState>, StorageError> {
  const streams = new Map<string, StreamState.StreamState>()
  let toLoad = streamsToLoad(cache, batch)
  while (toLoad.size > 0) {
    const read = yield* transaction.readStreams([...toLoad.values()].map((stream) => rangeOf(cache, stream)))
    const changed = new Map<string, StreamToLoad>()
    for (const [key, stream] of toLoad) {
      const rows = read.get(key) ?? []
      if (!StreamState.isContinuedBy(stream.cached, rows)) {
        cache.delete(key)
        // From its first event, it may be long again.
        changed.set(key, { ...stream, cached: StreamState.initial(stream.aggregate), isReadWhole: false })
      } else if (rows.length <= cache.maxStreamEvents || stream.isReadWhole) {
        const state = StreamState.advance(stream.cached, rows)
        streams.set(key, state)
        if (stream.cached.version > 0) cache.advance(key, state, rows)
      }
    }
    toLoad = changed
  }
  return streams
})

const streamsToLoad = (cache: StreamStateCache, batch: ReadonlyArray<PendingCommit>): Map<string, StreamToLoad> => {
  const toLoad = new Map<string, StreamToLoad>()
  for (const { commit, wasSetAside = false } of batch) {
    for (const { aggregate, id, isNew, known } of commit.streams) {
      if (isNew === true) continue
      const ref = { account_id: commit.account_id, stream_id: id }
      const key = streamKey(ref)
      const other = toLoad.get(key)
      const found = other?.cached ?? cache.find(key, aggregate) ?? StreamState.initial(aggregate)
      toLoad.set(key, {
        ...ref,
        aggregate,
        cached: known !== undefined && known.version > found.version ? known : found,
        isReadWhole: wasSetAside || other?.isReadWhole === true,
      })
    }
  }
  return toLoad
}

/** Returns a range of one event more than a batch folds, to see whether the stream is longer. */
const rangeOf = (
  { maxStreamEvents }: StreamStateCache,
  { account_id, cached, isReadWhole, stream_id }: StreamToLoad,
): StreamRange => {
  const from = StreamState.readFrom(cached)
  return { account_id, stream_id, from, ...(isReadWhole ? {} : { to: from + maxStreamEvents }) }
}
