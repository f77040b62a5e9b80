import * as SpecialNetworks from "@waybill/domain/values/SpecialNetworks"
import { Result, Schema } from "effect"
import ipaddr from "ipaddr.js"

/** A network as operators write it. `SpecialNetworks` alone decides which addresses are public. */
export interface Network {
  readonly cidr: string
  readonly base: ipaddr.IPv4 | ipaddr.IPv6
  readonly bits: number
}
export type Networks = ReadonlyArray<Network>

/** Maximum number of an operator's networks; a longer list is a mistake in a template. */
export const MAX_NETWORKS = 64

export class BadNetwork extends Schema.TaggedError<BadNetwork>()("BadNetwork", { network: Schema.String }) {
  override get message() {
    return `${this.network} is not a network; write it as 10.0.0.0/8 or fd00::/8`
  }
}

/** Parses one network; a single address is a network of itself. */
export const parse = (text: string): Result.Result<Network, BadNetwork> => {
  const [address = "", mask, ...rest] = text.trim().split("/")
  if (rest.length > 0 || !isAddress(address)) return Result.fail(new BadNetwork({ network: text }))
  const base = ipaddr.parse(address)
  const width = base.kind() === "ipv4" ? 32 : 128
  const bits = mask === undefined ? width : /^\d{1,3}$/u.test(mask) ? Number(mask) : -1
  if (bits < 0 || bits > width) return Result.fail(new BadNetwork({ network: text }))
  return Result.succeed({ cidr: `${address}/${bits}`, base, bits })
}

export const parseAll = (texts: ReadonlyArray<string>): Result.Result<Networks, BadNetwork> =>
  texts.length > MAX_NETWORKS
    ? Result.fail(new BadNetwork({ network: `a list of ${texts.length}` }))
    : Result.all(texts.map(parse))

export const contains = (networks: Networks, address: string): boolean => {
  if (!isAddress(address)) return false
  const real = unwrap(ipaddr.parse(address))
  return networks.some((network) => holds(network, real))
}

/**
 * Returns the special range that forbids connecting to an address; undefined when it is public or lies in an allowed
 * network.
 */
export const refusedRange = (address: string, allowed: Networks = []): string | undefined => {
  if (!isAddress(address)) return "malformed"
  const real = unwrap(ipaddr.parse(address))
  if (allowed.some((network) => holds(network, real))) return undefined
  return SpecialNetworks.rangeOf(address)
}

export const isReachable = (address: string, allowed: Networks = []): boolean =>
  refusedRange(address, allowed) === undefined

/**
 * Returns the address that a literal host stands for; undefined for a name. Numbers in any notation that a resolver
 * would take for an address (`2130706433`, `0x7f.1`, `017700000001`, full-width digits) are read as that address.
 */
export const literal = (host: string): string | undefined => {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host
  if (isAddress(bare)) return ipaddr.parse(bare).toString()
  // The URL parser holds the one definition of these notations, and fetch follows the same.
  if (!URL.canParse(`http://${bare}/`)) return undefined
  const { hostname } = new URL(`http://${bare}/`)
  return isAddress(hostname) ? hostname : undefined
}

/** Returns the reverse name of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export const reverseName = (address: string): string => {
  const real = ipaddr.parse(address)
  const bytes = real.toByteArray().toReversed()
  if (real.kind() === "ipv4") return `${bytes.join(".")}.in-addr.arpa`
  return `${bytes.map((byte) => `${(byte & 15).toString(16)}.${(byte >> 4).toString(16)}`).join(".")}.ip6.arpa`
}

/**
 * RFC 6052 §2.1. The local-use prefix beside it (RFC 8215) may put the IPv4 address anywhere, so it is not unwrapped.
 */
const NAT64: Network = { cidr: "64:ff9b::/96", base: ipaddr.parse("64:ff9b::"), bits: 96 }

/** Strict: `ipaddr.parse` alone takes `127.1`, and a zone (`fe80::1%eth0`) means nothing for another host. */
const isAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (!text.includes("%") && ipaddr.IPv6.isValid(text))

/** Returns the IPv4 address inside an IPv6 one, as the kernel (mapped addresses) or a NAT64 gateway would unwrap it. */
const unwrap = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 => {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return holds(NAT64, address) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address
}

const holds = (network: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  network.base.kind() === address.kind() && address.match(network.base, network.bits)
