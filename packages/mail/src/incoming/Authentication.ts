import * as InboundState from "@waybill/domain/inbound/InboundState"
import * as Text from "@waybill/domain/values/Text"
import { type Context, Duration, Effect } from "effect"
import { Readable } from "node:stream"
import { setImmediate } from "node:timers/promises"
import * as Canonical from "../dkim/DkimCanonical.ts"
import * as Dns from "../dns/Dns.ts"

/** Time limit of all lookups and hashes of one mail. */
export const JUDGED_WITHIN = Duration.seconds(15)
/** Bytes of a mail that are hashed before other work has its turn. */
const SLICE_BYTES = 64 * 1024
/**
 * Maximum bytes of a header and of one of its fields, and signatures and seals, of a mail that is judged. Each signature hashes
 * the whole mail. The library's work on a field grows with the square of its length, and of its white space above all.
 */
export const MAX_HEADER_BYTES = 64 * 1024
export const MAX_FIELD_BYTES = 16 * 1024
export const MAX_SIGNATURES = 20
/** White space that no field of a mail that is judged has, folds included. */
const ENDLESS_SPACE = /\s{40}/u
const FIELD_END = /\r\n(?![ \t])/u
const MAX_DOMAIN_CHARS = 253
const SIGNATURES: ReadonlySet<string> = new Set(["dkim-signature", "arc-message-signature", "arc-seal"])

/** Findings about a mail whose header is more than is looked into. */
const TOO_MUCH: InboundState.Authentication = { spf: "permerror", dkim: [], dmarc: "permerror", arc: "permerror" }
const LATER: InboundState.Authentication = { spf: "temperror", dkim: [], dmarc: "temperror", arc: "temperror" }

/** The client that brought a mail, and what it said. */
export interface Client {
  readonly address: string
  readonly helo: string
  /** The return path; empty for a bounce. */
  readonly from: string
  /** Name of the server that received the mail. */
  readonly receiver: string
}

/**
 * Judges who sent a mail: SPF by the client, DKIM and ARC by signatures, DMARC by both. The mail is hashed in slices, so that
 * other work has its turn. A mail is not refused for its result, which the customer's routes may look at.
 */
export const judge = Effect.fn("Authentication.judge")(function* (
  bytes: Uint8Array,
  { address, from, helo, receiver }: Client,
): Effect.fn.Return<InboundState.Authentication, never, Dns.Dns> {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerBytes = Canonical.splitAt(message)
  if (headerBytes > MAX_HEADER_BYTES) return TOO_MUCH
  const signatures = Canonical.fields(message, headerBytes).filter(({ name }) => SIGNATURES.has(name))
  if (signatures.length > MAX_SIGNATURES) return TOO_MUCH
  if (!isReadable(message.toString("latin1", 0, headerBytes)) || hasBlankSlice(message)) return TOO_MUCH
  const dns = yield* Dns.Dns
  const context = yield* Effect.context<never>()
  const judging = Effect.tryPromise(async (signal) => {
    // The library is loaded with the first mail that comes in.
    const { authenticate } = await import("mailauth")
    return authenticate(Readable.from(slicesOf(message, signal)), {
      ip: address,
      helo,
      sender: from,
      mta: receiver,
      disableBimi: true,
      resolver: resolver(dns, context) as never,
    })
  })
  return yield* judging.pipe(
    Effect.map(({ arc, dkim, dmarc, spf }): InboundState.Authentication => ({
      spf: resultOf(spf),
      dkim: dkim.results
        .filter(({ status }) => status.result !== "none")
        .slice(0, MAX_SIGNATURES)
        .map(({ signingDomain, status }) => ({
          domain: Text.clip(signingDomain ?? "", MAX_DOMAIN_CHARS),
          result: known(status.result),
        })),
      dmarc: resultOf(dmarc),
      arc: resultOf(arc),
    })),
    Effect.timeoutOrElse({ duration: JUDGED_WITHIN, orElse: () => Effect.succeed(LATER) }),
    Effect.catch((cause) =>
      Effect.as(
        Effect.logWarning("the sender of a mail could not be judged", { from: address }, cause),
        InboundState.NOT_JUDGED,
      ),
    ),
  )
})

/** Whether the library reads a header in time that no sender can draw out. */
const isReadable = (header: string): boolean =>
  !ENDLESS_SPACE.test(header) && header.split(FIELD_END).every(({ length }) => length <= MAX_FIELD_BYTES)

/** Whether a slice is white space only. The library keeps all of it until something follows, and reads it again each time. */
const hasBlankSlice = (message: Buffer): boolean => {
  for (let at = 0; at + SLICE_BYTES <= message.length; at += SLICE_BYTES)
    if (!/\S/u.test(message.toString("latin1", at, at + SLICE_BYTES))) return true
  return false
}

const RESULTS: ReadonlySet<string> = new Set<InboundState.SenderResult>([
  "pass",
  "fail",
  "softfail",
  "neutral",
  "none",
  "policy",
  "temperror",
  "permerror",
])
const known = (result: string): InboundState.SenderResult =>
  RESULTS.has(result) ? (result as InboundState.SenderResult) : "permerror"
const resultOf = (
  judged: false | undefined | { readonly status: { readonly result: string } },
): InboundState.SenderResult => (judged === false || judged === undefined ? "none" : known(judged.status.result))

/** Gives a slice after each turn of the event loop: a stream alone would give all of them in one. Ends with the signal. */
async function* slicesOf(message: Buffer, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let at = 0; at < message.length; at += SLICE_BYTES) {
    yield message.subarray(at, at + SLICE_BYTES)
    await setImmediate(undefined, { signal })
  }
}

/** Answers the library's queries, in the forms and with the error codes of node:dns. */
const resolver = (dns: Dns.Dns["Service"], context: Context.Context<never>) => async (name: string, type: string) => {
  const answer = await Effect.runPromiseWith(context)(query(dns, name, type))
  if (answer._tag === "Found") return answer.records
  throw Object.assign(new Error(`${type} of ${name}: ${answer.reason}`), { code: CODES[answer.reason] })
}

const CODES = {
  NXDOMAIN: "ENOTFOUND",
  NODATA: "ENODATA",
  SERVFAIL: "ESERVFAIL",
  TIMEOUT: "ETIMEOUT",
  REFUSED: "EREFUSED",
  UNREACHABLE: "ECONNREFUSED",
  BADRESP: "EBADRESP",
} as const

const query = (dns: Dns.Dns["Service"], name: string, type: string): Effect.Effect<Dns.Answer<unknown>> => {
  switch (type) {
    case "TXT":
      return Effect.map(
        dns.txt(name),
        mapped((text) => [text]),
      )
    case "MX":
      return Effect.map(
        dns.mx(name),
        mapped(({ exchange, preference }) => ({ exchange, priority: preference })),
      )
    case "A":
      return dns.a(name)
    case "AAAA":
      return dns.aaaa(name)
    case "CNAME":
      return dns.cname(name)
    case "PTR":
      return dns.ptr(addressIn(name))
    default:
      return Effect.succeed(Dns.notFound("NODATA"))
  }
}

const mapped =
  <A, B>(change: (record: A) => B) =>
  (answer: Dns.Answer<A>): Dns.Answer<B> =>
    answer._tag === "Found" ? Dns.found(answer.records.map(change)) : answer

/** Returns the address whose reverse name this is. */
const addressIn = (name: string): string => {
  const labels = name.toLowerCase().split(".").slice(0, -2).toReversed()
  return name.toLowerCase().endsWith(".ip6.arpa")
    ? (labels.join("").match(/.{1,4}/gu) ?? []).join(":")
    : labels.join(".")
}
