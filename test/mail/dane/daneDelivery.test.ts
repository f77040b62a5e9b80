import { Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { using } from "../smtp/mxPair.ts"
import { short } from "../transport/outgoing.ts"
import { certificateOf, chained, expired, expiredAuthority, signedPair, tlsa, trusting } from "./signedServers.ts"

const SELF_SIGNED = certificateOf(SmtpServer.selfSigned)
const AUTHORITY = new X509Certificate(SmtpServer.authority)
const ANA = ["ana@acme.test"]
const enforced = (...mx: ReadonlyArray<string>) => ({
  "acme.test": { mode: "enforce" as const, mx, max_age_ms: 1 },
})

describe("DANE-EE: the records name the server's certificate", () => {
  for (const selector of [0, 1])
    for (const matching of [0, 1, 2])
      it.effect(
        `by selector ${selector} and matching ${matching}, whoever issued it and for whichever name`,
        function* () {
          const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, [
            tlsa(3, selector, matching, SELF_SIGNED),
          ])
          const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
          assert.deepStrictEqual([short(outcome), outcome?.tls], ["delivered", "TLSv1.3"])
        },
      )

  it.effect("also after its end", function* () {
    const record = tlsa(3, 1, 1, certificateOf(expired))
    const world = yield* signedPair({ starttls: expired }, [record])
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    assert.strictEqual(short(outcome), "delivered", String(outcome?.response))
  })

  it.effect("and one of several is enough", function* () {
    const records = [tlsa(3, 1, 1, AUTHORITY), tlsa(3, 1, 1, SELF_SIGNED)]
    const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, records)
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    assert.strictEqual(short(outcome), "delivered")
  })

  it.effect("under the name behind an alias", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, [tlsa(3, 1, 1, AUTHORITY)])
    world.dns.set("mx1.acme.test", { CNAME: "host.acme.test" })
    world.dns.set("host.acme.test", { A: ["127.0.0.1"] })
    world.dns.set(`_${world.port}._tcp.host.acme.test`, { TLSA: [tlsa(3, 1, 1, SELF_SIGNED)] })
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    assert.deepStrictEqual([short(outcome), outcome?.mx], ["delivered", "mx1.acme.test"])
  })
})

describe("DANE-TA: the records name an issuer of the server's certificate", () => {
  for (const [selector, matching] of [
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 1],
    [1, 2],
  ] as const)
    it.effect(`by selector ${selector} and matching ${matching}, and the server sends it`, function* () {
      const world = yield* signedPair({ starttls: chained }, [tlsa(2, selector, matching, AUTHORITY)])
      // Authorities of the machine do not count.
      const options = { dane: world.dane, ca: "" }
      const outcomes = yield* using(
        world,
        (deliver) => Effect.all([deliver(ANA), deliver(["ben@acme.test"])], { concurrency: 2 }),
        options,
      )
      assert.deepStrictEqual(outcomes.flat().map(short), ["delivered", "delivered"], outcomes[0][0]?.response ?? "")
    })

  it.effect("whole, so that the server need not send it", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.certified }, [tlsa(2, 0, 0, AUTHORITY)])
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    assert.strictEqual(short(outcome), "delivered", String(outcome?.response))
  })

  it.effect("but a certificate for another name is refused", function* () {
    const world = yield* signedPair({ starttls: chained }, [])
    world.dns.sign("b.test")
    world.dns.set("b.test", { MX: [[10, "mx9.b.test"]] })
    world.dns.set("mx9.b.test", { A: ["127.0.0.1"] })
    world.dns.set(`_${world.port}._tcp.mx9.b.test`, { TLSA: [tlsa(2, 0, 1, AUTHORITY)] })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@b.test"]), { dane: world.dane })
    assert.strictEqual(short(outcome), "deferred dane")
    assert.match(outcome?.response ?? "", /ALTNAME|altnames/u)
    assert.deepStrictEqual(world.mails(), [])
  })

  it.effect("but one that has ended is refused", function* () {
    const issuer = expiredAuthority
    for (const matching of [0, 1]) {
      const world = yield* signedPair({ starttls: expired }, [tlsa(2, 0, matching, issuer)])
      const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
      assert.strictEqual(short(outcome), "deferred dane")
      assert.match(outcome?.response ?? "", /expired/iu)
    }
  })

  it.effect("but one that names the server's own certificate is refused", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, [tlsa(2, 0, 1, SELF_SIGNED)])
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    assert.strictEqual(short(outcome), "deferred dane")
  })
})

// threat: unsigned-mail
describe("a server that fails DANE gets no mail", () => {
  const record = tlsa(3, 1, 1, AUTHORITY)
  const unusable = { ...record, usage: 1 }
  const broken: SmtpServer.Options = {
    starttls: SmtpServer.selfSigned,
    script: ({ phase }) => (phase === "starttls" ? "broken-tls" : undefined),
  }
  const cases: ReadonlyArray<readonly [string, SmtpServer.Options, Parameters<typeof signedPair>[1], RegExp]> = [
    ["its certificate is another one", { starttls: SmtpServer.certified }, [record], /does not match/u],
    ["it does not offer TLS", {}, [record], /STARTTLS is required/u],
    ["it breaks off TLS", broken, [record], /TLS is required by TLSA records/u],
    ["it does not offer TLS, and no record can be used", {}, [unusable], /STARTTLS is required/u],
    ["its records are bogus", { starttls: SmtpServer.certified }, "SERVFAIL", /TLSA of mx1\.acme\.test: SERVFAIL/u],
    ["its records are refused", { starttls: SmtpServer.certified }, "REFUSED", /REFUSED/u],
  ]
  for (const [name, options, records, reason] of cases)
    it.effect(name, function* () {
      const world = yield* signedPair(options, records)
      const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
      assert.strictEqual(short(outcome), "deferred dane", String(outcome?.response))
      assert.match(outcome?.response ?? "", reason)
      assert.deepStrictEqual(world.mails(), [])
    })

  it.effect("and the next one that passes gets it", function* () {
    const options = { starttls: SmtpServer.selfSigned }
    const world = yield* signedPair({ starttls: SmtpServer.certified }, [tlsa(3, 1, 1, SELF_SIGNED)], options)
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    assert.deepStrictEqual([short(outcome), outcome?.mx], ["delivered", "mx2.acme.test"])
  })

  it.effect("also not over a session that was opened for a domain without records", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, [record])
    world.dns.set("b.test", { MX: [[10, "mx1.acme.test"]] })
    const outcomes = yield* using(world, (deliver) => Effect.all([deliver(["ana@b.test"]), deliver(ANA)]), {
      dane: world.dane,
    })
    assert.deepStrictEqual(outcomes.flat().map(short), ["delivered", "deferred dane"])
  })
})

describe("DANE is not used", () => {
  const mismatch = [tlsa(3, 1, 1, AUTHORITY)]
  const starttls = SmtpServer.selfSigned
  it.effect("without a trusted resolver, whatever bits others set", function* () {
    const world = yield* signedPair({ starttls }, mismatch)
    const [outcome] = yield* using(world, (deliver) => deliver(ANA))
    assert.strictEqual(short(outcome), "delivered")
    assert.isFalse(world.dns.queries.some(({ type }) => type === "TLSA"))
  })

  it.effect("where the domain's zone is not signed, though that of its servers is", function* () {
    const world = yield* signedPair({ starttls }, mismatch)
    world.dns.set("b.test", { MX: [[10, "mx1.acme.test"]] })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@b.test"]), { dane: world.dane })
    assert.strictEqual(short(outcome), "delivered")
  })

  it.effect("where the zone of the servers is not signed, which is not even asked", function* () {
    const world = yield* signedPair({ starttls }, "SERVFAIL")
    world.dns.sign("b.test")
    world.dns.set("b.test", { MX: [[10, "mail.c.test"]] })
    world.dns.set("mail.c.test", { A: ["127.0.0.1"] })
    world.dns.set(`_${world.port}._tcp.mail.c.test`, "SERVFAIL")
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@b.test"]), { dane: world.dane })
    assert.strictEqual(short(outcome), "delivered")
    assert.isFalse(world.dns.queries.some(({ name, type }) => type === "TLSA" && name.endsWith(".c.test")))
  })

  it.effect("where there are no records", function* () {
    const world = yield* signedPair({}, [])
    world.dns.remove(`_${world.port}._tcp.mx1.acme.test`)
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    assert.deepStrictEqual([short(outcome), outcome?.tls], ["delivered", null])
  })

  it.effect("to check a certificate where no record can be used", function* () {
    for (const records of [
      [{ ...tlsa(3, 1, 1, AUTHORITY), usage: 0 }],
      [{ ...tlsa(3, 1, 1, AUTHORITY), selector: 7 }],
      [{ ...tlsa(3, 1, 1, AUTHORITY), certificate: Buffer.from("short") }],
      [{ usage: 2, selector: 0, matchingType: 0, certificate: Buffer.from("no certificate") }],
    ]) {
      const world = yield* signedPair({ starttls }, records)
      const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
      assert.deepStrictEqual([short(outcome), outcome?.tls], ["delivered", "TLSv1.3"])
    }
  })
})

describe("DANE and MTA-STS", () => {
  it.effect("a certificate that the records name needs no authority and no place in the policy", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, [tlsa(3, 1, 1, SELF_SIGNED)])
    const policies = enforced("elsewhere.acme.test")
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane }, policies)
    assert.strictEqual(short(outcome), "delivered")
  })

  it.effect("a certificate that the policy would take is refused if the records name another", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.certified }, [tlsa(3, 1, 1, SELF_SIGNED)])
    const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane }, enforced("*.acme.test"))
    assert.strictEqual(short(outcome), "deferred dane")
  })

  it.effect("the policy decides where no record can be used", function* () {
    const records = [{ ...tlsa(3, 1, 1, SELF_SIGNED), usage: 1 }]
    for (const [starttls, expected] of [
      [SmtpServer.selfSigned, "deferred dane"],
      [SmtpServer.certified, "delivered"],
    ] as const) {
      const world = yield* signedPair({ starttls }, records)
      const [outcome] = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane }, enforced("*.acme.test"))
      assert.strictEqual(short(outcome), expected)
    }
  })
})

describe("the trusted resolver", () => {
  it.effect("says where mail goes, also if another one says otherwise", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, [tlsa(3, 1, 1, SELF_SIGNED)])
    const other = yield* DnsServer.listen({
      "acme.test": { MX: [[10, "mx.evil.test"]] },
      "mx.evil.test": { A: ["127.0.0.2"] },
      "mx1.acme.test": { A: ["127.0.0.1"] },
    })
    const [outcome] = yield* using({ ...world, dns: other }, (deliver) => deliver(ANA), { dane: world.dane })
    assert.deepStrictEqual([short(outcome), outcome?.mx], ["delivered", "mx1.acme.test"])
  })

  it.effect("that is away, or finds the domain bogus, defers", function* () {
    const world = yield* signedPair({ starttls: SmtpServer.selfSigned }, [])
    world.dns.set("acme.test", "SERVFAIL")
    const bogus = yield* using(world, (deliver) => deliver(ANA), { dane: world.dane })
    world.dns.set("acme.test", "timeout")
    const away = yield* using(world, (deliver) => deliver(ANA), { dane: trusting(world.dns, 50) })
    assert.deepStrictEqual([...bogus, ...away].map(short), ["deferred dns", "deferred dns"])
  })
})
