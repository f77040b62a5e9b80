import * as DomainNetwork from "@waybill/domain/values/Network"
import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import * as Network from "@waybill/mail/dns/Network"
import * as NetworkGuard from "@waybill/mail/dns/NetworkGuard"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

/** IANA's special-purpose registries, and blocks that other registries reserve, listed independently of the code. */
const REGISTRY: ReadonlyArray<readonly [cidr: string, name: string]> = [
  ["0.0.0.0/8", "this network, RFC 791"],
  ["0.0.0.0/32", "this host on this network, RFC 1122"],
  ["10.0.0.0/8", "private use, RFC 1918"],
  ["100.64.0.0/10", "shared address space, RFC 6598"],
  ["127.0.0.0/8", "loopback, RFC 1122"],
  ["169.254.0.0/16", "link local, RFC 3927"],
  ["172.16.0.0/12", "private use, RFC 1918"],
  ["192.0.0.0/24", "IETF protocol assignments, RFC 6890"],
  ["192.0.0.0/29", "IPv4 service continuity prefix, RFC 7335"],
  ["192.0.0.8/32", "IPv4 dummy address, RFC 7600"],
  ["192.0.0.9/32", "port control protocol anycast, RFC 7723"],
  ["192.0.0.10/32", "TURN anycast, RFC 8155"],
  ["192.0.0.170/31", "NAT64/DNS64 discovery, RFC 7050"],
  ["192.0.2.0/24", "documentation, RFC 5737"],
  ["192.31.196.0/24", "AS112-v4, RFC 7535"],
  ["192.52.193.0/24", "AMT, RFC 7450"],
  ["192.88.99.0/24", "deprecated 6to4 relay anycast, RFC 7526"],
  ["192.88.99.2/32", "6a44 relay anycast, RFC 6751"],
  ["192.168.0.0/16", "private use, RFC 1918"],
  ["192.175.48.0/24", "direct delegation AS112, RFC 7534"],
  ["198.18.0.0/15", "benchmarking, RFC 2544"],
  ["198.51.100.0/24", "documentation, RFC 5737"],
  ["203.0.113.0/24", "documentation, RFC 5737"],
  ["224.0.0.0/4", "multicast, RFC 5771"],
  ["240.0.0.0/4", "reserved, RFC 1112"],
  ["255.255.255.255/32", "limited broadcast, RFC 8190"],
  ["::/128", "unspecified, RFC 4291"],
  ["::1/128", "loopback, RFC 4291"],
  ["::/96", "deprecated IPv4-compatible, RFC 4291"],
  ["::ffff:0:0:0/96", "IPv4-translated, RFC 2765"],
  ["64:ff9b:1::/48", "local-use translation, RFC 8215"],
  ["100::/64", "discard only, RFC 6666"],
  ["100:0:0:1::/64", "dummy prefix, RFC 9780"],
  ["2001::/23", "IETF protocol assignments, RFC 2928"],
  ["2001::/32", "Teredo, RFC 4380"],
  ["2001:1::1/128", "port control protocol anycast, RFC 7723"],
  ["2001:1::2/128", "TURN anycast, RFC 8155"],
  ["2001:1::3/128", "DNS-SD anycast, RFC 9665"],
  ["2001:2::/48", "benchmarking, RFC 5180"],
  ["2001:3::/32", "AMT, RFC 7450"],
  ["2001:4:112::/48", "AS112-v6, RFC 7535"],
  ["2001:10::/28", "deprecated ORCHID, RFC 4843"],
  ["2001:20::/28", "ORCHIDv2, RFC 7343"],
  ["2001:30::/28", "drone remote identification, RFC 9374"],
  ["2001:db8::/32", "documentation, RFC 3849"],
  ["2002::/16", "6to4, RFC 3056"],
  ["2620:4f:8000::/48", "direct delegation AS112, RFC 7534"],
  ["3fff::/20", "documentation, RFC 9637"],
  ["4000::/3", "not allocated, RFC 4291"],
  ["5f00::/16", "segment routing SIDs, RFC 9602"],
  ["8000::/3", "not allocated, RFC 4291"],
  ["fc00::/7", "unique local, RFC 4193"],
  ["fe80::/10", "link-local unicast, RFC 4291"],
  ["fec0::/10", "deprecated site local, RFC 3879"],
  ["ff00::/8", "multicast, RFC 4291"],
]

const text = (ip: Uint8Array): string =>
  ip.length === 4
    ? ip.join(".")
    : Array.from({ length: 8 }, (_, i) => (((ip[2 * i] ?? 0) << 8) | (ip[2 * i + 1] ?? 0)).toString(16)).join(":")

/** Returns the first, a middle and the last address of a block. */
const samplesOf = (cidr: string): ReadonlyArray<string> => {
  const block = DomainNetwork.parseBlock(cidr)
  if (block === undefined) return assert.fail(`${cidr} is no block`)
  const filled = (bit: (at: number) => number) =>
    text(
      block.base.map((byte, i) =>
        [0, 1, 2, 3, 4, 5, 6, 7].reduce((all, j) => {
          const at = 8 * i + j
          return at < block.bits ? all : all | (bit(at - block.bits) << (7 - j))
        }, byte),
      ),
    )
  return [filled(() => 0), filled(() => 1), filled((at) => (at === 0 ? 1 : 0))]
}

const host = (address: string): string => (address.includes(":") ? `[${address}]` : address)

const atCreation = (address: string) =>
  WebhookUrl.check(Result.getOrThrow(WebhookUrl.parse(`https://${host(address)}/hook`)), [])

describe("every special-purpose address", () => {
  it.each(REGISTRY)("is refused at creation and at dispatch: %s, %s", (cidr) => {
    for (const address of samplesOf(cidr)) {
      const made = atCreation(address)
      assert(Result.isFailure(made), `${address} at creation`)
      assert.deepStrictEqual([made.failure.status, made.failure.reason], [422, "url_not_allowed"])
      assert.include(made.failure.message, WebhookUrl.ALLOW_SETTING)
      assert.isTrue(Result.isFailure(NetworkGuard.checkHost(host(address))), `${address} at dispatch`)
      assert.isFalse(Network.isReachable(address), `${address} as what a name stands for`)
    }
  })

  it("is refused inside an IPv6 address that embeds it, and a public address is not", () => {
    for (const [cidr] of REGISTRY.filter(([cidr]) => !cidr.includes(":"))) {
      for (const address of samplesOf(cidr)) {
        for (const prefix of ["::ffff:", "64:ff9b::"]) {
          assert.isTrue(Result.isFailure(atCreation(`${prefix}${address}`)), `${prefix}${address}`)
          assert.isFalse(Network.isReachable(`${prefix}${address}`), `${prefix}${address}`)
        }
      }
    }
    for (const address of ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]) {
      assert.isTrue(Result.isSuccess(atCreation(address)), address)
      assert.isTrue(Network.isReachable(address), address)
    }
  })

  // threat: internal-addresses
  it("gets the same decision at creation and at dispatch, and so do its neighbours", () => {
    const bits = (ip: Uint8Array, step: bigint) => {
      const width = BigInt(ip.length * 8)
      const value = BigInt(`0x${Buffer.from(ip).toString("hex")}`) + step
      const wrapped = ((value % (1n << width)) + (1n << width)) % (1n << width)
      return Uint8Array.from(Buffer.from(wrapped.toString(16).padStart(ip.length * 2, "0"), "hex"))
    }
    for (const [cidr] of REGISTRY) {
      const [first = "", last = ""] = samplesOf(cidr)
      for (const [edge, step] of [
        [first, -1n],
        [last, 1n],
      ] as const) {
        const ip = DomainNetwork.parseIp(edge)
        if (ip === undefined) return assert.fail(edge)
        const neighbour = text(bits(ip, step))
        assert.strictEqual(Result.isSuccess(atCreation(neighbour)), Network.isReachable(neighbour), neighbour)
      }
    }
  })

  it("may be allowed by the operator at creation and at dispatch, directly or behind NAT64", () => {
    const allowed = [Result.getOrThrow(DomainNetwork.parse("10.0.0.0/8"))]
    const alsoAtDispatch = Result.getOrThrow(Network.parseAll(["10.0.0.0/8"]))
    for (const address of ["10.0.0.7", "::ffff:10.0.0.7", "64:ff9b::10.0.0.7"]) {
      const url = Result.getOrThrow(WebhookUrl.parse(`http://${host(address)}/`))
      assert.isTrue(Result.isSuccess(WebhookUrl.check(url, allowed)), address)
      assert.isTrue(Network.isReachable(address, alsoAtDispatch), address)
    }
  })
})
