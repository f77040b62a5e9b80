import * as Table from "@waybill/domain/values/Table"
import { Effect } from "effect"
import type * as Dns from "../dns/Dns.ts"
import * as Network from "../dns/Network.ts"

/**
 * Blocklists that large receivers use and that anybody may query in small numbers. Spamhaus wants a contract for
 * commercial use and answers no public resolvers, so that none is queried unless the operator says so.
 */
export const LARGE: ReadonlyArray<string> = [
  "zen.spamhaus.org",
  "b.barracudacentral.org",
  "bl.spamcop.net",
  "psbl.surriel.com",
]

export interface Listing {
  readonly zone: string
  readonly status: "clear" | "listed" | "unknown"
  readonly result: string
}

/** RFC 5782 §5: every list contains this address and not the other one. */
const ALWAYS_LISTED = "127.0.0.2"
const NEVER_LISTED = "127.0.0.1"
/** Answers of these are errors of the query, not listings: Spamhaus for public resolvers, for too many queries, for typing errors. */
const ERROR_PREFIX = "127.255.255."
const ERRORS: Readonly<Record<string, string>> = {
  "127.255.255.252": "the zone is misspelled",
  "127.255.255.254": "it refuses queries through a public resolver",
  "127.255.255.255": "it refuses this resolver for too many queries",
}

const CLEAR = "not listed"
const MAX_REASON = 200

/** A blocklist, and what is wrong with it. */
export interface Tested {
  readonly zone: string
  /** The list does not contain the test address, or contains everything; undefined if it works. */
  readonly problem: string | undefined
}

/** Tests a list, so that its answers count. */
export const test = Effect.fn("Blocklists.test")(function* (dns: Dns.Queries, zone: string) {
  const [listed, unlisted] = yield* Effect.all(
    [dns.a(nameIn(zone, ALWAYS_LISTED)), dns.a(nameIn(zone, NEVER_LISTED))],
    {
      concurrency: 2,
    },
  )
  const always = readAnswer(listed)
  const problem =
    always.status === "unknown"
      ? always.result
      : always.status === "clear"
        ? "it does not answer this resolver, or is no blocklist any more"
        : readAnswer(unlisted).status === "listed"
          ? "it lists every address"
          : undefined
  return { zone, problem } satisfies Tested
})

/** Looks up an address in a blocklist that was tested a moment ago. */
export const lookUp = Effect.fn("Blocklists.lookUp")(function* (
  dns: Dns.Queries,
  { problem, zone }: Tested,
  address: string,
): Effect.fn.Return<Listing> {
  if (problem !== undefined) return { zone, status: "unknown", result: problem }
  const name = nameIn(zone, address)
  const read = readAnswer(yield* dns.a(name))
  if (read.status !== "listed") return { zone, ...read }
  const reason = yield* dns.txt(name)
  const text = reason._tag === "Found" ? (reason.records[0] ?? "").slice(0, MAX_REASON) : ""
  return { zone, status: "listed", result: text === "" ? read.result : `${read.result}: ${text}` }
})

const nameIn = (zone: string, address: string): string =>
  `${Network.reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/u, "")}.${zone}`

const readAnswer = (answer: Dns.Answer<string>): Omit<Listing, "zone"> => {
  if (answer._tag === "Unavailable") return { status: "unknown", result: `no answer (${answer.reason})` }
  if (answer._tag === "NotFound") return { status: "clear", result: CLEAR }
  const error = answer.records.find((record) => record.startsWith(ERROR_PREFIX))
  if (error !== undefined)
    return { status: "unknown", result: Table.at(ERRORS, error) ?? `it answers with the error ${error}` }
  const foreign = answer.records.find((record) => !record.startsWith("127."))
  // A resolver that answers for names that do not exist, or the new owner of a former list.
  if (foreign !== undefined) return { status: "unknown", result: `it answers with the foreign address ${foreign}` }
  return { status: "listed", result: answer.records.join(", ") }
}
