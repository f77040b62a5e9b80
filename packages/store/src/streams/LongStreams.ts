import { Effect } from "effect"
import * as StreamState from "./StreamState.ts"
import type { Rules } from "../commit/CommitBatch.ts"
import { type LedgerError, type Page, refKey, type StreamRef } from "../commit/LogStorage.ts"
import type { AnyAggregate } from "../commit/RecordedEvents.ts"

/** Events that are read and folded in one go: for as long the process does nothing else. */
export const EVENTS_AT_ONCE = 256

export interface Wanted extends StreamRef {
  readonly aggregate: AnyAggregate
}

/** What a stream has come to, read beside the flights and piece by piece, from what is kept of it on. */
export const read = Effect.fnUntraced(function* (
  { kept, shapes }: Pick<Rules, "kept" | "shapes">,
  streams: Page["streams"],
  { account_id, aggregate, stream_id }: Wanted,
): Effect.fn.Return<StreamState.Folded, LedgerError> {
  const key = refKey({ account_id, stream_id })
  let known = kept.find(key, aggregate) ?? StreamState.unread(aggregate)
  while (true) {
    const from = StreamState.from(known)
    const found = yield* streams([{ account_id, stream_id, from, to: from + EVENTS_AT_ONCE - 1 }])
    const rows = found.get(key) ?? []
    if (StreamState.goesOn(known, rows)) {
      known = StreamState.follow(shapes, known, rows)
      if (rows.length < EVENTS_AT_ONCE) break
    } else {
      kept.forget(key)
      known = StreamState.unread(aggregate)
    }
  }
  kept.keep(key, known)
  return known
})
