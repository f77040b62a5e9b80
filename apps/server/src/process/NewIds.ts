import type * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { newId as newIdAt } from "@waybill/store/streams/newId"
import { DateTime, Effect } from "effect"

/** Current time, as deciders take it. */
export const now = Effect.map(DateTime.now, Timestamp.fromDateTime)

/** Returns a new id. */
export const newId = <Name extends keyof typeof Id.PREFIXES>(name: Name) =>
  Effect.map(DateTime.now, (at) => newIdAt(name, DateTime.toEpochMillis(at)))

export { newIdAt }

/**
 * Returns the id of a new message and its `created_at`, which is the millisecond in the id, so that a range of times in the
 * log is a range of ids.
 */
export const newEmail = Effect.map(DateTime.now, (at) => newEmailAt(DateTime.toEpochMillis(at)))

export const newEmailAt = (epochMillis: number) => ({
  id: newIdAt("EmailId", epochMillis),
  at: Timestamp.fromMillis(epochMillis),
})
