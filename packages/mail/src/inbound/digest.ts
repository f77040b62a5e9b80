import type { Sha256 } from "@waybill/domain/values/Sha256"
import { createHash } from "node:crypto"

export interface Digest {
  readonly sha256: Sha256
  /** Servers that the mail has passed, by its Received fields. */
  readonly hops: number
}

const MAX_HOPS_COUNTED = 1_000

/** Returns what tells a mail from others, and how many servers it has passed. */
export const digest = (bytes: Uint8Array): Digest => ({
  sha256: createHash("sha256").update(bytes).digest("hex") as Sha256,
  hops: hopsIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
})

const hopsIn = (bytes: Buffer): number => {
  const end = bytes.indexOf("\r\n\r\n")
  const head = bytes.toString("latin1", 0, end === -1 ? bytes.length : end)
  let hops = /^received:/iu.test(head) ? 1 : 0
  for (const _ of head.matchAll(/\r\nreceived:/giu)) if (++hops === MAX_HOPS_COUNTED) break
  return hops
}
