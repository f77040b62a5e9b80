import { valueOr } from "@waybill/runtime/flow/valueOr"
import { Data, Effect } from "effect"
import { createHash, createPublicKey, type KeyObject, verify as verifyBytes } from "node:crypto"
import * as TagList from "../compose/TagList.ts"
import * as Dns from "../dns/Dns.ts"
import type { Signature } from "./DkimSignature.ts"

/** RFC 8301 §3.2: shorter RSA keys prove nothing. */
const MIN_RSA_BITS = 1024
/** Longest RSA key that is used: the time of a verification grows with the square of the length. */
const MAX_RSA_BITS = 8192
/** Maximum number of TXT records at a selector that are tried. There should be one. */
const MAX_KEY_RECORDS = 3
const ED25519_BYTES = 32
/** Bytes before those of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410). */
const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex")

/** DNS did not answer for the key, so that nothing is known about the signature. */
export class KeyUnavailable extends Data.TaggedError("KeyUnavailable")<{ readonly name: string }> {}

export interface Options {
  /** Service of `s=` in the key record that a message may be signed for, beside `*`. */
  readonly services: ReadonlyArray<string>
  /** Milliseconds since 1970, for `x=`. */
  readonly now: number
}

/** Returns the domain of the first genuine signature; undefined if there is none. */
export const firstGenuine = Effect.fn("DkimVerify.firstGenuine")(function* (
  signatures: ReadonlyArray<Signature>,
  options: Options,
) {
  let unavailable: KeyUnavailable | undefined
  for (const signature of signatures) {
    const genuine = yield* Effect.catch(isGenuine(signature, options), (error) => {
      unavailable = error
      return Effect.succeed(false)
    })
    if (genuine) return signature.domain
  }
  if (unavailable !== undefined) return yield* unavailable
  return undefined
})

const isGenuine = Effect.fnUntraced(function* (
  signature: Signature,
  options: Options,
): Effect.fn.Return<boolean, KeyUnavailable, Dns.Dns> {
  if (signature.expiresAt !== null && signature.expiresAt * 1000 < options.now) return false
  const dns = yield* Dns.Dns
  const name = `${signature.selector}._domainkey.${signature.domain}`
  const answer = yield* dns.txt(name)
  if (answer._tag === "Unavailable") return yield* new KeyUnavailable({ name })
  if (answer._tag === "NotFound") return false
  for (const record of answer.records.slice(0, MAX_KEY_RECORDS)) {
    const key = keyIn(record, signature, options)
    if (key !== undefined && (yield* verify(key, signature))) return true
  }
  return false
})

const keyIn = (record: string, signature: Signature, { services }: Options): KeyObject | undefined => {
  const tags = TagList.parse(record)
  if (tags === undefined || (tags.has("v") && tags.get("v") !== "DKIM1")) return undefined
  if ((tags.get("k") ?? "rsa") !== signature.algorithm) return undefined
  if (tags.has("h") && !listOf(tags.get("h")).includes("sha256")) return undefined
  if (tags.has("s") && !listOf(tags.get("s")).some((one) => one === "*" || services.includes(one))) return undefined
  const flags = listOf(tags.get("t"))
  // A domain that tests DKIM asks to be treated as if it did not sign.
  if (flags.includes("y") || (flags.includes("s") && signature.identity !== signature.domain)) return undefined
  return publicKey(signature.algorithm, Buffer.from(tags.get("p") ?? "", "base64"))
}

const listOf = (value = ""): ReadonlyArray<string> => value.split(":").map((word) => word.trim().toLowerCase())

const publicKey = (algorithm: Signature["algorithm"], bytes: Buffer): KeyObject | undefined => {
  if (algorithm === "ed25519")
    return bytes.length === ED25519_BYTES ? parsed(Buffer.concat([ED25519_PREFIX, bytes]), "spki") : undefined
  // RFC 6376 §3.6.1 can be read as the bare key, and some publish that.
  const key = parsed(bytes, "spki") ?? parsed(bytes, "pkcs1")
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0
  return key?.asymmetricKeyType === "rsa" && bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS ? key : undefined
}

const parsed = (key: Buffer, type: "spki" | "pkcs1"): KeyObject | undefined =>
  valueOr(() => createPublicKey({ key, format: "der", type }), undefined)

const verify = (key: KeyObject, { algorithm, data, value }: Signature): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const done = (error: Error | null, isRight: boolean) => resume(Effect.succeed(error === null && isRight))
    // RFC 8463 §3: Ed25519 signs the SHA-256 of the data, not the data.
    if (algorithm === "ed25519") verifyBytes(null, createHash("sha256").update(data).digest(), key, value, done)
    else verifyBytes("sha256", data, key, value, done)
  })
