import { SecureRandom } from "effect/crypto"

/** What `Id.make` takes. */
const BYTES = 10
/** Ids that one request to the system pays for. Asked for one by one, the bytes cost more than the rest of the id. */
export const IDS_DRAWN_TOGETHER = 400

let drawn: Uint8Array = new Uint8Array(0)
let used = 0

/** Fresh random bytes for one id; each byte is given out once. For ids only: a secret is drawn for itself. */
export const next = (): Uint8Array => {
  if (used === drawn.length) {
    drawn = SecureRandom.randomBytesUnsafe(BYTES * IDS_DRAWN_TOGETHER)
    used = 0
  }
  return drawn.subarray(used, (used += BYTES))
}
