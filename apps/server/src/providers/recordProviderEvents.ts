import { away, type StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as Databases from "@waybill/store/routing/Databases"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import * as Turn from "@waybill/runtime/flow/Turn"
import { Effect, Exit } from "effect"
import { findMessages } from "./findMessages.ts"
import type { ProviderEvent } from "./formats/ProviderEvent.ts"
import { recordProviderEvent } from "./recordProviderEvent.ts"

/** Events whose messages are searched, and that are kept, in one statement. Other work has its turn after each group. */
const EVENTS_AT_ONCE = 100
/** Events that are recorded at once; their commits share batches. */
export const CONCURRENCY = 8

/**
 * Records the events of a call, and keeps those about no known message. Returns what became of them, and the first failure,
 * such as of a database that does not answer; the events that it does not concern are recorded nevertheless.
 */
export const recordProviderEvents = Effect.fn("recordProviderEvents")(
  function* (hook_id: string, events: ReadonlyArray<ProviderEvent>, address: string) {
    const counts = { recorded: 0, unchanged: 0, unmatched: 0 }
    let failure: Exit.Exit<unknown, StoreUnavailable> = Exit.void
    let hasRoom = true
    const note = (exit: Exit.Exit<unknown, StoreUnavailable>) => {
      if (Exit.isSuccess(failure)) failure = exit
    }
    const recordGroup = Effect.fnUntraced(function* (group: ReadonlyArray<ProviderEvent>) {
      const messageOf = yield* findMessages(group)
      const unmatched: Array<ProviderEvent> = []
      const record = Effect.fnUntraced(function* (event: ProviderEvent) {
        const message = messageOf(event)
        if (message === "unanswered") return yield* away()
        const outcome =
          message === undefined ? "unmatched" : yield* recordProviderEvent(hook_id, event, message, address)
        if (outcome === "unmatched") unmatched.push(event)
        else counts[outcome]++
      })
      const exits = yield* Effect.forEach(group, (event) => Effect.exit(record(event)), { concurrency: CONCURRENCY })
      exits.forEach(note)
      if (unmatched.length === 0 || !hasRoom) return
      const toKeep = unmatched.map((event) => ({ id: event.id, ref: event.ref, event: JSON.stringify(event) }))
      const { hasRoom: isRoomLeft, kept } = yield* ProviderEvents.keep(hook_id, toKeep)
      counts.unmatched += kept
      hasRoom = isRoomLeft
    })
    for (let start = 0; start < events.length; start += EVENTS_AT_ONCE) {
      if (start > 0) yield* Turn.next
      note(yield* Effect.exit(recordGroup(events.slice(start, start + EVENTS_AT_ONCE))))
    }
    return { counts, failure }
  },
  (effect) => Effect.provideService(effect, Databases.Silent, new Set()),
)
