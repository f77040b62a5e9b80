import { MAX_SHOWN_TAGS } from "@waybill/api/groups/Stats"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as Follower from "@waybill/store/feed/Follower"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

const MESSAGE = {
  from: "Acme <hi@acme.test>",
  to: ["ana@example.org", "bob@example.org"],
  subject: "Hello",
  text: "Hi",
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("GET /stats", (it) => {
  const setUp = Effect.map(signUp({ domains: ["acme.test"] }), (customer) => ({
    ...customer,
    stats: (query: string) => customer.call("GET", `/v1/stats?${query}`),
  }))

  it.effect("counts the last 24 full hours, and reports its position in the log", function* () {
    const { call, stats } = yield* setUp
    yield* call("POST", "/v1/email/send", { ...MESSAGE, tags: ["receipt"] })
    yield* call("POST", "/v1/email/send", MESSAGE)
    assert.deepStrictEqual((yield* stats("")).json.data, [])
    while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
    const { json, status } = yield* stats("group_by=hour,domain")
    assert.strictEqual(status, 200)
    assert.strictEqual(Date.parse(json.to) - Date.parse(json.from), 24 * 3_600_000)
    assert.match(json.from, /:00:00\.000Z$/)
    assert.match(json.up_to_position, /^pos_/u)
    assert.strictEqual(
      json.data.reduce((sum: number, row: { accepted: number }) => sum + row.accepted, 0),
      4,
    )
    assert.deepInclude(json.data[0], { domain: "acme.test", tag: null, delivered: 0, latency_ms: null })
    assert.deepStrictEqual(json.data[0].recipient_counts, {
      queued: json.data[0].accepted,
      deferred: 0,
      sent: 0,
      delivered: 0,
      bounced: 0,
      failed: 0,
      suppressed: 0,
      canceled: 0,
      complained: 0,
    })
    const tagged = (yield* stats("group_by=tag")).json.data
    assert.lengthOf(tagged, 1)
    assert.strictEqual(EmailStats.MAX_TAGS, MAX_SHOWN_TAGS)
    assert.deepInclude(tagged[0], { at: null, tag: "receipt", accepted: 2 })
  })

  it.effect("counts mail by template and version apart from tags, and tells when each was last used", function* () {
    const { call, stats } = yield* setUp
    const create = (alias: string) => call("POST", "/v1/templates", { name: alias, alias, subject: alias, text: "Hi" })
    const { id } = (yield* create("receipt")).json
    yield* create("unused")
    const { text: _, ...message } = MESSAGE
    const send = (more: object) =>
      call("POST", "/v1/email/send", { ...message, template: { alias: "receipt" }, ...more })
    yield* call("POST", "/v1/templates/receipt/publish", {})
    yield* send({ tags: ["tagged"] })
    yield* call("POST", "/v1/templates/receipt/publish", { notes: "The same words once more" })
    const { created_at } = (yield* send({ to: "ana@example.org" })).json
    yield* call("POST", "/v1/email/send", MESSAGE)
    assert.strictEqual((yield* call("GET", `/v1/templates/${id}`)).json.used_at, null)
    while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);

    type Row = { readonly template: string; readonly template_version: number; readonly accepted: number }
    const rows = (query: string) =>
      Effect.map(stats(query), ({ json }) =>
        json.data.map(({ accepted, template, template_version }: Row) => [template, template_version, accepted]),
      )
    assert.deepStrictEqual(yield* rows("group_by=template"), [
      [id, 1, 2],
      [id, 2, 1],
    ])
    assert.deepStrictEqual(yield* rows(`template=${id}`), [[null, null, 3]])
    assert.deepStrictEqual(yield* rows("template=tpl_01m8k800vbfnpa9nq06dq9q80m"), [])
    assert.deepStrictEqual(yield* rows(""), [[null, null, 5]])
    const tagged = yield* stats("group_by=tag")
    assert.deepStrictEqual(
      tagged.json.data.map(({ accepted, tag }: { readonly tag: string; readonly accepted: number }) => [tag, accepted]),
      [["tagged", 2]],
    )
    assert.deepStrictEqual(reasonOf(yield* stats("group_by=template&tag=tagged")), [400, "validation_failed"])

    const hour = `${created_at.slice(0, 13)}:00:00.000Z`
    assert.strictEqual((yield* call("GET", "/v1/templates/receipt")).json.used_at, hour)
    const listed = yield* call("GET", "/v1/templates")
    assert.deepStrictEqual(
      listed.json.data.map((each: { readonly alias: string; readonly used_at: string | null }) => [
        each.alias,
        each.used_at,
      ]),
      [
        ["unused", null],
        ["receipt", hour],
      ],
    )
  })

  it.effect("shows an account only its own data", function* () {
    const { call } = yield* setUp
    yield* call("POST", "/v1/email/send", MESSAGE)
    while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
    const other = yield* setUp
    assert.deepStrictEqual((yield* other.stats("group_by=day")).json.data, [])
  })

  it.effect("requires the scope for reading logs", function* () {
    const { keyWith, world } = yield* setUp
    const reader = yield* keyWith({ scopes: ["email:logs:read"] })
    const sender = yield* keyWith({ scopes: ["email:send"] })
    assert.strictEqual((yield* world.request("GET", "/v1/stats", { key: reader })).status, 200)
    const refused = yield* world.request("GET", "/v1/stats", { key: sender })
    assert.deepStrictEqual(reasonOf(refused), [403, "missing_scope"])
  })

  it.effect("refuses invalid groups, times and periods", function* () {
    const { stats } = yield* setUp
    for (const query of [
      "group_by=week",
      "group_by=hour,day",
      "group_by=domain,tag",
      "from=yesterday",
      "from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z",
      "from=2025-01-01T00:00:00Z&to=2026-11-20T00:00:00Z&group_by=day",
      "from=2026-01-01T00:00:00Z&to=2026-11-20T00:00:00Z&group_by=hour",
    ]) {
      const { json, status } = yield* stats(query)
      assert.deepStrictEqual([status, json.error?.code], [400, "invalid_request"], query)
    }
    assert.strictEqual((yield* stats("from=2026-01-01T00:00:00Z&to=2026-11-20T00:00:00Z&group_by=day")).status, 200)
    assert.strictEqual((yield* stats("from=0000-01-01T00:00:00Z&to=0000-02-01T00:00:00Z")).status, 400)
    assert.strictEqual((yield* stats("from=0000-01-01T00:00:00Z&to=0001-02-01T00:00:00Z")).status, 200)
    assert.strictEqual((yield* stats("from=2020-01-01T00:00:00Z&group_by=hour")).json.to, "2020-02-01T00:00:00.000Z")
  })
})
