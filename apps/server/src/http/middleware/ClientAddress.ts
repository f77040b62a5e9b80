import * as Network from "@waybill/mail/dns/Network"

/** A chain of proxies longer than this is a forgery; what is further left is not read. */
export const MAX_HOPS = 32
/** A Unix socket has no address; whoever speaks through one is this machine. */
const LOCAL = "127.0.0.1"

/**
 * Who is really calling. `X-Forwarded-For` is walked from the right, where the nearest proxy wrote: each trusted address
 * vouches for the one to its left, and the first that is not trusted is the client. What a client wrote itself stands
 * further left and is never reached.
 */
export const of = (
  remoteAddress: string | undefined,
  forwarded: string | undefined,
  trusted: Network.Networks,
): string => {
  const peer = remoteAddress ?? LOCAL
  return forwarded === undefined || !Network.contains(trusted, peer) ? peer : walk(peer, forwarded, trusted)
}

const walk = (peer: string, forwarded: string, trusted: Network.Networks): string => {
  let client = peer
  for (const hop of forwarded.split(",").slice(-MAX_HOPS).reverse()) {
    const address = withoutPort(hop.trim())
    // Nobody can vouch for what is no address.
    if (Network.refusedRange(address) === "malformed") return client
    client = address
    if (!Network.contains(trusted, address)) return client
  }
  return client
}

/** Some proxies write `203.0.113.7:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string => {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/u.exec(hop)
  if (bracketed !== null) return bracketed[1] ?? hop
  return /^[\d.]+:\d+$/u.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop
}
