import type { Heading } from "@waybill/domain/inbound/InboundState"
import { digest, type Digest } from "./digest.ts"
import * as InboundHeading from "./Heading.ts"

export interface Arrival extends Digest {
  readonly heading: Heading
}

/** Reads all that is asked of a mail when it comes in, apart from its sender. */
export const readArrival = (bytes: Uint8Array): Arrival => ({ ...digest(bytes), heading: InboundHeading.read(bytes) })
