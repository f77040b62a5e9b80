import * as Dns from "@waybill/mail/dns/Dns"
import * as Blocklists from "@waybill/mail/source/Blocklists"
import { checkNames } from "@waybill/mail/source/checkNames"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as SourceProblems from "../../../apps/server/src/metrics/SourceProblems.ts"
import { addressViews } from "../../../apps/server/src/sources/addressViews.ts"
import { checkSources } from "../../../apps/server/src/sources/checkSources.ts"
import { checkSourceAddresses } from "../../../apps/server/src/operate/doctor/checkSourceAddresses.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import { add } from "./sources.ts"

const dnsOf = (server: DnsServer.DnsServer) =>
  Dns.Dns.layer({ servers: [server.server], query_timeout_ms: 20_000, query_tries: 1 })

/** Records of a list that passes its own test. */
const listOf = (zone: string, listed: Readonly<Record<string, DnsServer.Zone>> = {}) => ({
  [`2.0.0.127.${zone}`]: { A: ["127.0.0.2"] },
  ...Object.fromEntries(Object.entries(listed).map(([reversed, records]) => [`${reversed}.${zone}`, records])),
})

const lookUpIn = Effect.fnUntraced(function* (address: string) {
  const dns = yield* Dns.Dns
  return yield* Blocklists.lookUp(dns, yield* Blocklists.test(dns, "bl.test"), address)
})

describe("a blocklist", () => {
  const cases: ReadonlyArray<readonly [name: string, zones: Record<string, DnsServer.Zone>, expected: string]> = [
    ["without the address is clear", listOf("bl.test"), "clear not listed"],
    [
      "with the address has a reason",
      listOf("bl.test", { "9.113.0.203": { A: ["127.0.0.3"], TXT: ["see https://bl.test/9"] } }),
      "listed 127.0.0.3: see https://bl.test/9",
    ],
    [
      "that refuses a public resolver is no listing",
      { "2.0.0.127.bl.test": { A: ["127.255.255.254"] } },
      "unknown it refuses queries through a public resolver",
    ],
    [
      "that lists everything is no listing",
      listOf("bl.test", { "9.113.0.203": { A: ["127.0.0.2"] }, "1.0.0.127": { A: ["127.0.0.2"] } }),
      "unknown it lists every address",
    ],
    ["that is gone is not clear", {}, "unknown it does not answer this resolver, or is no blocklist any more"],
    [
      "whose domain was sold is no listing",
      { "2.0.0.127.bl.test": { A: ["198.51.100.7"] } },
      "unknown it answers with the foreign address 198.51.100.7",
    ],
    ["that fails is not clear", { "2.0.0.127.bl.test": "SERVFAIL" }, "unknown no answer (SERVFAIL)"],
    [
      "that fails for one address is not clear",
      listOf("bl.test", { "9.113.0.203": "SERVFAIL" }),
      "unknown no answer (SERVFAIL)",
    ],
  ]
  for (const [name, zones, expected] of cases)
    it.effect(name, function* () {
      const server = yield* DnsServer.listen(zones)
      const lookUp = lookUpIn("203.0.113.9")
      const { result, status } = yield* Effect.provide(lookUp, dnsOf(server))
      assert.strictEqual(`${status} ${result}`, expected)
    })

  it.effect("is asked for the nibbles of an IPv6 address", function* () {
    const name = `${"1".padEnd(1)}.${"0.".repeat(23)}8.b.d.0.1.0.0.2.bl.test`
    const server = yield* DnsServer.listen({ ...listOf("bl.test"), [name]: { A: ["127.0.0.2"] } })
    const lookUp = lookUpIn("2001:db8::1")
    assert.strictEqual((yield* Effect.provide(lookUp, dnsOf(server))).status, "listed")
  })
})

describe("the names of a source address", () => {
  // Public addresses, of which nothing is requested here.
  const ONE = "9.9.9.1"
  const check = Effect.fnUntraced(function* (address: string, zones: Record<string, DnsServer.Zone>) {
    const server = yield* DnsServer.listen(zones)
    const checked = Effect.flatMap(Dns.Dns, (dns) => checkNames(dns, { address, name: "mail.sender.test" }))
    const { result, status } = yield* Effect.provide(checked, dnsOf(server))
    return `${status}: ${result}`
  })
  const ptr = (name: string) => ({ "1.9.9.9.in-addr.arpa": { PTR: [name] } })

  it.effect("agree, or it says what does not", function* () {
    const a = { "mail.sender.test": { A: [ONE] } }
    assert.strictEqual(
      yield* check(ONE, { ...a, ...ptr("mail.sender.test") }),
      `ok: mail.sender.test points to ${ONE} and back`,
    )
    assert.strictEqual(yield* check(ONE, a), `wrong: ${ONE} has no PTR record`)
    assert.strictEqual(
      yield* check(ONE, { ...a, ...ptr("host.provider.test") }),
      `wrong: the PTR record of ${ONE} is host.provider.test, not mail.sender.test`,
    )
    assert.strictEqual(
      yield* check(ONE, { "mail.sender.test": { A: ["9.9.9.2"] }, ...ptr("mail.sender.test") }),
      `wrong: mail.sender.test points to 9.9.9.2, not to ${ONE}`,
    )
    assert.strictEqual(yield* check(ONE, {}), "wrong: mail.sender.test has no address")
    assert.include(yield* check(ONE, { "mail.sender.test": "SERVFAIL" }), "unknown: ")
  })

  it.effect("lead through a NAT to the public address and back", function* () {
    const zones = { "mail.sender.test": { A: [ONE] }, ...ptr("mail.sender.test") }
    assert.strictEqual(yield* check("10.0.0.5", zones), `ok: mail.sender.test points to ${ONE} and back`)
    assert.include(yield* check("fd00::5", zones), "wrong: mail.sender.test has no address of the IP version")
  })
})

layer(Database.layerFresh)("the periodic check of source addresses", (it) => {
  it.effect("records names and listings, looks up what receivers see, and is reported by doctor", function* () {
    yield* add("10.0.0.5", { ehlo: "mail.sender.test" })
    yield* SourceAddresses.recordHost("one", [{ address: "10.0.0.5", bindable: false }])
    const server = yield* DnsServer.listen({
      "mail.sender.test": { A: ["9.9.9.1"] },
      ...listOf("bl.test", { "1.9.9.9": { A: ["127.0.0.4"] } }),
    })
    const check = checkSources({ name: "host.test", blocklists: ["bl.test"] })
    yield* Effect.provide(check, dnsOf(server))
    const [view] = yield* addressViews
    assert.deepStrictEqual(view?.names, { status: "wrong", result: "9.9.9.1 has no PTR record" })
    assert.deepStrictEqual(view?.listings, [{ zone: "bl.test", status: "listed", result: "127.0.0.4" }])
    assert.deepStrictEqual(view?.problems, ["names", "listed", "absent"])
    yield* yield* SourceProblems.make
    const metrics = yield* PrometheusMetrics.format()
    for (const line of ['{problem="listed"} 1', '{problem="blocked"} 0'])
      assert.include(metrics, `waybill_source_address_problems${line}`)
    const finding = yield* Effect.provide(checkSourceAddresses(yield* addressViews, "host.test"), dnsOf(server))
    assert.strictEqual(finding.status, "warning")
    for (const part of ["no PTR record", "listed in bl.test (127.0.0.4)", "is no address of one"])
      assert.include(finding.result, part)
    // Nothing is asked of lists that the operator has not named.
    const before = server.queries.length
    yield* Effect.provide(checkSources({ name: "host.test", blocklists: [] }), dnsOf(server))
    assert.isFalse(server.queries.slice(before).some(({ name }) => name.endsWith("bl.test")))
  })
})
