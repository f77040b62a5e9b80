import { valueOr } from "@waybill/runtime/flow/valueOr"
import { createHash, createHmac, createPublicKey, verify } from "node:crypto"
import * as AccessToken from "./AccessToken.ts"
import * as Event from "./formats/ProviderEvent.ts"
import type { Provider } from "./formats/ProviderEvent.ts"

/** Age of a signature beyond which a call counts as replayed. Providers sign a repeated call again. */
export const MAX_AGE_MS = 15 * 60_000
/** `MAX_AGE_MS` of Mailgun, which repeats a call with its first signature for eight hours. */
export const MAX_AGE_MAILGUN_MS = 12 * 3_600_000

const SECOND_MS = 1_000

/** Shortest key of Resend; the service makes ones of 24 bytes and more. */
const MIN_KEY_BYTES = 16

export interface Call {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Uint8Array
  readonly now: number
}

/** Why a call is not authentic; undefined if it is. */
type Check = (secret: string, call: Call) => string | undefined

/**
 * Checks by header, which come before the body is parsed. The proof of Mailgun is in the body, that of Amazon in
 * `SnsMessage.ts`.
 */
export const BY_HEADER: { readonly [P in Exclude<Provider, "ses" | "mailgun">]: Check } = {
  // SHA-256 with ECDSA over time and body, with the public key that SendGrid shows.
  sendgrid: (secret, { bytes, headers, now }) => {
    const signature = headers["x-twilio-email-event-webhook-signature"]
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"]
    if (signature === undefined || timestamp === undefined) return "signature_missing"
    const signed = Buffer.concat([Buffer.from(timestamp), bytes])
    if (!isSignedBy(secret, signed, Buffer.from(signature, "base64"))) return "signature_wrong"
    return ageOf(timestamp, now, MAX_AGE_MS)
  },
  // HMAC with SHA-256 over id, time and body, as Standard Webhooks has it; a rotated secret signs twice.
  resend: (secret, { bytes, headers, now }) => {
    const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => headers[`svix-${name}`])
    if (id === undefined || timestamp === undefined || signatures === undefined) return "signature_missing"
    const key = resendKeyOf(secret)
    // A point in the id would let the time and the body begin elsewhere than where they were signed.
    if (key === undefined || !/^[\w-]{1,255}$/u.test(id)) return "signature_wrong"
    const own = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(bytes).digest("base64")
    const isSigned = signatures.split(" ").some((each) => AccessToken.isEqual(`v1,${own}`, each))
    return isSigned ? ageOf(timestamp, now, MAX_AGE_MS) : "signature_wrong"
  },
  postmark: (secret, { headers }) => ofAuthorization(secret, headers),
  sparkpost: (secret, { headers, now }) => ofAuthorization(secret, headers, now),
}

/** The part of a call of Mailgun that proves it. */
export interface MailgunProof {
  /** Names the call; Mailgun repeats it with a repeated call. */
  readonly token: string
  /** Digest of the event, which the signature does not cover. */
  readonly digest: string
}

/** Checks the HMAC with SHA-256 over time and token in the body of a call of Mailgun. Returns why it is wrong, as a text. */
export const ofMailgun = (secret: string, body: unknown, now: number): MailgunProof | string => {
  const call = Event.fields(body)
  const { signature, timestamp, token } = textsOf(call["signature"])
  if (signature === undefined || timestamp === undefined || token === undefined) return "signature_missing"
  // Time and token are signed as one text, so that only one form of each is accepted.
  if (!/^[\w-]{10,200}$/u.test(token)) return "signature_wrong"
  const own = createHmac("sha256", secret).update(`${timestamp}${token}`).digest("hex")
  if (!AccessToken.isEqual(own, signature)) return "signature_wrong"
  const digest = createHash("sha256")
    .update(JSON.stringify(call["event-data"] ?? null))
    .digest("base64url")
  return ageOf(timestamp, now, MAX_AGE_MAILGUN_MS) ?? { token, digest }
}

/** The key in a secret of Resend; undefined if it is none. */
export const resendKeyOf = (secret: string): Buffer | undefined => {
  const key = Buffer.from(secret.replace(/^whsec_/u, ""), "base64")
  return key.length < MIN_KEY_BYTES ? undefined : key
}

/** `user:password` of basic authentication, or an access token: the secret itself, or one of OAuth until its end. */
const ofAuthorization = (secret: string, headers: Call["headers"], now?: number): string | undefined => {
  const [, scheme = "", value = ""] = /^(basic|bearer) +(\S+)$/iu.exec(headers["authorization"] ?? "") ?? []
  if (scheme === "") return "authorization_missing"
  const own = scheme.toLowerCase() === "basic" ? Buffer.from(secret).toString("base64") : secret
  const isGranted = now !== undefined && scheme.toLowerCase() === "bearer" && AccessToken.isGood(secret, value, now)
  return isGranted || AccessToken.isEqual(own, value) ? undefined : "authorization_wrong"
}

const ageOf = (timestamp: string, now: number, max: number): string | undefined =>
  /^\d{1,12}$/u.test(timestamp) && Math.abs(now - Number(timestamp) * SECOND_MS) <= max
    ? undefined
    : "signature_too_old"

const isSignedBy = (key: string, signed: Uint8Array, signature: Uint8Array): boolean =>
  valueOr(() => isVerificationKey(key) && verify("sha256", signed, publicKeyOf(key), signature), false)

/** Reads the key as SendGrid shows it: base64 of a SubjectPublicKeyInfo. Throws if it is none. */
const publicKeyOf = (key: string) => createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" })

/** Whether a text is a key of SendGrid, which is of the curve P-256. */
export const isVerificationKey = (text: string): boolean => {
  try {
    const { asymmetricKeyDetails, asymmetricKeyType } = publicKeyOf(text)
    return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1"
  } catch {
    return false
  }
}

const textsOf = (value: unknown): Readonly<Record<string, string | undefined>> =>
  typeof value !== "object" || value === null
    ? {}
    : Object.fromEntries(
        Object.entries(value).map(([name, each]) => [
          name,
          typeof each === "string" || typeof each === "number" ? String(each) : undefined,
        ]),
      )
