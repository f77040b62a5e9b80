import type { Sha256 } from "@waybill/domain/values/Sha256"
import { createHash } from "node:crypto"
import * as ForwardMark from "../tokens/ForwardMark.ts"

export interface Digest {
  readonly sha256: Sha256
  /** Servers that the mail has passed, by its Received fields. */
  readonly hops: number
  /** Marks of the addresses of this installation that it was forwarded from. */
  readonly marks: ReadonlyArray<string>
}

const MAX_HOPS_COUNTED = 1_000

/** Returns what tells a mail from others, how many servers it has passed, and whether it was here before. */
export const digest = (bytes: Uint8Array): Digest => {
  const head = headOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return {
    sha256: createHash("sha256").update(bytes).digest("hex") as Sha256,
    hops: hopsIn(head),
    marks: ForwardMark.readAll(head),
  }
}

const headOf = (bytes: Buffer): string => {
  const end = bytes.indexOf("\r\n\r\n")
  return bytes.toString("latin1", 0, end === -1 ? bytes.length : end + 2)
}

const hopsIn = (head: string): number => {
  let hops = /^received:/iu.test(head) ? 1 : 0
  for (const _ of head.matchAll(/\r\nreceived:/giu)) if (++hops === MAX_HOPS_COUNTED) break
  return hops
}
