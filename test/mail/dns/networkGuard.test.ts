import { Effect, Result } from "effect"
import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import * as NetworkGuard from "@waybill/mail/dns/NetworkGuard"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"

const networks = (...texts: ReadonlyArray<string>) => Result.getOrThrow(Network.parseAll(texts))

describe("an address is refused", () => {
  const refused: ReadonlyArray<readonly [string, string]> = [
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "unspecified"],
    ["10.0.0.1", "private"],
    ["10.255.255.255", "private"],
    ["100.64.0.1", "carrier-grade-nat"],
    ["100.127.255.255", "carrier-grade-nat"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["169.254.1.1", "link-local"],
    ["169.254.169.254", "link-local"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.1", "reserved"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "reserved"],
    ["192.168.1.1", "private"],
    ["198.18.0.1", "benchmarking"],
    ["198.19.255.255", "benchmarking"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.255", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::127.0.0.1", "reserved"],
    ["::7f00:1", "reserved"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["::ffff:10.0.0.1", "private"],
    ["::ffff:169.254.169.254", "link-local"],
    ["::ffff:0:10.0.0.1", "ipv4-translated"],
    ["64:ff9b::10.0.0.1", "private"],
    ["64:ff9b::a9fe:a9fe", "link-local"],
    ["64:ff9b:1::808:808", "nat64"],
    ["100::1", "discard"],
    ["2001::1", "teredo"],
    ["2001:db8::1", "documentation"],
    ["3fff::1", "documentation"],
    ["2002:7f00:1::", "6to4"],
    ["fc00::1", "private"],
    ["fd00:ec2::254", "private"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "malformed"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["4000::1", "reserved"],
    ["127.1", "malformed"],
    ["not an address", "malformed"],
  ]
  for (const [address, range] of refused) {
    it(`${address} as ${range}`, () => assert.strictEqual(Network.refusedRange(address), range))
  }
})

describe("an address is public", () => {
  const open = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001::5",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
  ]
  for (const address of open) it(address, () => assert.isTrue(Network.isReachable(address)))
})

describe("networks that an operator allows", () => {
  it("allow exactly their own addresses", () => {
    const allowed = networks("10.1.0.0/16", "fd00:1::/32", "127.0.0.1")
    assert.isTrue(Network.isReachable("10.1.255.255", allowed))
    assert.isTrue(Network.isReachable("::ffff:10.1.0.1", allowed))
    assert.isTrue(Network.isReachable("fd00:1::7", allowed))
    assert.isTrue(Network.isReachable("127.0.0.1", allowed))
    assert.isFalse(Network.isReachable("10.2.0.0", allowed))
    assert.isFalse(Network.isReachable("127.0.0.2", allowed))
    assert.isFalse(Network.isReachable("fd00:2::7", allowed))
    assert.isTrue(Network.isReachable("8.8.8.8", allowed))
  })
  for (const text of ["", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/8/8", "10.0.0.0/x", "::/129", "10.0.0.0/-1", "all"]) {
    it(`${JSON.stringify(text)} is not a network`, () => assert.isTrue(Result.isFailure(Network.parse(text))))
  }
})

describe("a host written as a number is read as its address", () => {
  const loopback = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "１２７.０.０.１",
    "①②⑦.⓪.⓪.①",
    "127.0x0.0.1",
    "%31%32%37.0.0.1",
  ]
  for (const host of loopback) {
    it(host, () => {
      assert.strictEqual(Network.literal(host), "127.0.0.1")
      assert.isTrue(Result.isFailure(NetworkGuard.checkHost(host)))
    })
  }
  it("in IPv6, with and without brackets", () => {
    assert.strictEqual(Network.literal("[::1]"), "::1")
    assert.strictEqual(Network.literal("::ffff:7f00:1"), "::ffff:7f00:1")
    assert.isTrue(Result.isFailure(NetworkGuard.checkHost("[::ffff:7f00:1]")))
  })
  it("a name is not an address", () => {
    for (const host of ["acme.test", "127.0.0.1.nip.test", "1.2.3.4.5", "x1", "0x7g.1"]) {
      assert.isUndefined(Network.literal(host))
    }
  })
  for (const host of ["localhost", "LOCALHOST", "localhost.", "a.localhost"]) {
    it(`${host} is loopback without a DNS query`, () => {
      assert.isTrue(Result.isFailure(NetworkGuard.checkHost(host)))
      assert.deepStrictEqual(NetworkGuard.checkHost(host, networks("127.0.0.0/8")), Result.succeed(["127.0.0.1"]))
    })
  }
})

describe("resolvePublic", () => {
  const resolve = (host: string, allowed: Network.Networks = []) =>
    Effect.result(NetworkGuard.resolvePublic(host, allowed))

  it.effect("returns public addresses only", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* resolve("mixed.test"), Result.succeed(["8.8.8.8", "2606:4700::1111"]))
      assert.deepStrictEqual(yield* resolve("9.9.9.9"), Result.succeed(["9.9.9.9"]))
      const inner = yield* Effect.flip(NetworkGuard.resolvePublic("inner.test"))
      assert.strictEqual(inner.message, "inner.test resolves to 10.0.0.1, a private address")
      assert.deepStrictEqual(yield* resolve("inner.test", networks("10.0.0.0/8")), Result.succeed(["10.0.0.1"]))
      assert.strictEqual((yield* Effect.flip(NetworkGuard.resolvePublic("none.test")))._tag, "NameNotFound")
      assert.strictEqual((yield* Effect.flip(NetworkGuard.resolvePublic("sick.test")))._tag, "NameUnavailable")
      assert.strictEqual((yield* Effect.flip(NetworkGuard.resolvePublic("0x7f.1")))._tag, "AddressRefused")
    }).pipe(
      Effect.provide(
        dnsZones({
          "mixed.test": { A: ["10.0.0.1", "8.8.8.8"], AAAA: ["::1", "2606:4700::1111"] },
          "inner.test": { A: ["10.0.0.1"] },
          "sick.test": "SERVFAIL",
        }),
      ),
    ),
  )

  it.effect("DNS rebinding: the second look-up is refused, and the first address stays pinned", function* () {
    const server = yield* DnsServer.listen({
      "rebind.test": (asked, type) => (type === "A" ? { A: [asked < 2 ? "8.8.8.8" : "127.0.0.1"] } : {}),
    })
    const [first, second] = yield* Effect.all([resolve("rebind.test"), resolve("rebind.test")]).pipe(
      Effect.provide(Dns.Dns.layer({ servers: [server.server] })),
    )
    assert.deepStrictEqual(first, Result.succeed(["8.8.8.8"]))
    assert.isTrue(Result.isFailure(second) && second.failure._tag === "AddressRefused")
  })
})
