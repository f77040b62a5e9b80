/** Bytes in the form that Web Cryptography takes. */
export type Bytes = Uint8Array<ArrayBuffer>

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

export const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))

export const concat = (...parts: ReadonlyArray<Bytes>): Bytes => Uint8Array.from(parts.flatMap((part) => [...part]))

export const areEqual = (one: Bytes, other: Bytes): boolean => toHex(one) === toHex(other)

export const toHex = (bytes: Bytes): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

export const toBase64 = (bytes: Bytes): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))

export const toBase64url = (bytes: Bytes): string =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/u, "")

/** Decodes standard base64. Throws for every spelling but the one that `toBase64` writes, so that none can be exchanged. */
export const fromBase64 = (text: string): Bytes => decoded(text, text, toBase64)

/** Decodes base64url without padding, as strictly. */
export const fromBase64url = (text: string): Bytes =>
  decoded(text, text.replaceAll("-", "+").replaceAll("_", "/"), toBase64url)

const decoded = (text: string, standard: string, encode: (bytes: Bytes) => string): Bytes => {
  let binary = ""
  try {
    binary = atob(standard)
  } catch {
    // Its characters are not those of base64, which the comparison refuses.
  }
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0))
  if (encode(bytes) !== text) throw new Error("Something is not base64 as it is usually written.")
  return bytes
}

/** Verifies a signature of Ed25519 (RFC 8032). Throws where Web Cryptography does not have it. */
export const verifyEd25519 = async (key: Bytes, signature: Bytes, message: Bytes): Promise<boolean> => {
  const imported = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"])
  return crypto.subtle.verify("Ed25519", imported, signature, message)
}
