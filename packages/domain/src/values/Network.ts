import { Result, Schema } from "effect"
import * as Text from "./Text.ts"

/** An IP address as 4 or 16 bytes. An IPv4-mapped IPv6 address is stored as IPv4. */
export type Ip = Uint8Array

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/u
const GROUP = /^[0-9a-f]{1,4}$/iu

/** Parses dotted-quad or RFC 4291 text. Zones (`%eth0`), octal and shortened forms are not accepted. */
export const parseIp = (text: string): Ip | undefined => {
  const ip = text.includes(":") ? parseV6(text) : parseV4(text)
  return ip === undefined ? undefined : unmapped(ip)
}

const parseV4 = (text: string): Ip | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part) && Number(part) < 256)) return undefined
  return Uint8Array.from(parts, Number)
}

const parseV6 = (text: string): Ip | undefined => {
  // The last two groups may be in IPv4 notation.
  const tail = text.slice(text.lastIndexOf(":") + 1)
  const v4 = tail.includes(".") ? parseV4(tail) : undefined
  if (tail.includes(".") && v4 === undefined) return undefined
  const [a, b, c, d] = v4 ?? []
  const plain =
    v4 === undefined
      ? text
      : text.slice(0, -tail.length) + hex(((a ?? 0) << 8) | (b ?? 0)) + ":" + hex(((c ?? 0) << 8) | (d ?? 0))
  const halves = plain.split("::")
  if (halves.length > 2) return undefined
  const [head, rest] = halves.map((half) => (half === "" ? [] : half.split(":")))
  const left = head ?? []
  const right = rest ?? []
  const missing = 8 - left.length - right.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...left, ...Array.from({ length: missing }, () => "0"), ...right]
  if (!groups.every((group) => GROUP.test(group))) return undefined
  return Uint8Array.from(groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]))
}

const hex = (value: number): string => value.toString(16)

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]

const unmapped = (ip: Ip): Ip =>
  ip.length === 16 && MAPPED_PREFIX.every((byte, i) => ip[i] === byte) ? ip.subarray(12) : ip

/** An IP address or a CIDR block, as accepted by `parse`. The host bits of a block are zero. */
export const Network = Schema.String.check(Schema.isPattern(/^[0-9a-f:./]+$/u))
  .pipe(Schema.brand("Network"))
  .annotate({ identifier: "Network" })
export type Network = typeof Network.Type

export const parse: Text.Parse<Network> = (text) =>
  parseBlock(text) === undefined
    ? Result.fail("is neither an IP address nor a block such as 10.0.0.0/8 whose host bits are zero")
    : Result.succeed(text.toLowerCase() as Network)

export const FromText = Text.parsed(
  Network,
  {
    description: "An IP address or a block in CIDR notation",
    examples: ["203.0.113.7", "10.0.0.0/8", "2001:db8::/32"],
  },
  parse,
  (network) => network,
)

export interface Block {
  readonly base: Ip
  readonly bits: number
}

export const parseBlock = (text: string): Block | undefined => {
  const [address = "", width, ...more] = text.split("/")
  const base = parseIp(address)
  if (base === undefined || more.length > 0) return undefined
  const size = base.length * 8
  if (width === undefined) return { base, bits: size }
  if (!/^(?:0|[1-9][0-9]{0,2})$/u.test(width)) return undefined
  // The prefix length of an IPv4-mapped block includes the 96 bits of the mapping.
  const bits = Number(width) - (address.includes(":") && base.length === 4 ? 96 : 0)
  if (bits < 0 || bits > size) return undefined
  for (let bit = bits; bit < size; bit++) if (bitOf(base, bit) !== 0) return undefined
  return { base, bits }
}

const bitOf = (ip: Ip, bit: number): number => ((ip[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1

export const holds = ({ base, bits }: Block, ip: Ip): boolean => {
  if (base.length !== ip.length) return false
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) if (base[i] !== ip[i]) return false
  for (let bit = whole << 3; bit < bits; bit++) if (bitOf(base, bit) !== bitOf(ip, bit)) return false
  return true
}

export const contains = (networks: ReadonlyArray<Network>, ip: string): boolean => {
  const address = parseIp(ip)
  return address !== undefined && containsIp(networks, address)
}

export const containsIp = (networks: ReadonlyArray<Network>, ip: Ip): boolean =>
  networks.some((network) => inBlock(network, ip))

const inBlock = (network: string, ip: Ip): boolean => {
  const block = parseBlock(network)
  return block !== undefined && holds(block, ip)
}

/** Whether one of the networks contains all of `network`. */
export const within = (networks: ReadonlyArray<Network>, network: Network): boolean => {
  const inner = parseBlock(network)
  return (
    inner !== undefined &&
    networks.some((outer) => {
      const block = parseBlock(outer)
      return block !== undefined && block.bits <= inner.bits && holds(block, inner.base)
    })
  )
}
