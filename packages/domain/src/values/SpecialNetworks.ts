import * as Network from "./Network.ts"

/**
 * The special-purpose networks that requests made for a customer must not reach. Webhook creation and dispatch,
 * delivery to MX hosts and queries to name servers all use this one list.
 *
 * IPv4 addresses are public unless they lie in a block of this table. IPv6 addresses are public only in 2000::/3, less
 * the blocks of this table. The table holds every entry of IANA's special-purpose address registries, including those
 * that are "globally reachable" there (AS112, AMT): no customer's server has such an address.
 */
export const BLOCKS: ReadonlyArray<readonly [cidr: string, range: string]> = [
  ["0.0.0.0/8", "unspecified"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "carrier-grade-nat"],
  ["127.0.0.0/8", "loopback"],
  // Cloud metadata services use this block.
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "as112"],
  ["192.52.193.0/24", "amt"],
  // Formerly 6to4 relays (RFC 7526).
  ["192.88.99.0/24", "reserved"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "as112"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::ffff:0:0:0/96", "ipv4-translated"],
  ["64:ff9b:1::/48", "nat64"],
  ["100::/64", "discard"],
  ["100:0:0:1::/64", "dummy"],
  ["2001::/32", "teredo"],
  // The rest of IANA's protocol assignments: benchmarking, AMT, AS112, ORCHID, drone identifiers.
  ["2001::/23", "reserved"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "as112"],
  ["3fff::/20", "documentation"],
  ["5f00::/16", "segment-routing"],
  ["fc00::/7", "private"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "site-local"],
  ["ff00::/8", "multicast"],
]

const SPECIAL = BLOCKS.flatMap(([cidr, range]) => {
  const block = Network.parseBlock(cidr)
  return block === undefined ? [] : [{ block, range }]
})

/** RFC 4291 §2.4: the only IPv6 block assigned to hosts on the internet. */
const GLOBAL_UNICAST: Network.Block = { base: Uint8Array.of(0x20, ...Array.from({ length: 15 }, () => 0)), bits: 3 }
/**
 * RFC 6052 §2.1. The local-use prefix (RFC 8215) may embed the IPv4 address at any position, so it is refused as a
 * whole.
 */
const NAT64_PREFIX = [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]

/** Returns the address that packets reach: a NAT64 gateway forwards 64:ff9b::/96 to the embedded IPv4 address. */
export const destination = (ip: Network.Ip): Network.Ip =>
  ip.length === 16 && NAT64_PREFIX.every((byte, i) => ip[i] === byte) ? ip.subarray(12) : ip

/** Returns the special range of an address; undefined for a public address. */
export const rangeOf = (text: string): string | undefined => {
  const parsed = Network.parseIp(text)
  if (parsed === undefined) return "malformed"
  const ip = destination(parsed)
  const special = SPECIAL.find(({ block }) => Network.holds(block, ip))
  if (special !== undefined) return special.range
  return ip.length === 4 || Network.holds(GLOBAL_UNICAST, ip) ? undefined : "reserved"
}

/** Whether an address must not be connected to for a customer. A text that is not an address counts as special. */
export const isSpecial = (text: string): boolean => rangeOf(text) !== undefined

/** Whether the operator allows the address, or the IPv4 address embedded in it. */
export const isAllowed = (networks: ReadonlyArray<Network.Network>, text: string): boolean => {
  const ip = Network.parseIp(text)
  return ip !== undefined && Network.containsIp(networks, destination(ip))
}
