import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect } from "effect"

/**
 * Derives the keys of return paths. The first one signs, all of them verify, so that reports on mail from before a key
 * rotation are accepted.
 */
export const returnPathKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("return path"))

export const returnPathKey = Effect.map(returnPathKeys, ([current]) => current ?? new Uint8Array())
