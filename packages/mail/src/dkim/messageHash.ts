import { hash, webcrypto } from "node:crypto"

/** Bytes that take a millisecond to hash. */
const LARGE_BYTES = 1024 * 1024

/** Returns SHA-256 of a whole message in base64url, computed in another thread if it is large. */
export const messageHash = async (bytes: Uint8Array): Promise<string> =>
  bytes.length < LARGE_BYTES
    ? hash("sha256", bytes, "base64url")
    : Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)).toString("base64url")
