import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as DirectTransport from "@waybill/mail/transport/DirectTransport"
import * as Dns from "@waybill/mail/dns/Dns"
import * as MxRoute from "@waybill/mail/site/MxRoute"
import * as SiteRules from "@waybill/mail/site/SiteRules"
import { assert, describe, it } from "../../support/effectTest.ts"
import { dnsZones, type Zones } from "../../support/mail/dnsZones.ts"
import type * as SmtpServer from "../../support/mail/smtpServer.ts"
import { MX2, pair, using } from "../smtp/mxPair.ts"
import { impatient, PATIENT, short } from "./outgoing.ts"

describe("direct delivery to a domain with two servers", () => {
  it.effect("uses the preferred server", function* () {
    const world = yield* pair({})
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]))
    assert.deepStrictEqual([outcome?.status, outcome?.mx], ["delivered", "mx1.acme.test"])
    assert.deepStrictEqual(
      world.mx1?.mails.map((mail) => [mail.from, mail.to]),
      [["b-1@bounce.acme.test", ["ana@acme.test"]]],
    )
    assert.strictEqual(world.mx2.connections().opened, 0)
  })

  const troubles: Record<string, SmtpServer.Options | "absent"> = {
    "is not there": "absent",
    "drops the connection": { script: ({ phase }) => (phase === "connect" ? "drop" : undefined) },
    "is silent": { script: ({ phase }) => (phase === "greeting" ? "hang" : undefined) },
    "refuses at the greeting with 5xx": {
      script: ({ phase }) => (phase === "greeting" ? "554 5.3.2 no service" : undefined),
    },
    "closes with 421": { script: ({ phase }) => (phase === "greeting" ? "421 4.3.2 closing" : undefined) },
    "refuses EHLO": { script: ({ phase }) => (phase === "ehlo" ? "421 4.3.2 closing" : undefined) },
    "drops at MAIL": { script: ({ phase }) => (phase === "mail" ? "drop" : undefined) },
    "drops at RCPT": { script: ({ phase }) => (phase === "rcpt" ? "drop" : undefined) },
    "drops at DATA": { script: ({ phase }) => (phase === "data" ? "drop" : undefined) },
  }
  for (const [name, options] of Object.entries(troubles)) {
    it.effect(`uses the second server when the first ${name}`, function* () {
      const world = yield* pair(options)
      // The same timeout applies to the greeting of the second server, which arrives.
      const timeouts = name === "is silent" ? impatient("greeting_ms", 3_000) : PATIENT
      const outcomes = yield* using(world, (deliver) => deliver(["ana@acme.test", "ben@acme.test"]), { timeouts })
      assert.deepStrictEqual(
        outcomes.map((outcome) => [outcome.status, outcome.mx, outcome.recipient]),
        [
          ["delivered", "mx2.acme.test", "ana@acme.test"],
          ["delivered", "mx2.acme.test", "ben@acme.test"],
        ],
      )
      assert.deepStrictEqual(
        world.mx2.mails.map((mail) => mail.to),
        [["ana@acme.test", "ben@acme.test"]],
      )
    })
  }

  it.effect("a reply lost after the body is not retried at the second server", function* () {
    const world = yield* pair({ script: ({ phase }) => (phase === "dot" ? "store-then-drop" : undefined) })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]))
    assert.strictEqual(short(outcome), "deferred lost_answer")
    assert.strictEqual(world.mx2.mails.length, 0)
  })

  it.effect("a refusal by the first server is not repeated at the second", function* () {
    const world = yield* pair({
      script: ({ index, phase }) => (phase === "rcpt" && index === 0 ? "550 5.1.1 no such user" : undefined),
    })
    const outcomes = yield* using(world, (deliver) => deliver(["ana@acme.test", "ben@acme.test"]))
    assert.deepStrictEqual(outcomes.map(short), ["bounced invalid_recipient", "delivered"])
    assert.strictEqual(world.mx2.connections().opened, 0)
  })

  it.effect("defers when both servers are down", function* () {
    const world = yield* pair("absent", {
      script: ({ phase }) => (phase === "greeting" ? "450 4.3.2 not now" : undefined),
    })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]))
    assert.deepStrictEqual([outcome?.status, outcome?.code, outcome?.mx], ["deferred", 450, "mx2.acme.test"])
  })
})

describe("direct delivery: servers of a domain", () => {
  const find = (zones: Zones, domain = "a.test") =>
    Effect.flatMap(Dns.Dns, (dns) => MxRoute.find(dns, domain)).pipe(Effect.provide(dnsZones(zones)))
  const mx = (preference: number, exchange: string): Dns.Mx => ({ preference, exchange })

  it.effect("are its MX records by preference, equal ones in random order", function* () {
    const zones = { "a.test": { MX: [mx(20, "c.test"), mx(10, "x.test"), mx(10, "y.test"), mx(30, "")] } }
    const firsts = new Set<string>()
    for (let i = 0; i < 50; i++) {
      const route = yield* find(zones)
      const hosts = route._tag === "Hosts" ? route.hosts : []
      assert.deepStrictEqual([hosts.slice(0, 2).toSorted(), hosts.slice(2)], [["x.test", "y.test"], ["c.test"]])
      firsts.add(hosts[0] ?? "")
    }
    assert.strictEqual(firsts.size, 2)
  })

  const cases: ReadonlyArray<readonly [string, Zones, string]> = [
    ["the domain itself without MX", { "a.test": { A: ["192.88.98.1"] } }, "Hosts a.test"],
    ["nowhere when its only address is private", { "a.test": { A: ["10.0.0.1"] } }, "Nowhere 5.1.2"],
    ["nowhere with a null MX", { "a.test": { MX: [mx(0, "")], A: ["192.0.2.1"] } }, "Nowhere 5.1.10"],
    ["nowhere when the domain is not", {}, "Nowhere 5.1.2"],
    ["nowhere without any address", { "a.test": { TXT: ["x"] } }, "Nowhere 5.1.2"],
    [
      "nowhere when MX names only addresses",
      { "a.test": { MX: [mx(1, "10.0.0.1"), mx(2, "2130706433")] } },
      "Nowhere 5.4.4",
    ],
    ["unknown while DNS fails", { "a.test": "SERVFAIL" }, "Unknown"],
    ["unknown while DNS is silent", { "a.test": "TIMEOUT" }, "Unknown"],
  ]
  for (const [name, zones, expected] of cases) {
    it.effect(name, function* () {
      const route = yield* find(zones)
      const found =
        route._tag === "Hosts"
          ? `Hosts ${route.hosts}`
          : route._tag === "Nowhere"
            ? `Nowhere ${route.enhanced_code}`
            : route._tag
      assert.strictEqual(found, expected)
    })
  }

  it.effect("defer when DNS fails, and bounce when the domain accepts no mail", function* () {
    const world = yield* pair({})
    world.dns.set("sick.test", "SERVFAIL")
    world.dns.set("silent.test", "timeout")
    world.dns.set("null.test", { MX: [[0, "."]] })
    world.dns.set("lost.test", { MX: [[10, "mx.lost.test"]] })
    world.dns.set("mx.lost.test", "SERVFAIL")
    const to = [
      "a@sick.test",
      "a@silent.test",
      "a@null.test",
      "a@gone.test",
      "a@lost.test",
      "a@[127.0.0.1]",
      "a@127.0.0.1",
      "a@",
    ]
    // One query reaches this timeout; the others are answered sooner.
    const outcomes = yield* using(world, (deliver) => deliver(to), {}, {}, 4_000)
    assert.deepStrictEqual(outcomes.map(short), [
      "deferred dns",
      "deferred dns",
      "bounced bad_domain",
      "bounced bad_domain",
      "deferred dns",
      "failed bad_domain",
      "failed bad_domain",
      "failed bad_domain",
    ])
    assert.deepStrictEqual(
      outcomes.map((outcome) => outcome.recipient),
      to,
    )
  })

  it.effect("get one transaction per domain, with its own recipients only", function* () {
    const world = yield* pair({})
    world.dns.set("b.test", { MX: [[10, "mx1.acme.test"]] })
    world.dns.set("xn--bcher-kva.test", { MX: [[10, "mx1.acme.test"]] })
    const to = ["1@acme.test", "2@b.test", "3@ACME.test", "4@bücher.test", "5@b.test"]
    const outcomes = yield* using(world, (deliver) => deliver(to))
    assert.isTrue(outcomes.every((outcome) => outcome.status === "delivered"))
    assert.deepStrictEqual(
      world.mx1?.mails.map((mail) => mail.to).toSorted((one, other) => String(one).localeCompare(String(other))),
      [["1@acme.test", "3@ACME.test"], ["2@b.test", "5@b.test"], ["4@bücher.test"]],
    )
  })

  it.effect("are looked up once a minute", function* () {
    const world = yield* pair({})
    yield* using(world, (deliver) =>
      Effect.gen(function* () {
        yield* deliver(["ana@acme.test"])
        yield* deliver(["ben@acme.test"])
        yield* TestClock.adjust(DirectTransport.ROUTE_TTL_MS)
        yield* deliver(["cy@acme.test"])
      }),
    )
    assert.strictEqual(world.dns.queries.filter((query) => query.type === "MX").length, 2)
  })

  it.effect("are tried at each of their addresses", function* () {
    const world = yield* pair({})
    world.dns.set("many.test", { MX: [[10, "mx.many.test"]] })
    world.dns.set("mx.many.test", { A: ["127.0.0.3", MX2], AAAA: ["fd00::1"] })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@many.test"]))
    assert.deepStrictEqual([outcome?.status, outcome?.mx], ["delivered", "mx.many.test"])
    assert.strictEqual(world.mx2.mails.length, 1)
  })
})

describe("direct delivery: a site that refuses connections", () => {
  it.effect("with 421 is paused, and no attempt is counted", function* () {
    const busy: SmtpServer.Options = {
      script: ({ phase }) => (phase === "greeting" ? "421 4.7.0 try again later" : undefined),
    }
    const world = yield* pair(busy, busy)
    const [first, second, third] = yield* using(world, (deliver) =>
      Effect.gen(function* () {
        const first = yield* deliver(["ana@acme.test"])
        const second = yield* deliver(["ben@acme.test"])
        world.mx1?.setScript(undefined)
        yield* TestClock.adjust("1 minute")
        return [...first, ...second, ...(yield* deliver(["ana@acme.test"]))]
      }),
    )
    assert.deepStrictEqual([first?.code, first?.no_attempt, first?.retry_after_ms], [421, true, 60_000])
    assert.deepStrictEqual(
      [second?.category, second?.no_attempt, second?.retry_after_ms],
      ["cooling_down", true, 60_000],
    )
    assert.strictEqual(third?.status, "delivered")
  })
})

describe("a domain that names a provider's server before its own", () => {
  it.effect("pauses its own site, not the provider's", function* () {
    const world = yield* pair({ script: ({ phase }) => (phase === "greeting" ? "421 4.7.0 go away" : undefined) })
    const evil: ReadonlyArray<[number, string]> = [
      [0, "nx.google.com"],
      [10, "mx1.acme.test"],
    ]
    world.dns.set("evil.test", { MX: [...evil] })
    world.dns.set("gmail.test", { MX: [[5, "gmail-smtp-in.l.google.com"]] })
    world.dns.set("gmail-smtp-in.l.google.com", { A: [MX2] })
    const [first, second] = yield* using(world, (deliver) =>
      Effect.gen(function* () {
        return [...(yield* deliver(["eve@evil.test"])), ...(yield* deliver(["ana@gmail.test"]))]
      }),
    )
    assert.deepStrictEqual([first?.code, first?.no_attempt], [421, true])
    assert.strictEqual(second?.status, "delivered")
  })
})

describe("a private address", () => {
  // threat: internal-addresses
  it.effect("is never connected to, whatever name resolves to it", function* () {
    const world = yield* pair({})
    world.dns.set("mapped.test", { MX: [[10, "six.mapped.test"]] })
    world.dns.set("six.mapped.test", { AAAA: ["::ffff:127.0.0.1"] })
    world.dns.set("implicit.test", { A: ["127.0.0.1"] })
    world.dns.set("inner.test", { MX: [[10, "localhost.inner.test"]] })
    world.dns.set("localhost.inner.test", { A: ["169.254.169.254", "10.0.0.1"], AAAA: ["fd00::1"] })
    const to = ["a@acme.test", "a@mapped.test", "a@implicit.test", "a@inner.test"]
    const outcomes = yield* using(world, (deliver) => deliver(to), { allowed: [] })
    assert.deepStrictEqual(outcomes.map(short), ["deferred dns", "deferred dns", "bounced bad_domain", "deferred dns"])
    assert.strictEqual(world.mx1?.connections().opened, 0)
    assert.strictEqual(world.mx2.connections().opened, 0)
  })

  // threat: internal-names
  it.effect("looks to senders like a name that does not exist", function* () {
    const world = yield* pair({})
    world.dns.set("inner.test", { MX: [[10, "mx.inner.test"]] })
    world.dns.set("mx.inner.test", { A: ["10.0.0.1"] })
    world.dns.set("none.test", { MX: [[10, "mx.none.test"]] })
    world.dns.set("db.inner.test", { A: ["10.0.0.7"] })
    const outcomes = yield* using(world, (deliver) =>
      deliver(["a@inner.test", "a@none.test", "a@db.inner.test", "a@nobody.test"]),
    )
    const told = outcomes.map(({ duration_ms: _, recipient, ...rest }) =>
      JSON.stringify(rest).replaceAll(recipient.slice(2), "DOMAIN"),
    )
    assert.strictEqual(told[0], told[1])
    assert.strictEqual(told[2], told[3])
    assert.notMatch(told.join(), /10\.0\.0|mx\.inner/u)
    assert.include(told[0], "no mail server of the domain has a public address")
    assert.include(told[2], "DOMAIN has neither an MX record nor a public address")
  })

  it.effect("beside a public server that is down defers the mail", function* () {
    const world = yield* pair({})
    world.dns.set("mx1.acme.test", { A: ["10.0.0.1"] })
    world.dns.set("mx2.acme.test", "SERVFAIL")
    assert.strictEqual(short((yield* using(world, (deliver) => deliver(["a@acme.test"])))[0]), "deferred dns")
  })
})

describe("the site of a domain", () => {
  it("is the provider if all servers belong to it, else the set of its servers", () => {
    const siteOf = (...hosts: [string, ...Array<string>]) => SiteRules.siteOf(hosts, SiteRules.RULES)
    const key = (...hosts: [string, ...Array<string>]) => siteOf(...hosts).key
    assert.strictEqual(key("alt1.aspmx.l.google.com", "aspmx.l.google.com"), "google.com")
    assert.strictEqual(key("acme-test.mail.protection.outlook.com"), "protection.outlook.com")
    assert.strictEqual(key("mx2.acme.test", "mx1.acme.test"), "mx1.acme.test mx2.acme.test")
    assert.strictEqual(key("notgoogle.com"), "notgoogle.com")
    assert.strictEqual(key("aspmx.l.google.com", "aspmx2.googlemail.com"), "google.com")
    assert.strictEqual(key("nx.google.com", "mx.evil.test"), "mx.evil.test nx.google.com")
    assert.strictEqual(key("nx.google.com", "mx.yahoodns.net"), "mx.yahoodns.net nx.google.com")
    assert.notStrictEqual(siteOf("a.mail.protection.outlook.com").route, siteOf("b.mail.protection.outlook.com").route)
    assert.deepInclude(siteOf("mx.acme.test"), { connections: 5, messages: 50 })
  })
})
