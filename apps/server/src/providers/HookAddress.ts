import * as Mac from "@waybill/mail/tokens/Mac"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { PROVIDERS, type Provider } from "./formats/ProviderEvent.ts"

export const PATH = "/hooks/"
/** End of the address at which a provider gets an access token. */
export const ACCESS = "/access"

const RANDOM_BYTES = 20
const PURPOSE = "waybill provider hook 1\0"

/** Keys under which addresses are made. The first makes them, all are accepted. */
export const hookKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("provider hooks"))

/** Makes the secret part of an address. It ends with a MAC, so that a guess costs no query. */
export const makeToken = (key: Uint8Array, provider: Provider): string => {
  const random = randomBytes(RANDOM_BYTES).toString("hex")
  return `${random}${Mac.tag(key, PURPOSE, `${provider} ${random}`)}`
}

/** Whether an instance key made this token. */
export const holds = (keys: ReadonlyArray<Uint8Array>, provider: string, token: string): boolean => {
  const [, random = "", tag = ""] = /^([0-9a-f]{40})([0-9a-z]{16})$/u.exec(token) ?? []
  return keys.some((key) => random !== "" && Mac.holds(key, PURPOSE, `${provider} ${random}`, tag))
}

export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex")

/** Place of the secret with which the calls of a hook are checked. */
export const secretRef = (hook_id: string) => ({ account_id: "", id: hook_id, purpose: "provider" })

export const isProvider = (text: string): text is Provider => PROVIDERS.some((each) => each === text)
