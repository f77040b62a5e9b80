import { SecureRandom } from "effect/crypto"

/** Number of random bytes that `Id.make` takes. */
const BYTES = 10
/** Number of ids whose bytes are drawn in one system call: one call for each id would cost more than the rest of the id. */
export const IDS_PER_DRAW = 400

let drawn: Uint8Array = new Uint8Array(0)
let used = 0

/** Returns unused random bytes for one id. Not for secrets, which are drawn one by one. */
export const next = (): Uint8Array => {
  if (used === drawn.length) {
    drawn = SecureRandom.randomBytesUnsafe(BYTES * IDS_PER_DRAW)
    used = 0
  }
  return drawn.subarray(used, (used += BYTES))
}
