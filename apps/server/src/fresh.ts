import * as Id from "@waybill/domain/Id"
import * as Timestamp from "@waybill/domain/Timestamp"
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"

const RANDOM_BYTES = 10

/** The moment, as decisions take it. */
export const now = Effect.map(DateTime.now, Timestamp.fromDateTime)

/** An id that was never given before. */
export const newId = <Name extends keyof typeof Id.PREFIXES>(name: Name) =>
  Effect.map(DateTime.now, (at) =>
    Id.make(name, DateTime.toEpochMillis(at), SecureRandom.randomBytesUnsafe(RANDOM_BYTES)),
  )
