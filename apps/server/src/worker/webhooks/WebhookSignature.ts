import { createHmac, createSecretKey, type KeyObject } from "node:crypto"

// Standard Webhooks. Imported by the command line too, so without other code of the service.

export const SECRET_PREFIX = "whsec_"

/** A call that is signed. */
export interface Signed {
  readonly id: string
  readonly body: string | Uint8Array
  /** JSON if it is absent. */
  readonly contentType?: string
  /** Secrets of the form `whsec_` and Base64; several while older ones still sign. */
  readonly secrets: ReadonlyArray<string>
  /** Whether the call has `svix-*` beside `webhook-*`. */
  readonly svixHeaders: boolean
}

const keyOf = (secret: string): KeyObject => createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), "base64"))

const signatureHeaders = (prefix: string, id: string, epochSeconds: number, signature: string) => ({
  [`${prefix}-id`]: id,
  [`${prefix}-timestamp`]: `${epochSeconds}`,
  [`${prefix}-signature`]: signature,
})

/** Signs `id.timestamp.body` by HMAC-SHA-256 with each secret, as Standard Webhooks specifies. */
export const signatures = (call: Pick<Signed, "id" | "body" | "secrets">, epochSeconds: number): string =>
  call.secrets
    .map((secret) => {
      const hmac = createHmac("sha256", keyOf(secret)).update(`${call.id}.${epochSeconds}.`).update(call.body)
      return `v1,${hmac.digest("base64")}`
    })
    .join(" ")

/** Returns the headers of a call. */
export const headersOf = (call: Signed, epochSeconds: number): Readonly<Record<string, string>> => {
  const signature = signatures(call, epochSeconds)
  return {
    "content-type": call.contentType ?? "application/json",
    "user-agent": "Waybill",
    ...signatureHeaders("webhook", call.id, epochSeconds, signature),
    ...(call.svixHeaders ? signatureHeaders("svix", call.id, epochSeconds, signature) : {}),
  }
}
