import { SecureRandom } from "effect/crypto"

/** Number of random bytes that `Id.make` takes. */
const BYTES = 10
/** Number of ids whose bytes are drawn in one system call: one call for each id would cost more than the rest of the id. */
export const IDS_PER_DRAW = 400

let drawn: Uint8Array = new Uint8Array(0)
let used = 0
const bytes = new Uint8Array(BYTES)

/** Returns unused random bytes for one id, until the next call. Not for secrets, which are drawn one by one. */
export const next = (): Uint8Array => {
  if (used === drawn.length) {
    drawn = SecureRandom.randomBytesUnsafe(BYTES * IDS_PER_DRAW)
    used = 0
  }
  for (let at = 0; at < BYTES; at++) bytes[at] = drawn[used++] ?? 0
  return bytes
}
