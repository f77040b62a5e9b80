import { createHash, createHmac, timingSafeEqual } from "node:crypto"

/** Time for which a token of OAuth 2.0 is good; the provider then gets another one. */
export const LIFETIME_S = 3_600
/** Maximum size of a request for a token: a name, a password and the kind of grant. */
export const MAX_REQUEST_BYTES = 8_192

const PURPOSE = "waybill provider access 1\0"
const SECOND_MS = 1_000

/** Name and password of a client, as `client_credentials` has them (RFC 6749 §4.4). */
interface Client {
  readonly id: string
  readonly secret: string
}

/** Reads a request for a token: a form, as the standard has it, or JSON, as SparkPost sends it. */
export const clientOf = (bytes: Uint8Array, contentType: string): Client | undefined => {
  const text = Buffer.from(bytes).toString("utf8")
  const fields = contentType.toLowerCase().startsWith("application/x-www-form-urlencoded")
    ? Object.fromEntries(new URLSearchParams(text))
    : objectOf(text)
  const { client_id, client_secret, grant_type = "client_credentials" } = fields
  return typeof client_id === "string" && typeof client_secret === "string" && grant_type === "client_credentials"
    ? { id: client_id, secret: client_secret }
    : undefined
}

const objectOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

/** Whether a client has the user and password of a hook. */
export const isClient = (secret: string, { id, secret: password }: Client): boolean =>
  isEqual(secret, `${id}:${password}`)

/** Makes a token. It says until when, and the secret of the hook proves it, so that nothing is stored. */
export const make = (secret: string, now: number): string => {
  const until = Math.floor(now / SECOND_MS) + LIFETIME_S
  return `${until}.${proofOf(secret, until)}`
}

export const isGood = (secret: string, token: string, now: number): boolean => {
  const [, until = "", proof = ""] = /^(\d{1,12})\.([\w-]{43})$/u.exec(token) ?? []
  return until !== "" && Number(until) * SECOND_MS > now && isEqual(proofOf(secret, Number(until)), proof)
}

const proofOf = (secret: string, until: number): string =>
  createHmac("sha256", secret).update(`${PURPOSE}${until}`).digest("base64url")

/** Compares digests, so that neither the length nor the content of a secret shows in the time. */
export const isEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
const digest = (text: string) => createHash("sha256").update(text).digest()
