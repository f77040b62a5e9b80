import { Effect, Result } from "effect"
import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"

/** Timeout longer than any answer takes on a busy machine; no test waits for its end. */
const PATIENT = { query_timeout_ms: 20_000, query_tries: 1 }
const IMPATIENT = { query_timeout_ms: 150 }
const loopback = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))

const asking = <A, E>(
  server: DnsServer.DnsServer,
  use: (dns: Dns.Dns["Service"]) => Effect.Effect<A, E>,
  config = {},
) => Dns.Dns.use(use).pipe(Effect.provide(Dns.Dns.layer({ servers: [server.server], ...PATIENT, ...config })))

describe("Dns over a real server", () => {
  it.effect("finds each kind of record", function* () {
    const long = `v=DKIM1; k=rsa; p=${"A".repeat(400)}`
    const server = yield* DnsServer.listen({
      "acme.test": {
        MX: [
          [20, "MX2.acme.test"],
          [10, "mx1.acme.test"],
        ],
        NS: ["ns1.acme.test"],
        A: ["192.0.2.7"],
      },
      "wb1._domainkey.acme.test": { TXT: [long] },
      "six.acme.test": { AAAA: ["2001:db8::7"] },
      "bounce.acme.test": { CNAME: "Return.Waybill.Test" },
      "7.2.0.192.in-addr.arpa": { PTR: ["mx1.acme.test"] },
      "1.0.0.127.in-addr.arpa": { PTR: ["not-as-in-the-hosts-file.test"] },
      [`7.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`]: { PTR: ["mx6.acme.test"] },
    })
    const answers = yield* asking(server, (dns) =>
      Effect.all(
        [
          dns.txt("wb1._domainkey.acme.test"),
          dns.mx("acme.test"),
          dns.a("acme.test"),
          dns.aaaa("six.acme.test"),
          dns.cname("bounce.acme.test"),
          dns.ns("acme.test"),
          dns.ptr("192.0.2.7"),
          dns.ptr("127.0.0.1"),
          dns.ptr("2001:db8::7"),
        ],
        { concurrency: "unbounded" },
      ),
    )
    assert.deepStrictEqual(answers, [
      Dns.found([long]),
      Dns.found([
        { preference: 10, exchange: "mx1.acme.test" },
        { preference: 20, exchange: "mx2.acme.test" },
      ]),
      Dns.found(["192.0.2.7"]),
      Dns.found(["2001:db8::7"]),
      Dns.found(["return.waybill.test"]),
      Dns.found(["ns1.acme.test"]),
      Dns.found(["mx1.acme.test"]),
      Dns.found(["not-as-in-the-hosts-file.test"]),
      Dns.found(["mx6.acme.test"]),
    ])
  })

  it.effect("distinguishes a missing name from a name without such a record", function* () {
    const server = yield* DnsServer.listen({ "deep.acme.test": { A: ["192.0.2.7"] } })
    assert.deepStrictEqual(
      yield* asking(server, (dns) =>
        Effect.all([dns.txt("gone.test"), dns.txt("deep.acme.test"), dns.txt("acme.test"), dns.txt("a..b")]),
      ),
      [Dns.notFound("NXDOMAIN"), Dns.notFound("NODATA"), Dns.notFound("NODATA"), Dns.notFound("NXDOMAIN")],
    )
  })

  it.effect("reports failures of the server as unavailable, never as missing", function* () {
    const server = yield* DnsServer.listen({
      "servfail.test": "SERVFAIL",
      "refused.test": "REFUSED",
      "silent.test": "timeout",
    })
    assert.deepStrictEqual(
      yield* asking(server, (dns) => Effect.all([dns.txt("servfail.test"), dns.mx("refused.test")])),
      [Dns.unavailable("SERVFAIL"), Dns.unavailable("REFUSED")],
    )
    const silence = yield* asking(server, (dns) => dns.a("silent.test"), IMPATIENT)
    assert.deepStrictEqual(silence, Dns.unavailable("TIMEOUT"))
  })

  it.effect("reports an unreachable server as unavailable", function* () {
    const gone = yield* Effect.scoped(DnsServer.listen())
    const answer = yield* asking(gone, (dns) => dns.txt("acme.test"))
    assert.strictEqual(answer._tag, "Unavailable")
  })

  it.effect("repeats a truncated query over TCP", function* () {
    const many = Array.from({ length: 30 }, (_, i) => `${i} ${"x".repeat(200)}`)
    const server = yield* DnsServer.listen({ "big.test": { TXT: many } })
    const answer = yield* asking(server, (dns) => dns.txt("big.test"))
    assert.deepStrictEqual(answer, Dns.found(many))
    assert.deepStrictEqual(
      server.queries.map((query) => query.over),
      ["udp", "tcp"],
    )
  })

  it.effect("caches nothing", function* () {
    const server = yield* DnsServer.listen({ "turn.test": (asked) => ({ TXT: [String(asked)] }) })
    assert.deepStrictEqual(yield* asking(server, (dns) => Effect.all([dns.txt("turn.test"), dns.txt("turn.test")])), [
      Dns.found(["0"]),
      Dns.found(["1"]),
    ])
  })

  it.effect("combines A and AAAA, and is unavailable only when neither was found", function* () {
    const server = yield* DnsServer.listen({
      "both.test": { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] },
      "half.test": (_, type) => (type === "A" ? { A: ["192.0.2.1"] } : "SERVFAIL"),
      "sick.test": (_, type) => (type === "A" ? {} : "SERVFAIL"),
      "bare.test": { TXT: ["x"] },
    })
    assert.deepStrictEqual(
      yield* asking(server, (dns) =>
        Effect.forEach(["both.test", "half.test", "sick.test", "bare.test"], (name) => Dns.addresses(dns, name)),
      ),
      [
        Dns.found(["192.0.2.1", "2001:db8::1"]),
        Dns.found(["192.0.2.1"]),
        Dns.unavailable("SERVFAIL"),
        Dns.notFound("NODATA"),
      ],
    )
  })
})

describe("Dns.authoritative", () => {
  const pair = Effect.gen(function* () {
    const own = yield* DnsServer.listen()
    const resolver = yield* DnsServer.listen({
      "acme.test": { NS: ["ns1.acme.test"] },
      "ns1.acme.test": { A: ["127.0.0.1"] },
    })
    return { own, resolver, config: { authoritative_port: own.port, allowed: loopback } }
  })
  const txt = (domain: string, name: string) => (dns: Dns.Dns["Service"]) =>
    Effect.flatMap(dns.authoritative(domain), (queries) => queries.txt(name))

  it.effect("queries the domain's own servers instead of the resolver's cache", function* () {
    const { own, resolver, config } = yield* pair
    own.set("x.acme.test", { TXT: ["new"] })
    resolver.set("x.acme.test", { TXT: ["old"] })
    assert.deepStrictEqual(yield* asking(resolver, txt("acme.test", "x.acme.test"), config), Dns.found(["new"]))
  })

  it.effect("finds the name servers of a subdomain at its parent zone", function* () {
    const { own, resolver, config } = yield* pair
    own.set("x.mail.acme.test", { TXT: ["new"] })
    assert.deepStrictEqual(
      yield* asking(resolver, txt("mail.acme.test", "x.mail.acme.test"), config),
      Dns.found(["new"]),
    )
  })

  it.effect("names the zone that holds a domain, and none that is not public", function* () {
    const { resolver, config } = yield* pair
    const zoneOf = (domain: string) => (dns: Dns.Dns["Service"]) =>
      Effect.map(dns.authoritative(domain), ({ zone }) => zone)
    assert.strictEqual(yield* asking(resolver, zoneOf("mail.acme.test"), config), "acme.test")
    assert.strictEqual(yield* asking(resolver, zoneOf("acme.test"), config), "acme.test")
    assert.isNull(yield* asking(resolver, zoneOf("mail.other.test"), config))
    assert.isNull(yield* asking(resolver, zoneOf("mail.acme.test"), { authoritative_port: config.authoritative_port }))
  })

  it.effect("accepts NXDOMAIN from the domain's own servers", function* () {
    const { resolver, config } = yield* pair
    resolver.set("x.acme.test", { TXT: ["old"] })
    assert.deepStrictEqual(yield* asking(resolver, txt("acme.test", "x.acme.test"), config), Dns.notFound("NXDOMAIN"))
  })

  it.effect("falls back to the resolver when the domain's own servers do not answer", function* () {
    const { own, resolver, config } = yield* pair
    own.set("x.acme.test", "REFUSED")
    resolver.set("x.acme.test", { TXT: ["seen"] })
    assert.deepStrictEqual(yield* asking(resolver, txt("acme.test", "x.acme.test"), config), {
      _tag: "Found",
      records: ["seen"],
      isIndirect: true,
    })
  })

  it.effect("lets the resolver follow a CNAME that leaves the zone", function* () {
    const { own, resolver, config } = yield* pair
    own.set("x.acme.test", { CNAME: "x.elsewhere.test" })
    resolver.set("x.acme.test", { CNAME: "x.elsewhere.test" })
    resolver.set("x.elsewhere.test", { TXT: ["delegated"] })
    assert.deepStrictEqual(yield* asking(resolver, txt("acme.test", "x.acme.test"), config), {
      _tag: "Found",
      records: ["delegated"],
      isIndirect: true,
    })
  })

  // threat: internal-addresses
  it.effect("never queries a name server in a private network", function* () {
    const { own, resolver } = yield* pair
    own.set("x.acme.test", { TXT: ["new"] })
    resolver.set("x.acme.test", { TXT: ["old"] })
    const answer = yield* asking(resolver, txt("acme.test", "x.acme.test"), { authoritative_port: own.port })
    assert.deepStrictEqual(answer, Dns.found(["old"]))
    assert.deepStrictEqual(own.queries, [])
  })
})

describe("dnsZones", () => {
  it.effect("answers from data as a DNS server would", () =>
    Effect.gen(function* () {
      const dns = yield* Dns.Dns
      assert.deepStrictEqual(yield* dns.txt("a.test"), Dns.found(["over there"]))
      assert.deepStrictEqual(yield* dns.cname("a.test"), Dns.found(["b.test"]))
      assert.deepStrictEqual(yield* dns.txt("sick.test"), Dns.unavailable("SERVFAIL"))
      assert.deepStrictEqual(yield* dns.a("none.test"), Dns.notFound("NXDOMAIN"))
    }).pipe(
      Effect.provide(
        dnsZones({
          "a.test": { CNAME: "b.test" },
          "b.test": { TXT: ["over there"] },
          "sick.test": "SERVFAIL",
        }),
      ),
    ),
  )
})
