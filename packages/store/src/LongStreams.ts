import { Effect } from "effect"
import * as Folded from "./Folded.ts"
import type { Rules } from "./Flight.ts"
import { type LedgerError, type Page, refKey, type StreamRef } from "./Ledger.ts"
import type { AnyAggregate } from "./Recorded.ts"

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
): Effect.fn.Return<Folded.Folded, LedgerError> {
  const key = refKey({ account_id, stream_id })
  let known = kept.find(key, aggregate) ?? Folded.unread(aggregate)
  while (true) {
    const from = Folded.from(known)
    const found = yield* streams([{ account_id, stream_id, from, to: from + EVENTS_AT_ONCE - 1 }])
    const rows = found.get(key) ?? []
    if (Folded.goesOn(known, rows)) {
      known = Folded.follow(shapes, known, rows)
      if (rows.length < EVENTS_AT_ONCE) break
    } else {
      kept.forget(key)
      known = Folded.unread(aggregate)
    }
  }
  kept.keep(key, known)
  return known
})
