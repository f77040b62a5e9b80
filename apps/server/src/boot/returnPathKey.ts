import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect } from "effect"

/**
 * What makes and checks return paths: the first makes, all of them check, so that a report on mail from before a rotation
 * is still believed.
 */
export const returnPathKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("return path"))

export const returnPathKey = Effect.map(returnPathKeys, ([current]) => current ?? new Uint8Array())
