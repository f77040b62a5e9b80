import * as Network from "@waybill/mail/dns/Network"
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Maximum number of proxies that are followed in X-Forwarded-For. */
export const MAX_HOPS = 32
/** Address of a client on a Unix socket. */
const LOCAL = "127.0.0.1"

/**
 * Returns the client's address. Walks `X-Forwarded-For` from the right, where the nearest proxy wrote: the first
 * address that is not a trusted proxy is the client. Entries that the client wrote itself are further left and never
 * reached.
 */
export const of = (
  remoteAddress: string | undefined,
  forwarded: string | undefined,
  trusted: Network.Networks,
): string => {
  const peer = remoteAddress ?? LOCAL
  return forwarded === undefined || !Network.contains(trusted, peer) ? peer : walk(peer, forwarded, trusted)
}

/** Returns the address of the client of a request. */
export const ofRequest = (
  { headers, remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">,
  trusted: Network.Networks,
): string => of(Option.getOrUndefined(remoteAddress), headers["x-forwarded-for"], trusted)

const walk = (peer: string, forwarded: string, trusted: Network.Networks): string => {
  let client = peer
  for (const hop of forwarded.split(",").slice(-MAX_HOPS).reverse()) {
    const address = withoutPort(hop.trim())
    // An entry that is not an address ends the walk.
    if (Network.refusedRange(address) === "malformed") return client
    client = address
    if (!Network.contains(trusted, address)) return client
  }
  return client
}

/** Some proxies write the port too: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string => {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/u.exec(hop)
  if (bracketed !== null) return bracketed[1] ?? hop
  return /^[\d.]+:\d+$/u.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop
}
