import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as IdBytes from "@waybill/store/postgres/IdBytes"
import { DateTime, Effect } from "effect"

/** The moment, as decisions take it. */
export const now = Effect.map(DateTime.now, Timestamp.fromDateTime)

/** An id that was never given before. */
export const newId = <Name extends keyof typeof Id.PREFIXES>(name: Name) =>
  Effect.map(DateTime.now, (at) => newIdAt(name, DateTime.toEpochMillis(at)))

/** The same for who has looked at the clock already. */
export const newIdAt = <Name extends keyof typeof Id.PREFIXES>(name: Name, epochMillis: number) =>
  Id.make(name, epochMillis, IdBytes.next())

/**
 * A message's id and the moment it was asked for, which are one: `created_at` is the millisecond that the id begins with,
 * so that a range of times in the log is exactly a range of ids.
 */
export const newEmail = Effect.map(DateTime.now, (at) => newEmailAt(DateTime.toEpochMillis(at)))

export const newEmailAt = (epochMillis: number) => ({
  id: newIdAt("EmailId", epochMillis),
  asked: Timestamp.fromMillis(epochMillis),
})
