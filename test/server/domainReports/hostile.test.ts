import * as DmarcSources from "@waybill/store/domainreports/DmarcSources"
import * as Reporters from "@waybill/store/domainreports/Reporters"
import * as TlsResults from "@waybill/store/domainreports/TlsResults"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import * as DomainReports from "../../../apps/server/src/smtp/ReceivedDomainReports.ts"
import { dice } from "../../support/dice.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Mail from "../../support/mail/aggregateMail.ts"
import * as Smtp from "../smtp/support.ts"

import * as Received from "./support.ts"

layer(Smtp.layer, { excludeTestServices: true })("a hostile aggregate report", (it) => {
  // threat: domain-reports
  it.effect("that its sender did not sign is kept apart, and does not stand in for a genuine one", function* () {
    const { port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    const { google } = Mail.dmarcForms({ domain: acme.name })
    const mail = google?.mail ?? Buffer.alloc(0)
    const genuine = yield* sign(mail, "google.com")
    const changed = Buffer.from(genuine.toString().replace("Date: Wed", "Date: Thu"))
    // Unsigned, signed by somebody else, and changed behind the signature.
    for (const bytes of [mail, yield* sign(mail, "evil.example"), changed])
      assert.match(yield* Received.send(port, "dmarc", bytes), /^250 /u)
    assert.deepStrictEqual(yield* Received.sourcesOf(acme), [])
    assert.deepStrictEqual(yield* Received.sourcesOf(acme, false), ["192.0.2.10 12 12", "2001:db8::7 3 0"])
    assert.strictEqual(yield* Reporters.unverifiedReports(Received.spanOf(acme), "dmarc"), 1)
    yield* Received.send(port, "dmarc", genuine)
    assert.deepStrictEqual(yield* Received.sourcesOf(acme), ["192.0.2.10 12 12", "2001:db8::7 3 0"])
    // Anybody may report, under the name of a domain of their own.
    const own = Buffer.from(mail.toString().replace("@google.com", "@evil.example"))
    yield* Received.send(port, "dmarc", yield* sign(own, "evil.example"))
    const reporters = yield* Reporters.list(Received.spanOf(acme), "dmarc")
    assert.deepStrictEqual(reporters.map(({ domain }) => domain).toSorted(), ["evil.example", "google.com"])
  })

  it.effect("about no domain here, of another time or unreadable changes nothing, and is counted", function* () {
    const { port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    const file = (xml: string | Buffer) => ({ name: "r.xml.gz", type: "application/gzip", bytes: gzipSync(xml) })
    const mailOf = (xml: string | Buffer) => sign(Mail.mixed("a@google.com", [file(xml)]), "google.com")
    const today = Math.floor(Date.now() / Mail.DAY) * Mail.DAY
    const at = (days: number) => Mail.text("google.xml", { domain: acme.name, begin: today + days * Mail.DAY })
    const long = at(-1).replace(/<begin>\d+/u, `<begin>${today / 1000 - 30 * 86_400}`)
    const cases = [
      ["unknown_domain", yield* mailOf(Mail.text("google.xml", { domain: "unknown.test" }))],
      ["too_old", yield* mailOf(at(-30))],
      ["bad_period", yield* mailOf(at(3))],
      ["bad_period", yield* mailOf(long)],
      ["unreadable", yield* mailOf("unused")],
      ["unreadable", yield* mailOf(at(-1).replace("<feedback>", '<!DOCTYPE a [<!ENTITY b "c">]><feedback>'))],
      ["unreadable", yield* mailOf(Buffer.alloc(20 * 1024 * 1024))],
      ["unreadable", Buffer.concat([Buffer.from("From: a@evil.example\r\n"), yield* mailOf(at(-1))])],
      ["unreadable", Buffer.from("Subject: hello\r\n\r\nNo report.\r\n")],
      ["unreadable", Buffer.concat([yield* mailOf(at(-1)), Buffer.alloc(DomainReports.KEEP_BYTES, "x\r\n")])],
    ] as const
    const before = yield* Received.rowsInAll
    for (const [outcome, bytes] of cases) {
      const count = yield* Received.counted(outcome)
      assert.match(yield* Received.send(port, "dmarc", bytes), /^250 2\.6\.0 /u)
      assert.strictEqual(yield* Received.counted(outcome), count + 1, outcome)
    }
    assert.strictEqual(yield* Received.rowsInAll, before)
  })

  it.effect("signed by a key for reports of TLS is verified about TLS only", function* () {
    const { dns, port, record, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    dns.set("s1._domainkey.google.com", { TXT: [record.replace("v=DKIM1;", "v=DKIM1; s=tlsrpt;")] })
    for (const form of [
      Mail.dmarcForms({ domain: acme.name })["google"],
      Mail.tlsForms({ domain: acme.name })["google"],
    ])
      yield* Received.send(port, "tlsrpt", yield* sign(form?.mail ?? Buffer.alloc(0), "google.com"))
    const span = Received.spanOf(acme)
    assert.deepStrictEqual(
      [yield* Reporters.list(span, "tls"), yield* Reporters.list(span, "dmarc")].map(({ length }) => length),
      [1, 0],
    )
    assert.strictEqual(yield* Reporters.unverifiedReports(span, "dmarc"), 1)
  })

  it.effect("about names of a hundred levels counts for the domain above them", function* () {
    const { port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    const deep = `${"a.".repeat(100)}${acme.name}`
    const xml = Mail.text("google.xml", { domain: acme.name }).replace(/<header_from>[^<]*/u, `<header_from>${deep}`)
    const mail = Mail.mixed("a@google.com", [{ name: "r.xml", type: "text/xml", bytes: Buffer.from(xml) }])
    assert.match(yield* Received.send(port, "dmarc", yield* sign(mail, "google.com")), /^250 /u)
    assert.deepStrictEqual(yield* Received.sourcesOf(acme), ["192.0.2.10 12 12", "2001:db8::7 3 0"])
  })

  it.effect("waits while DNS does not answer for its key", function* () {
    const { dns, port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    const { google } = Mail.dmarcForms({ domain: acme.name })
    const bytes = yield* sign(google?.mail ?? Buffer.alloc(0), "google.com")
    dns.set("s1._domainkey.google.com", "SERVFAIL")
    assert.match(yield* Received.send(port, "dmarc", bytes), /^451 4\.4\.3 /u)
    assert.deepStrictEqual(yield* Received.sourcesOf(acme, false), [])
  })

  // threat: domain-reports
  it.effect("cut, doubled, mixed or replayed adds nothing to the verified ones", function* () {
    const { port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    const { below, pick } = dice(2364)
    const forms = [
      ...Object.values(Mail.dmarcForms({ domain: acme.name })),
      ...Object.values(Mail.tlsForms({ domain: acme.name })),
    ]
    const mails = yield* Effect.forEach(forms, ({ mail, signer }) => sign(mail, signer))
    for (const mail of mails) yield* Received.send(port, "dmarc", mail)
    const before = [
      yield* DmarcSources.totals(Received.spanOf(acme)),
      yield* TlsResults.policies(Received.spanOf(acme)),
    ]
    const changes: ReadonlyArray<(bytes: Buffer, other: Buffer) => Buffer> = [
      (bytes) => bytes,
      (bytes) => bytes.subarray(0, below(bytes.length)),
      (bytes) => Buffer.concat([bytes, bytes]),
      (bytes, other) => Buffer.concat([bytes.subarray(0, below(bytes.length)), other.subarray(below(other.length))]),
    ]
    for (let round = 0; round < 40; round++) {
      const bytes = pick(changes)(Buffer.from(pick(mails)), Buffer.from(pick(mails)))
      assert.match(yield* Received.send(port, pick(["dmarc", "tlsrpt"]), bytes), /^(?:250|451) /u)
    }
    assert.deepStrictEqual(
      [yield* DmarcSources.totals(Received.spanOf(acme)), yield* TlsResults.policies(Received.spanOf(acme))],
      before,
    )
  })
})
