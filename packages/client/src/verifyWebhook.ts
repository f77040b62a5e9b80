import { WaybillError } from "./WaybillError.ts"

/** Maximum difference between the clocks of sender and receiver. An older call may be a replay attack. */
export const TOLERANCE_SECONDS = 5 * 60

export interface WebhookEvent {
  readonly id: string
  readonly type: string
  readonly api_version: string
  readonly created_at: string
  /** Order of events of one object, such as an email or a domain, from 1. Null for a test event. */
  readonly sequence: number | null
  readonly data: Readonly<Record<string, unknown>>
}

type HeadersLike = Headers | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/**
 * Verifies a webhook call against your secrets and returns its event. `body` must be the raw text: parsing and
 * serialising it again changes it.
 */
export const verifyWebhook = async (
  body: string,
  headers: HeadersLike,
  secret: string | ReadonlyArray<string>,
  now: number = Date.now(),
): Promise<WebhookEvent> => {
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return (typeof value === "string" ? value : value?.[0]) ?? ""
  }
  const id = header("webhook-id")
  const timestamp = header("webhook-timestamp")
  const age = Math.abs(now / 1000 - Number(timestamp))
  if (id === "" || !/^\d+$/.test(timestamp)) throw refuse("the webhook headers are missing")
  if (age > TOLERANCE_SECONDS) throw refuse("the timestamp is too old, or a clock is wrong")
  const signatures = header("webhook-signature")
    .split(" ")
    .filter((part) => part.startsWith("v1,"))
    .map((part) => part.slice(3))
  const text = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const each of typeof secret === "string" ? [secret] : secret) {
    const expected = await sign(each, text)
    if (signatures.some((signature) => equal(signature, expected))) return JSON.parse(body) as WebhookEvent
  }
  throw refuse("no signature matches your secrets")
}

const refuse = (problem: string): WaybillError =>
  new WaybillError({ code: "unauthorized", reason: "webhook_not_verified", message: `Webhook refused: ${problem}.` })

const sign = async (secret: string, text: Uint8Array<ArrayBuffer>): Promise<string> => {
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (char) => char.charCodeAt(0))
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, text))
  return btoa(String.fromCharCode(...mac))
}

/** Compares in constant time for texts of equal length. */
const equal = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
