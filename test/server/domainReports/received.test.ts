import * as Domain from "@waybill/domain/domain/Domain"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as DmarcOverrides from "@waybill/store/domainreports/DmarcOverrides"
import * as DmarcSources from "@waybill/store/domainreports/DmarcSources"
import * as Store from "@waybill/store/domainreports/DomainReports"
import * as Reporters from "@waybill/store/domainreports/Reporters"
import * as TlsResults from "@waybill/store/domainreports/TlsResults"
import { Effect } from "effect"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Mail from "../../support/mail/aggregateMail.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "../smtp/support.ts"

import * as Received from "./support.ts"
import { Sql } from "@waybill/store/postgres/Sql"

layer(Smtp.layer, { excludeTestServices: true })("an aggregate report", (it) => {
  it.effect("of each mailbox provider is verified and counted once", function* () {
    const { port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    for (const { mail, signer } of Object.values(Mail.dmarcForms({ domain: acme.name })))
      for (let times = 0; times < 2; times++)
        assert.match(yield* Received.send(port, "DMARC", yield* sign(mail, signer)), /^250 2\.6\.0 /u)
    assert.deepStrictEqual(yield* Received.sourcesOf(acme), ["192.0.2.10 28 28", "2001:db8::7 4 0", "192.0.2.11 2 2"])
    const [first] = yield* DmarcSources.sources(Received.spanOf(acme), 1)
    assert.deepStrictEqual(
      [first?.dkim_aligned, first?.spf_aligned, first?.quarantined, first?.dkim_domain],
      [28, 16, 0, acme.name],
    )
    assert.deepStrictEqual(first?.reporters, ["fastmaildmarc.com", "google.com", "microsoft.com", "receiver.example"])
    assert.deepStrictEqual(yield* DmarcOverrides.totals(Received.spanOf(acme)), [
      { reason: "local_policy", messages: 3, comment: "arc=pass & so on" },
      { reason: "forwarded", messages: 1, comment: null },
      { reason: "mailing_list", messages: 1, comment: null },
    ])
    const reporters = yield* Reporters.list(Received.spanOf(acme), "dmarc")
    assert.deepStrictEqual(
      reporters.map(({ domain, org_name, reports }) => `${domain} ${org_name} ${reports}`).toSorted(),
      [
        "dmarc.yahoo.com Yahoo 1",
        "fastmaildmarc.com Fastmail Pty Ltd 1",
        "google.com google.com 1",
        "microsoft.com Enterprise Outlook 1",
        "receiver.example Receiver & Sons 1",
      ],
    )
    assert.strictEqual(yield* Reporters.unverifiedReports(Received.spanOf(acme), "dmarc"), 0)
  })

  it.effect("of TLS is counted by policy and failure", function* () {
    const { port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    for (const { mail, signer } of Object.values(Mail.tlsForms({ domain: acme.name })))
      for (let times = 0; times < 2; times++)
        assert.match(yield* Received.send(port, "tlsrpt", yield* sign(mail, signer)), /^250 /u)
    const policies = yield* TlsResults.policies(Received.spanOf(acme))
    assert.deepStrictEqual(
      policies.map(({ failed, policy, succeeded }) => `${policy} ${succeeded} ${failed}`),
      ["sts 41 3", "no-policy-found 9 1", "tlsa 2 0"],
    )
    const failures = yield* TlsResults.failures(Received.spanOf(acme), 10)
    assert.deepStrictEqual(
      failures.map(({ failure, policy, reporters, server, sessions }) => [
        policy,
        failure,
        server,
        sessions,
        ...reporters,
      ]),
      [
        ["sts", "certificate-expired", `mx.${acme.name}`, 2, "google.com"],
        ["no-policy-found", "starttls-not-supported", `mx.${acme.name}`, 1, "microsoft.com"],
        ["sts", "unspecified", null, 1, "google.com"],
      ],
    )
  })

  // threat: domain-reports
  it.effect("reaches each account by its most specific verified domain, and no other", function* () {
    const { port, sign } = yield* Received.listen
    const acme = yield* Received.aDomain
    const news = yield* World.verifiedDomain(`news.${acme.name}`)
    const both = id("AccountId")
    const ownAcme = yield* World.verifiedDomain(acme.name, both)
    const ownNews = yield* World.verifiedDomain(`news.${acme.name}`, both)
    const above = yield* World.verifiedDomain(`top.${acme.name}`)
    const thief = { account_id: id("AccountId"), domain_id: id("DomainId"), name: acme.name, public_key: "" }
    const dkim = { selector: "wb1", algorithm: "rsa" as const, public_key: "AA", key_ref: "dkim:wb1" }
    const pending = Domain.add({
      now: yield* NewIds.now,
      domainId: thief.domain_id,
      name: acme.name as never,
      dkim,
      transport: null,
      taken: false,
      others: 0,
      captured: false,
    })
    const { commit } = yield* EventStore
    yield* Effect.orDie(commit(Domain, { account_id: thief.account_id, stream_id: thief.domain_id }, pending))
    const { google, yahoo } = Mail.dmarcForms({ domain: acme.name })
    for (const form of [google, yahoo])
      if (form !== undefined) yield* Received.send(port, "dmarc", yield* sign(form.mail, form.signer))
    const ofGoogle = ["192.0.2.10 12 12", "2001:db8::7 3 0"]
    assert.deepStrictEqual(yield* Received.sourcesOf(acme), [...ofGoogle, "192.0.2.11 2 2"])
    assert.deepStrictEqual(yield* Received.sourcesOf(news), ["192.0.2.11 2 2"])
    assert.deepStrictEqual(yield* Received.sourcesOf(ownAcme), ofGoogle)
    assert.deepStrictEqual(yield* Received.sourcesOf(ownNews), ["192.0.2.11 2 2"])
    assert.deepStrictEqual(yield* Received.sourcesOf(thief), [])
    assert.deepStrictEqual(yield* Received.sourcesOf(above), [])
    // A policy of the subdomain says nothing to the account that has only the domain above it.
    const { microsoft } = Mail.dmarcForms({ domain: above.name })
    if (microsoft !== undefined) yield* Received.send(port, "dmarc", yield* sign(microsoft.mail, microsoft.signer))
    assert.deepStrictEqual(yield* Received.sourcesOf(acme), [...ofGoogle, "192.0.2.11 2 2"])
    assert.deepStrictEqual(yield* Received.sourcesOf(above), ["192.0.2.10 5 5"])
  })

  it.effect("is one of a limited number for a day, and goes with its age or its domain", function* () {
    const acme = yield* Received.aDomain
    const removed = yield* Received.aDomain
    const sql = yield* Sql
    const now = Date.now()
    const heading = (nth: number, days = 0, verified = false) => ({
      kind: "dmarc" as const,
      verified,
      reporter: "google.com",
      reportId: String(nth),
      about: acme.name,
      orgName: "Google",
      begin: now - days * Mail.DAY,
      end: now,
    })
    const row = {
      source: "192.0.2.1",
      disposition: "none",
      dkim: true,
      spf: true,
      messages: 1,
      dkimDomain: null,
      spfDomain: null,
      overrides: [{ reason: "forwarded", messages: 1, comment: null }],
    } as const
    const writes = [DmarcSources.write(() => [row]), DmarcOverrides.write(() => [row])]
    const record = (one: Store.Heading, domain = acme) =>
      Store.record(one, [domain], (...about) => Effect.forEach(writes, (write) => write(...about)))
    for (let nth = 0; nth < Store.MAX_UNVERIFIED_PER_DAY; nth++)
      assert.strictEqual(yield* record(heading(nth)), "recorded")
    assert.strictEqual(yield* record(heading(-1)), "too_many")
    assert.strictEqual(yield* record(heading(0)), "duplicate")
    // Verified reports, and those of other days, have a limit of their own.
    assert.strictEqual(yield* record(heading(0, 0, true)), "recorded")
    assert.strictEqual(yield* record(heading(-1, 40)), "recorded")
    assert.strictEqual(yield* record(heading(0), removed), "recorded")
    const { commit } = yield* EventStore
    const ref = { account_id: removed.account_id, stream_id: removed.domain_id }
    yield* Effect.orDie(commit(Domain, ref, Domain.remove(yield* NewIds.now)))
    assert.lengthOf(yield* DmarcOverrides.totals(Received.spanOf(removed, false)), 1)
    assert.isAbove(yield* Store.expire(30), 0)
    assert.lengthOf(yield* DmarcOverrides.totals(Received.spanOf(removed, false)), 0)
    assert.lengthOf(yield* DmarcOverrides.totals(Received.spanOf(acme, false)), 1)
    const left = yield* Effect.orDie(sql<{ readonly days: number; readonly reports: number }>`
      SELECT max(DATE '1970-01-01' + ${Math.floor(now / Mail.DAY)}::int - day)::int AS days, count(*)::int AS reports FROM domain_reports
      WHERE domain_id IN (${acme.domain_id}, ${removed.domain_id})`)
    assert.deepStrictEqual(left[0], { days: 0, reports: Store.MAX_UNVERIFIED_PER_DAY + 1 })
  })

  it.effect("is removed by its age in days of UTC, whatever the time zone of the database is", function* () {
    const acme = yield* Received.aDomain
    const sql = yield* Sql
    // At any time, one of these zones has another date than UTC.
    for (const zone of ["Etc/GMT+12", "Etc/GMT-14"])
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`
            INSERT INTO domain_reports
              (account_id, domain_id, kind, verified, reporter, hash, org_name, day, began_at, ended_at)
            SELECT ${acme.account_id}, ${acme.domain_id}, 'dmarc', true, 'google.com', sha256(age::text::bytea), '',
              (now() AT TIME ZONE 'UTC')::date - age, now(), now()
            FROM unnest(ARRAY[30, 31]) AS age`
          yield* sql`SELECT set_config('timezone', ${zone}, true) AS zone`
          yield* Store.expire(30)
          const left = yield* sql<{ readonly age: number }>`
            SELECT (now() AT TIME ZONE 'UTC')::date - day AS age FROM domain_reports WHERE domain_id = ${acme.domain_id}`
          assert.deepStrictEqual(left, [{ age: 30 }], zone)
          yield* sql`DELETE FROM domain_reports WHERE domain_id = ${acme.domain_id}`
        }),
      )
  })
})
