import { createHash } from "node:crypto"
import * as Canonical from "./DkimCanonical.ts"

/** Returns the hash of the body of a message in relaxed form, as signatures have it. */
export const bodyHash = (bytes: Uint8Array): string => {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return createHash("sha256")
    .update(Canonical.relaxedBody(message.subarray(Canonical.splitAt(message))))
    .digest("base64")
}
