import { createPrivateKey, createPublicKey, createSign, hkdfSync } from "node:crypto"
import * as WebhookSignature from "./WebhookSignature.ts"

/** Headers of SendGrid's signed event webhook. */
const SIGNATURE = "x-twilio-email-event-webhook-signature"
const TIMESTAMP = "x-twilio-email-event-webhook-timestamp"

/**
 * Returns the headers that sign a call by ECDSA as SendGrid does: P-256 with SHA-256, over the timestamp and the body. The
 * header holds one signature, so only the newest secret signs.
 */
export const headersOf = (
  secret: string,
  body: string | Uint8Array,
  epochSeconds: number,
): Readonly<Record<string, string>> => ({
  [SIGNATURE]: createSign("sha256").update(`${epochSeconds}`).update(body).sign(privateKeyOf(secret), "base64"),
  [TIMESTAMP]: `${epochSeconds}`,
})

/** Returns the key that verifies the signatures of a secret, as SendGrid shows its own: SPKI in base64. */
export const publicKeyOf = (secret: string): string =>
  createPublicKey(privateKeyOf(secret)).export({ format: "der", type: "spki" }).toString("base64")

/** The order of P-256. A private key is a number below it, from 1. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const INFO = "waybill webhook ecdsa p-256"
/** More bytes than the key has, so that the remainder favours no key. */
const DERIVED_BYTES = 48
const KEY_BYTES = 32

/** The parts of an ECPrivateKey (RFC 5915) around the number: version 1, and the name of the curve. */
const HEAD = Buffer.from("30310201010420", "hex")
const CURVE = Buffer.from("a00a06082a8648ce3d030107", "hex")

/** The key follows from the secret, so that nothing else is to be stored and rotated. */
const privateKeyOf = (secret: string) => {
  const input = Buffer.from(secret.slice(WebhookSignature.SECRET_PREFIX.length), "base64")
  const derived = Buffer.from(hkdfSync("sha256", input, "", INFO, DERIVED_BYTES)).toString("hex")
  const number = (BigInt(`0x${derived}`) % (ORDER - 1n)) + 1n
  const key = Buffer.from(number.toString(16).padStart(2 * KEY_BYTES, "0"), "hex")
  return createPrivateKey({ key: Buffer.concat([HEAD, key, CURVE]), format: "der", type: "sec1" })
}
