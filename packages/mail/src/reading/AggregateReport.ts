import { Clock, Data, Effect } from "effect"
import type * as DkimSignature from "../dkim/DkimSignature.ts"
import * as DkimVerify from "../dkim/DkimVerify.ts"
import type * as Dns from "../dns/Dns.ts"
import * as Parser from "../parsing/Parser.ts"
import type { Aggregate, AggregateProblem } from "../aggregate/readAggregate.ts"

/** The mail has no report, or none that can be read. */
export class Unusable extends Data.TaggedError("Unusable")<{
  readonly reason: AggregateProblem | "deadline" | "memory" | "crash"
}> {}

export interface Received {
  readonly report: Aggregate["report"]
  /** Domain that signed the mail, or only claims to have sent it if it is not verified. */
  readonly reporter: string
  /** Whether a genuine DKIM signature is aligned with the sender's domain. */
  readonly verified: boolean
}

/** Parses of aggregate reports wait in a queue of their own: their accounts are known only afterwards. */
const QUEUE = "aggregate reports"

/** Services of a key record that may sign a report. RFC 8460 §3 gives reports about TLS one of their own. */
const SERVICES = { Dmarc: ["email"], Tls: ["email", "tlsrpt"] } as const

/** Reads an aggregate report in bounded time and memory, and verifies who sent it. */
export const receive = Effect.fn("AggregateReport.receive")(function* (
  bytes: Uint8Array,
): Effect.fn.Return<Received, Unusable | DkimVerify.KeyUnavailable | Parser.Busy, Dns.Dns> {
  const read = yield* Effect.mapError(Parser.run("aggregate", bytes, QUEUE), (error) =>
    error._tag === "Busy" ? error : new Unusable({ reason: error.why }),
  )
  if (typeof read === "string") return yield* new Unusable({ reason: read })
  const { from, report, signatures } = read
  const signer = yield* DkimVerify.firstGenuine(
    signatures.filter((signature) => isAligned(signature, from)),
    { services: SERVICES[report._tag], now: yield* Clock.currentTimeMillis },
  )
  return { report, reporter: signer ?? from, verified: signer !== undefined }
})

/**
 * Relaxed alignment without a list of public suffixes: one domain lies below the other. The report counts as that of the
 * domain that signs, so a domain cannot speak for one above it.
 */
const isAligned = ({ domain }: DkimSignature.Signature, from: string): boolean =>
  domain === from || from.endsWith(`.${domain}`) || domain.endsWith(`.${from}`)
