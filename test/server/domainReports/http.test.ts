import * as DmarcOverrides from "@waybill/store/domainreports/DmarcOverrides"
import * as DmarcSources from "@waybill/store/domainreports/DmarcSources"
import * as Store from "@waybill/store/domainreports/DomainReports"
import * as TlsResults from "@waybill/store/domainreports/TlsResults"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

const ADDRESS = "dmarc@bounces.waybill.example"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the reports of a domain", (it) => {
  const setUp = Effect.gen(function* () {
    const customer = yield* signUp({ domains: ["acme.test"] })
    const { found } = yield* Store.targets(["acme.test"])
    const domain = (yield* customer.call("GET", "/v1/domains/acme.test")).json
    const target = found.find(({ domain_id }) => domain_id === domain.id)
    if (target === undefined) return assert.fail("the domain is not verified")
    const now = Date.now()
    const record = (kind: Store.ReportKind, write: Store.Write, verified = true, days = 0) =>
      Store.record(
        {
          kind,
          verified,
          reporter: "google.com",
          reportId: `${kind} ${verified} ${days}`,
          about: "acme.test",
          orgName: "Google",
          begin: now - days * 86_400_000,
          end: now,
        },
        [target],
        write,
      )
    return { ...customer, record }
  })
  const row = (source: string | null, messages: number, dkim: boolean): DmarcSources.Row & DmarcOverrides.OfSource => ({
    source,
    messages,
    dkim,
    spf: false,
    disposition: dkim ? "none" : "reject",
    dkimDomain: dkim ? "acme.test" : null,
    spfDomain: "esp.example",
    overrides: [],
  })

  it.effect("of DMARC show the sources, and the record to publish", function* () {
    const { call, record } = yield* setUp
    const empty = (yield* call("GET", "/v1/domains/acme.test/dmarc")).json
    assert.deepInclude(empty, {
      object: "dmarc_reports",
      days: 30,
      verified: true,
      report_address: ADDRESS,
      sources: [],
    })
    assert.deepStrictEqual(empty.record, {
      type: "TXT",
      name: "_dmarc.acme.test",
      value: `v=DMARC1; p=none; rua=mailto:${ADDRESS}`,
    })
    const rows = [
      row("192.0.2.1", 5, true),
      row("192.0.2.1", 2, false),
      row("2001:db8::1", 9, false),
      row(null, 1, false),
    ]
    yield* record(
      "dmarc",
      DmarcSources.write(() => rows),
    )
    yield* record(
      "dmarc",
      DmarcSources.write(() => [row("192.0.2.1", 3, true)]),
      true,
      20,
    )
    yield* record(
      "dmarc",
      DmarcSources.write(() => [row("192.0.2.9", 100, true)]),
      false,
    )
    const { json, status } = yield* call("GET", "/v1/domains/acme.test/dmarc?limit=2")
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(json.totals, {
      messages: 20,
      aligned: 8,
      dkim_aligned: 8,
      spf_aligned: 0,
      quarantined: 0,
      rejected: 12,
      sources: 3,
      overrides: [],
    })
    assert.deepStrictEqual(
      json.sources.map(({ aligned, messages, source_ip }: DmarcSources.Source) => [source_ip, messages, aligned]),
      [
        ["192.0.2.1", 10, 8],
        ["2001:db8::1", 9, 0],
      ],
    )
    assert.deepInclude(json.sources[0], {
      dkim_domain: "acme.test",
      spf_domain: "esp.example",
      reporters: ["google.com"],
    })
    assert.strictEqual(json.unverified_reports, 1)
    assert.deepInclude(json.reporters[0], { domain: "google.com", org_name: "Google", reports: 2 })
    assert.strictEqual((yield* call("GET", "/v1/domains/acme.test/dmarc?days=10")).json.totals.messages, 17)
    const unverified = (yield* call("GET", "/v1/domains/acme.test/dmarc?verified=false")).json
    assert.deepStrictEqual([unverified.verified, unverified.totals.messages], [false, 100])
    const whole = (yield* call("GET", "/v1/domains/acme.test/dmarc")).json
    assert.isNull(whole.sources.at(-1).source_ip)
  })

  it.effect("of DMARC show why the policy was not applied, by source and in all", function* () {
    const { call, record } = yield* setUp
    const override = (reason: DmarcOverrides.Override["reason"], messages: number, comment: string | null = null) => ({
      reason,
      messages,
      comment,
    })
    const rows = [
      { ...row("192.0.2.1", 9, false), overrides: [override("forwarded", 4), override("mailing_list", 9)] },
      { ...row("192.0.2.1", 2, true), overrides: [override("forwarded", 2, "list.example")] },
      { ...row(null, 1, false), overrides: [override("other", 1)] },
      row("192.0.2.2", 5, true),
    ]
    for (const days of [0, 1])
      for (const verified of [true, false])
        yield* record(
          "dmarc",
          (...about) =>
            Effect.forEach([DmarcSources.write(() => rows), DmarcOverrides.write(() => rows)], (write) =>
              write(...about),
            ),
          verified,
          days,
        )
    const { json } = yield* call("GET", "/v1/domains/acme.test/dmarc")
    assert.deepStrictEqual(json.totals.overrides, [
      override("mailing_list", 18),
      override("forwarded", 12, "list.example"),
      override("other", 2),
    ])
    assert.deepStrictEqual(
      json.sources.map(({ overrides, source_ip }: Record<string, unknown>) => [source_ip, overrides]),
      [
        ["192.0.2.1", [override("mailing_list", 18), override("forwarded", 12, "list.example")]],
        ["192.0.2.2", []],
        [null, [override("other", 2)]],
      ],
    )
  })

  it.effect("of TLS show policies and failures", function* () {
    const { call, record } = yield* setUp
    const rows: ReadonlyArray<TlsResults.Row> = [
      { policy: "sts", failure: null, server: null, sessions: 40 },
      { policy: "sts", failure: "certificate-expired", server: "mx.acme.test", sessions: 2 },
    ]
    yield* record(
      "tls",
      TlsResults.write(() => rows),
    )
    const { json } = yield* call("GET", "/v1/domains/acme.test/tls")
    assert.deepStrictEqual(json.record, {
      type: "TXT",
      name: "_smtp._tls.acme.test",
      value: "v=TLSRPTv1; rua=mailto:tlsrpt@bounces.waybill.example",
    })
    assert.deepInclude(json.policies[0], { policy: "sts", succeeded: 40, failed: 2 })
    assert.deepInclude(json.failures[0], { failure: "certificate-expired", server: "mx.acme.test", sessions: 2 })
  })

  it.effect("are those of the account only, need a scope, and refuse what is out of bounds", function* () {
    const { call, keyWith, record, world } = yield* setUp
    yield* record(
      "dmarc",
      DmarcSources.write(() => [row("192.0.2.1", 5, true)]),
    )
    const other = yield* setUp
    for (const kind of ["dmarc", "tls"]) {
      const { json } = yield* other.call("GET", `/v1/domains/acme.test/${kind}`)
      assert.deepStrictEqual([json.reporters, json.unverified_reports], [[], 0])
      assert.strictEqual((yield* call("GET", `/v1/domains/nowhere.test/${kind}`)).status, 404)
      for (const query of ["days=0", "days=401", "limit=1001", "verified=maybe", "day=1"])
        assert.strictEqual((yield* call("GET", `/v1/domains/acme.test/${kind}?${query}`)).status, 400, query)
      const sender = yield* keyWith({ scopes: ["email:send"] })
      const refused = yield* world.request("GET", `/v1/domains/acme.test/${kind}`, { key: sender })
      assert.deepStrictEqual(reasonOf(refused), [403, "missing_scope"])
    }
  })
})
