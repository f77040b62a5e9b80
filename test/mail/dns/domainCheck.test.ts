import { Effect, Result } from "effect"
import * as Dns from "@waybill/mail/dns/Dns"
import * as DomainCheck from "@waybill/mail/dns/DomainCheck"
import * as DomainRecords from "@waybill/mail/dns/DomainRecords"
import * as Network from "@waybill/mail/dns/Network"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { processorMs } from "../../support/processorMs.ts"
import { dnsZones, type Zone, type Zones } from "../../support/mail/dnsZones.ts"

const KEY = `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A${"aZ09+/".repeat(55)}IDAQAB`
const DKIM = `v=DKIM1; k=rsa; p=${KEY}`
const key = (selector: string, required = true): DomainRecords.Selector => ({
  selector,
  algorithm: "rsa",
  public_key: KEY,
  required,
})
const CNAME: DomainRecords.Settings = { return_path: { kind: "cname", label: "bounce", target: "return.waybill.test" } }
const MX: DomainRecords.Settings = {
  return_path: {
    kind: "mx",
    label: "bounce",
    exchange: "mx.waybill.test",
    spf: "v=spf1 include:spf.waybill.test -all",
  },
}
const NONE: DomainRecords.Settings = { return_path: null }

const check = (zones: Zones, settings = NONE, selectors = [key("wb1")]) =>
  DomainCheck.check("acme.test", DomainRecords.expectedRecords("acme.test", selectors, settings)).pipe(
    Effect.provide(dnsZones(zones)),
  )
const of = (report: DomainCheck.Report, purpose: DomainRecords.Purpose) => {
  const record = report.records.find((record) => record.purpose === purpose)
  return [record?.status, record?.error]
}

describe("a check", () => {
  it.effect("has the same result in whatever order name servers return records", function* () {
    const others = ["one=1", "two=2", "three=3"]
    const exchanges = ["b.example", "a.example", "c.example"].map((exchange) => ({ preference: 10, exchange }))
    const zones = (texts: ReadonlyArray<string>, mx: ReadonlyArray<Dns.Mx>): Zones => ({
      "wb1._domainkey.acme.test": { TXT: [...texts] },
      "bounce.acme.test": { MX: [...mx], TXT: [...texts], A: ["192.0.2.1", "192.0.2.2"] },
      "_dmarc.acme.test": { TXT: [...texts] },
    })
    const one = yield* check(zones(others, exchanges), MX)
    const other = yield* check(zones(others.toReversed(), exchanges.toReversed()), MX)
    assert.deepStrictEqual(other, one)
    assert.isTrue(one.records.some(({ found }) => found.includes("one=1")))
  })
})

describe("expectedRecords", () => {
  it("has no return path to a name that only this machine has", () => {
    const return_path = { kind: "cname", label: "bounce", target: "bounces.localhost" } as const
    const records = DomainRecords.expectedRecords("acme.test", [key("wb1")], { return_path })
    assert.deepStrictEqual(
      records.map(({ purpose }) => purpose),
      ["dkim", "dmarc"],
    )
  })

  it("lists the DKIM key, the return path and a DMARC policy", () => {
    assert.deepStrictEqual(DomainRecords.expectedRecords("acme.test", [key("wb1"), key("wb2", false)], CNAME), [
      {
        purpose: "dkim",
        type: "TXT",
        host: "wb1._domainkey",
        name: "wb1._domainkey.acme.test",
        value: DKIM,
        ttl: 3600,
        required: true,
      },
      {
        purpose: "dkim",
        type: "TXT",
        host: "wb2._domainkey",
        name: "wb2._domainkey.acme.test",
        value: DKIM,
        ttl: 3600,
        required: false,
      },
      {
        purpose: "return_path",
        type: "CNAME",
        host: "bounce",
        name: "bounce.acme.test",
        value: "return.waybill.test",
        ttl: 3600,
        required: false,
      },
      {
        purpose: "dmarc",
        type: "TXT",
        host: "_dmarc",
        name: "_dmarc.acme.test",
        value: "v=DMARC1; p=none; rua=mailto:dmarc@return.waybill.test",
        ttl: 3600,
        required: false,
      },
    ])
  })

  it("lists a CNAME when links use a tracking domain", () => {
    const tracking = { host: "links", target: "track.waybill.test" }
    const records = DomainRecords.expectedRecords("acme.test", [], { ...CNAME, tracking })
    assert.deepStrictEqual(records.at(-1), {
      purpose: "tracking",
      type: "CNAME",
      host: "links",
      name: "links.acme.test",
      value: "track.waybill.test",
      ttl: 3600,
      required: false,
    })
  })

  it("lists MX and SPF when the return path is not a CNAME", () => {
    const records = DomainRecords.expectedRecords("acme.test", [], MX)
    assert.deepStrictEqual(
      records.map((record) => [record.purpose, record.type, record.name, record.value]),
      [
        ["return_path", "MX", "bounce.acme.test", "10 mx.waybill.test"],
        ["spf", "TXT", "bounce.acme.test", "v=spf1 include:spf.waybill.test -all"],
        ["dmarc", "TXT", "_dmarc.acme.test", "v=DMARC1; p=none;"],
      ],
    )
  })
})

describe("a DKIM record is verified", () => {
  const same: Record<string, string> = {
    "as given": DKIM,
    "with its tags in another order": `v=DKIM1; p=${KEY}; k=rsa`,
    "without spaces": DKIM.replaceAll(" ", ""),
    "with a trailing semicolon": `${DKIM};`,
    "without v and k, whose defaults it means": `p=${KEY}`,
    "with spaces inside the key": `v=DKIM1; k=rsa; p=${KEY.slice(0, 50)} ${KEY.slice(50)}`,
    "with harmless extra tags": `${DKIM}; t=y; s=email; h=sha1:sha256; n=our key`,
  }
  for (const [how, text] of Object.entries(same)) {
    it.effect(how, function* () {
      const report = yield* check({ "wb1._domainkey.acme.test": { TXT: [text] } })
      assert.deepStrictEqual(of(report, "dkim"), ["verified", null])
      assert.strictEqual(report.verdict, "verified")
    })
  }
  it.effect("through a CNAME to the name that has the key", function* () {
    const report = yield* check({
      "wb1._domainkey.acme.test": { CNAME: "wb1.keys.waybill.test" },
      "wb1.keys.waybill.test": { TXT: [DKIM] },
    })
    assert.strictEqual(report.verdict, "verified")
  })
})

describe("common DKIM mistakes have a message of their own", () => {
  const at = (...TXT: ReadonlyArray<string>): Zones => ({ "wb1._domainkey.acme.test": { TXT } })
  const cases: ReadonlyArray<readonly [string, Zones, RegExp]> = [
    ["domain twice", { "wb1._domainkey.acme.test.acme.test": { TXT: [DKIM] } }, /twice.*enter only wb1\._domainkey/u],
    ["key at the domain itself", { "acme.test": { TXT: ["v=spf1 -all", DKIM] } }, /found at acme\.test itself/u],
    ["_domainkey forgotten", { "wb1.acme.test": { TXT: [DKIM] } }, /missing \._domainkey/u],
    ["two records", at(DKIM, "v=DKIM1; k=rsa; p=QUJD"), /^2 DKIM records/u],
    ["key cut short", at(DKIM.slice(0, 255)), /cut short after 237 of/u],
    ["quotes pasted", at(`"${DKIM}"`), /quotation marks/u],
    ["pieces pasted with quotes", at(`"${DKIM.slice(0, 200)}" "${DKIM.slice(200)}"`), /quotation marks/u],
    ["backslashes pasted", at(DKIM.replaceAll(";", "\\;")), /backslashes/u],
    ["PEM pasted", at(`v=DKIM1; p=-----BEGIN PUBLIC KEY-----${KEY}`), /PEM/u],
    ["zone file line pasted", at(`wb1._domainkey IN TXT ${DKIM}`), /line of a zone file/u],
    ["only the key", at(KEY), /does not begin with v=DKIM1/u],
    ["another key", at(DKIM.replace("aZ09", "bY18")), /another key/u],
    ["case lost", at(`v=DKIM1; k=rsa; p=${KEY.toLowerCase()}`), /changed case/u],
    ["revoked", at("v=DKIM1; k=rsa; p="), /revoked/u],
    ["another type of key", at(DKIM.replace("k=rsa", "k=ed25519")), /k=ed25519 was published/u],
    ["sha256 excluded", at(`${DKIM}; h=sha1`), /excludes sha256/u],
    ["email excluded", at(`${DKIM}; s=tlsrpt`), /excludes email/u],
    ["wrong version", at(DKIM.replace("DKIM1", "DKIM2")), /must begin with v=DKIM1/u],
    ["something else", at("google-site-verification=abc"), /not a DKIM key/u],
    [
      "CNAME instead of TXT",
      { "wb1._domainkey.acme.test": { CNAME: "nowhere.test" } },
      /is a CNAME instead of a TXT record/u,
    ],
  ]
  for (const [name, zones, words] of cases) {
    it.effect(name, function* () {
      const report = yield* check(zones)
      const [status, error] = of(report, "dkim")
      assert.strictEqual(status, "mismatch")
      assert.match(error ?? "", words)
      assert.strictEqual(report.verdict, "missing")
    })
  }

  const ED25519 = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
  for (const [name, text, status, words] of [
    ["an Ed25519 key", `v=DKIM1; k=ed25519; p=${ED25519}`, "verified", null],
    ["an Ed25519 key for sha256", `v=DKIM1; h=sha256; k=ed25519; p=${ED25519}`, "verified", null],
    ["an Ed25519 key without its type", `v=DKIM1; p=${ED25519}`, "mismatch", /k=ed25519 is missing/u],
    ["an RSA key in its place", DKIM, "mismatch", /k=rsa was published where k=ed25519/u],
    [
      "an Ed25519 key cut short",
      `v=DKIM1; k=ed25519; p=${ED25519.slice(0, 20)}`,
      "mismatch",
      /cut short after 20 of 43/u,
    ],
  ] as const)
    it.effect(`Ed25519 key, not required: ${name}`, function* () {
      const second = { selector: "wbe1", algorithm: "ed25519", public_key: ED25519, required: false } as const
      const zones = { ...at(DKIM), "wbe1._domainkey.acme.test": { TXT: [text] } }
      const { records, verdict } = yield* check(zones, NONE, [key("wb1"), second])
      const found = records.find(({ host }) => host === "wbe1._domainkey")
      assert.deepStrictEqual([found?.status, verdict], [status, "verified"])
      if (words === null) assert.isNull(found?.error)
      else assert.match(found?.error ?? "", words)
    })

  it.effect("the longest possible record is parsed in linear time", function* () {
    const began = processorMs()
    assert.match(String(of(yield* check(at(`v=DKIM1; k=rsa; p=${"=".repeat(64_000)}x`)), "dkim")), /another key/u)
    assert.isBelow(processorMs() - began, 1_000)
  })

  it.effect("a missing record has the code of DNS as its error", function* () {
    assert.deepStrictEqual(of(yield* check({}), "dkim"), ["missing", "NXDOMAIN"])
    assert.deepStrictEqual(of(yield* check({ "wb1._domainkey.acme.test": {} }), "dkim"), ["missing", "NODATA"])
  })
})

describe("the return path", () => {
  const cname = (zones: Zones) => Effect.map(check(zones, CNAME), (report) => of(report, "return_path"))
  it.effect("a CNAME is compared without case and trailing dot", function* () {
    assert.deepStrictEqual(yield* cname({ "bounce.acme.test": { CNAME: "Return.Waybill.test." } }), ["verified", null])
    assert.match(String(yield* cname({ "bounce.acme.test": { CNAME: "other.test" } })), /points to other\.test/u)
    assert.match(String(yield* cname({ "bounce.acme.test.acme.test": { CNAME: "return.waybill.test" } })), /twice/u)
    assert.match(String(yield* cname({ "bounce.acme.test": { A: ["192.88.98.1"] } })), /proxying/u)
    assert.deepStrictEqual(yield* cname({}), ["missing", "NXDOMAIN"])
  })

  it.effect("the CNAME of the tracking domain is compared too, and is not required", function* () {
    const settings = { return_path: null, tracking: { host: "links", target: "track.waybill.test" } }
    const look = (zone: Zone) =>
      Effect.map(
        check({ "wb1._domainkey.acme.test": { TXT: [DKIM] }, "links.acme.test": zone }, settings),
        (report) => [report.verdict, ...of(report, "tracking")],
      )
    assert.deepStrictEqual(yield* look({ CNAME: "Track.Waybill.test." }), ["verified", "verified", null])
    assert.match(String(yield* look({ CNAME: "other.test" })), /^verified,mismatch,.* other\.test/u)
    assert.match(String(yield* look({ A: ["192.88.98.1"] })), /^verified,mismatch,.*proxying/u)
  })

  const mx = (zone: Zone) =>
    Effect.map(check({ "bounce.acme.test": zone }, MX), (report) => [
      ...of(report, "return_path"),
      ...of(report, "spf"),
    ])
  const ours = { preference: 5, exchange: "mx.waybill.test" }
  it.effect("MX and SPF are compared by their effect", function* () {
    assert.deepStrictEqual(
      yield* mx({ MX: [ours], TXT: ["v=spf1 ip4:192.0.2.0/24 +include:SPF.waybill.test ~all", "other"] }),
      ["verified", null, "verified", null],
    )
    assert.match(
      String(yield* mx({ MX: [ours, { preference: 1, exchange: "mx.acme.test" }] })),
      /delivered to mx\.acme\.test/u,
    )
    assert.match(String(yield* mx({ MX: [{ preference: 1, exchange: "mx.acme.test" }] })), /no MX record points/u)
    const spf = (...TXT: ReadonlyArray<string>) => Effect.map(mx({ MX: [ours], TXT }), (all) => String(all[3]))
    assert.match(yield* spf("v=spf1 include:spf.waybill.test -all", "v=spf1 -all"), /^2 SPF records/u)
    assert.match(yield* spf("v=spf1 -all"), /^include:spf\.waybill\.test is missing/u)
    assert.match(yield* spf("v=spf1 -all include:spf.waybill.test"), /after the all mechanism/u)
    assert.match(yield* spf("spf1 include:spf.waybill.test"), /begins with v=spf1/u)
  })
})

describe("DMARC", () => {
  const dmarc = (zones: Zones, domain = "acme.test") =>
    DomainCheck.check(domain, DomainRecords.expectedRecords(domain, [], NONE)).pipe(
      Effect.map((report) => of(report, "dmarc")),
      Effect.provide(dnsZones(zones)),
    )
  it.effect("any policy is verified, also that of a parent domain", function* () {
    const policy = { "_dmarc.acme.test": { TXT: ["v=DMARC1;p=reject; rua=mailto:a@acme.test"] } }
    assert.deepStrictEqual(yield* dmarc(policy), ["verified", null])
    assert.deepStrictEqual(yield* dmarc(policy, "mail.eu.acme.test"), ["verified", null])
    assert.deepStrictEqual(yield* dmarc({}), ["missing", "NXDOMAIN"])
    assert.match(String(yield* dmarc({ "_dmarc.acme.test": { TXT: ["v=DMARC1;"] } })), /policy/u)
    assert.match(
      String(yield* dmarc({ "_dmarc.acme.test": { TXT: ["v=DMARC1; p=none", "v=DMARC1; p=reject"] } })),
      /^mismatch,2/u,
    )
  })
})

describe("the verdict", () => {
  it.effect("optional records never change the verdict", function* () {
    const report = yield* check({ "wb1._domainkey.acme.test": { TXT: [DKIM] } }, CNAME, [key("wb1"), key("wb2", false)])
    assert.strictEqual(report.verdict, "verified")
    assert.deepStrictEqual(
      report.records.map((record) => record.status),
      ["verified", "missing", "missing", "missing"],
    )
  })

  it.effect("is unavailable when the resolver fails", function* () {
    const report = yield* check({ "wb1._domainkey.acme.test": "SERVFAIL" })
    assert.deepStrictEqual(of(report, "dkim"), ["unavailable", "SERVFAIL"])
    assert.strictEqual(report.verdict, "unavailable")
  })

  it.effect("is missing when one key is missing and another is unavailable", function* () {
    const report = yield* check({ "wb1._domainkey.acme.test": "TIMEOUT" }, NONE, [key("wb1"), key("wb2")])
    assert.strictEqual(report.verdict, "missing")
  })

  it.effect("keeps a bounded part of the published records", function* () {
    const report = yield* check({
      "wb1._domainkey.acme.test": { TXT: Array.from({ length: 40 }, (_, i) => `v=DKIM1; p=${i}${"A".repeat(3000)}`) },
    })
    const found = report.records[0]?.found ?? []
    assert.strictEqual(found.length, DomainCheck.FOUND_RECORDS)
    assert.isTrue(found.every((text) => text.length <= DomainCheck.FOUND_CHARACTERS))
  })
})

it.effect("a domain is checked at its own servers over the wire", function* () {
  const own = yield* DnsServer.listen({
    "wb1._domainkey.acme.test": { TXT: [DKIM] },
    "_dmarc.acme.test": "timeout",
    "bounce.acme.test": { CNAME: "return.waybill.test" },
  })
  const resolver = yield* DnsServer.listen({
    "acme.test": { NS: ["ns1.acme.test"] },
    "ns1.acme.test": { A: ["127.0.0.1"] },
    "_dmarc.acme.test": "SERVFAIL",
  })
  const report = yield* DomainCheck.check(
    "acme.test",
    DomainRecords.expectedRecords("acme.test", [key("wb1")], CNAME),
  ).pipe(
    Effect.provide(
      Dns.Dns.layer({
        servers: [resolver.server],
        authoritative_port: own.port,
        allowed: Result.getOrThrow(Network.parseAll(["127.0.0.0/8"])),
        // One query here reaches this timeout; the others need a part of it on a busy machine.
        query_timeout_ms: 4_000,
        query_tries: 1,
      }),
    ),
  )
  assert.strictEqual(report.verdict, "verified")
  assert.deepStrictEqual(
    report.records.map((record) => [record.status, record.error]),
    [
      ["verified", null],
      ["verified", null],
      ["unavailable", "SERVFAIL"],
    ],
  )
})

it.effect("a mistake is explained with the host in the zone of the provider", function* () {
  const own = yield* DnsServer.listen({ "wb1._domainkey.mail.acme.test.mail.acme.test": { TXT: [DKIM] } })
  const resolver = yield* DnsServer.listen({
    "acme.test": { NS: ["ns1.acme.test"] },
    "ns1.acme.test": { A: ["127.0.0.1"] },
  })
  const { records, zone } = yield* DomainCheck.check(
    "mail.acme.test",
    DomainRecords.expectedRecords("mail.acme.test", [key("wb1")], NONE),
  ).pipe(
    Effect.provide(
      Dns.Dns.layer({
        servers: [resolver.server],
        authoritative_port: own.port,
        allowed: Result.getOrThrow(Network.parseAll(["127.0.0.0/8"])),
      }),
    ),
  )
  assert.strictEqual(zone, "acme.test")
  assert.include(records[0]?.error ?? "", "enter only wb1._domainkey.mail as the host")
  assert.strictEqual(records[0]?.host, "wb1._domainkey")
})
