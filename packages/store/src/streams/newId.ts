import * as Id from "@waybill/domain/values/Id"
import { SecureRandom } from "effect/crypto"

/** Number of random bytes that `Id.make` takes. */
const RANDOM_BYTES = 10

/** Returns a new id for a time. */
export const newId = <Name extends keyof typeof Id.PREFIXES>(name: Name, epochMillis: number) =>
  Id.make(name, epochMillis, SecureRandom.randomBytesUnsafe(RANDOM_BYTES))
