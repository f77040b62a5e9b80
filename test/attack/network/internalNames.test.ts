import * as Dns from "@waybill/mail/dns/Dns"
import * as DomainCheck from "@waybill/mail/dns/DomainCheck"
import * as DomainRecords from "@waybill/mail/dns/DomainRecords"
import { Effect } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { networks } from "../../support/web/Webhooks.ts"

const KEY = `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A${"aZ09+/".repeat(55)}IDAQAB`
const DKIM = `v=DKIM1; k=rsa; p=${KEY}`
const SELECTOR: DomainRecords.Selector = { selector: "wb1", algorithm: "rsa", public_key: KEY, required: true }
const MX = {
  kind: "mx",
  label: "bounce",
  exchange: "mx.waybill.test",
  spf: "v=spf1 include:spf.waybill.test -all",
} as const

describe("names in the operator's own DNS are hidden from a customer who adds a domain", () => {
  const checkDomain = (
    operatorDns: DnsServer.DnsServer,
    resolver: DnsServer.DnsServer,
    allowed: ReadonlyArray<string>,
  ) =>
    DomainCheck.check(
      "acme.test",
      DomainRecords.expectedRecords("acme.test", [SELECTOR], {
        return_path: MX,
        tracking: { host: "db", target: "track.waybill.test" },
      }),
    ).pipe(
      Effect.provide(
        Dns.Dns.layer({
          servers: [resolver.server],
          authoritative_port: operatorDns.port,
          allowed: networks(...allowed),
        }),
      ),
    )
  const visible = ({ records }: DomainCheck.Report) => records.map(({ error, found, status }) => [status, found, error])

  // threat: internal-names
  it.effect("for a zone that only the operator's network serves", function* () {
    const operatorDns = yield* DnsServer.listen()
    const inside = {
      "wb1._domainkey.acme.test": { TXT: ["secret"] },
      "bounce.acme.test": { MX: [[10, "mx.inner.test"]], TXT: ["v=spf1 ip4:10.0.0.1 -all"] },
      "_dmarc.acme.test": { TXT: ["v=DMARC1;"] },
    } as const
    const served = { "acme.test": { NS: ["ns1.acme.test"] }, "ns1.acme.test": { A: ["10.0.0.53"] } } as const
    const emptyZones = visible(yield* checkDomain(operatorDns, yield* DnsServer.listen(), []))
    for (const zones of [
      { ...inside, "db.acme.test": { A: ["10.0.0.7"] } },
      { ...inside, ...served, "db.acme.test": { CNAME: "db1.inner.test" } },
    ]) {
      assert.deepStrictEqual(visible(yield* checkDomain(operatorDns, yield* DnsServer.listen(zones), [])), emptyZones)
    }
    // A public key at Waybill's selector is not secret, and the answer shows it to a customer who mistyped the
    // record.
    const stale = yield* DnsServer.listen({ "wb1._domainkey.acme.test": { TXT: ["v=DKIM1; k=rsa; p=AAAA"] } })
    assert.match((yield* checkDomain(operatorDns, stale, [])).records[0]?.error ?? "", /another key/u)
    // Expected values still verify, because operators may serve their own zones.
    const operatorZones = yield* DnsServer.listen({ ...served, "wb1._domainkey.acme.test": { TXT: [DKIM] } })
    assert.strictEqual((yield* checkDomain(operatorDns, operatorZones, [])).verdict, "verified")
  })

  // threat: internal-names
  it.effect("for an alias in a zone of the customer", function* () {
    const served = { "acme.test": { NS: ["ns1.acme.test"] }, "ns1.acme.test": { A: ["127.0.0.1"] } } as const
    const alias = { CNAME: "db.inner.test" } as const
    const names = ["wb1._domainkey.acme.test", "bounce.acme.test", "_dmarc.acme.test"]
    const aliases = Object.fromEntries(names.map((name) => [name, alias]))
    const operatorDns = yield* DnsServer.listen(aliases)
    const recordsWith = (zones: Readonly<Record<string, { readonly TXT: ReadonlyArray<string> }>>) =>
      Effect.flatMap(DnsServer.listen({ ...served, ...aliases, ...zones }), (resolver) =>
        Effect.map(checkDomain(operatorDns, resolver, ["127.0.0.0/8"]), visible),
      )
    const withoutSecret = yield* recordsWith({})
    assert.deepStrictEqual(yield* recordsWith({ "db.inner.test": { TXT: ["root password: x"] } }), withoutSecret)
  })
})
