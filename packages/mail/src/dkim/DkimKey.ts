import { Effect, Redacted } from "effect"
import { createPublicKey, generateKeyPair, type KeyObject } from "node:crypto"

/** Size that all receivers accept; a key of 4096 bits does not fit the TXT string of many DNS panels. */
export const RSA_BITS = 2048

export type Algorithm = "rsa" | "ed25519"

export interface KeyPair {
  readonly algorithm: Algorithm
  /** PKCS #8 DER: the form that is sealed and stored. */
  readonly privateKey: Redacted.Redacted<Uint8Array>
  /** Value of the TXT record of this key. */
  readonly record: string
}

/** Runs on the thread pool, since the search for primes takes tens of milliseconds. */
export const generateRsa: Effect.Effect<KeyPair> = Effect.callback((resume) => {
  generateKeyPair("rsa", { modulusLength: RSA_BITS }, (error, _publicKey, privateKey) =>
    resume(error === null ? Effect.succeed(pair("rsa", privateKey)) : Effect.die(error)),
  )
})

export const generateEd25519: Effect.Effect<KeyPair> = Effect.callback((resume) => {
  generateKeyPair("ed25519", {}, (error, _publicKey, privateKey) =>
    resume(error === null ? Effect.succeed(pair("ed25519", privateKey)) : Effect.die(error)),
  )
})

const pair = (algorithm: Algorithm, privateKey: KeyObject): KeyPair => ({
  algorithm,
  privateKey: Redacted.make(new Uint8Array(privateKey.export({ format: "der", type: "pkcs8" }))),
  record: `v=DKIM1; k=${algorithm}; p=${publicKey(algorithm, privateKey)}`,
})

/** RFC 6376 §3.6.1 publishes the whole SubjectPublicKeyInfo, RFC 8463 §4 the 32 bare bytes. */
const publicKey = (algorithm: Algorithm, privateKey: KeyObject): string => {
  const der = createPublicKey(privateKey).export({ format: "der", type: "spki" })
  return (algorithm === "rsa" ? der : der.subarray(-ED25519_BYTES)).toString("base64")
}

const ED25519_BYTES = 32
