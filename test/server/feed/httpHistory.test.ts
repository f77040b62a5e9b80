import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { fieldOf, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

interface Fact {
  readonly type: string
  readonly stream_id: string
  readonly position: string
  readonly request_id: string | null
  readonly data: Record<string, unknown>
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the account's history", (it) => {
  const setUp = signUp({ domains: ["acme.test"] })

  it.effect("is read in order, in pages, by type and from any position", function* () {
    const { call, send } = yield* setUp
    const ids = yield* Effect.forEach([1, 2, 3, 4, 5], () => send())
    const read = (query: string) =>
      Effect.map(
        call("GET", `/v1/events?${query}`),
        ({ json }) => json as { has_more: boolean; next_position: string; data: ReadonlyArray<Fact> },
      )
    const all = yield* read("")
    const types = all.data.map(({ type }) => type)
    assert.deepStrictEqual(types, [
      "account.created",
      "api_key.created",
      "domain.created",
      "domain.verified",
      ...ids.map(() => "email.queued"),
    ])
    const seen: Array<string> = []
    let position = "0"
    for (let more = true; more;) {
      const page = yield* read(`limit=2&types=email.queued,domain.created&after_position=${position}`)
      seen.push(...page.data.map(({ stream_id }) => stream_id))
      position = page.next_position
      more = page.has_more
    }
    assert.deepStrictEqual(seen.slice(1), ids)
    assert.deepStrictEqual((yield* read(`after_position=${position}`)).data, [])
  })

  // threat: shown-secrets
  it.effect("contains no secret and no hash", function* () {
    const { call } = yield* setUp
    yield* call("POST", "/v1/webhooks", { url: "https://example.org/", events: ["*"] })
    const { text } = yield* call("GET", "/v1/events")
    for (const word of ["hash", "secret_ref", "key_ref", "whsec_"]) assert.notInclude(text, `"${word}`)
  })

  it.effect("refuses invalid parameters", function* () {
    const { call } = yield* setUp
    for (const [query, path] of [
      ["limit=0", "limit"],
      ["limit=1001", "limit"],
      ["limit=ten", "limit"],
      ["limit=1&limit=2", "limit"],
      ["after_position=-1", "after_position"],
      ["after_position=1.5", "after_position"],
      ["after_position=7", "after_position"],
      ["after_position=pos_7", "after_position"],
      ["after_position=pos_00000000000000000000000000", "after_position"],
      ["types=email.lost", "types"],
    ] as const) {
      assert.deepStrictEqual(fieldOf(yield* call("GET", `/v1/events?${query}`)), [400, path], query)
    }
    assert.strictEqual((yield* call("GET", "/v1/events?limit=1000")).status, 200)
  })

  it.effect("shows a message's events with their actor", function* () {
    const { call, key_id, send } = yield* setUp
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const id = yield* send({ scheduled_at, to: ["ana@example.org", "Bo <bo@example.org>"] })
    yield* call("POST", `/v1/email/${id}/cancel`)
    const { json } = yield* call("GET", `/v1/email/logs/${id}/events`)
    assert.deepStrictEqual(
      json.data.map(({ type }: Fact) => type),
      ["email.queued", "email.canceled"],
    )
    const [queued] = json.data
    assert.deepStrictEqual(Object.keys(queued), [
      "object",
      "id",
      "type",
      "stream",
      "stream_id",
      "version",
      "position",
      "livemode",
      "occurred_at",
      "actor",
      "request_id",
      "data",
    ])
    assert.deepStrictEqual(queued.actor, { type: "api_key", id: key_id })
    assert.match(queued.position, /^pos_/u)
    assert.strictEqual(queued.data.email_id, id)
    const [from, to] = [
      { address: "hi@acme.test", name: "Acme" },
      [
        { address: "ana@example.org", name: null },
        { address: "bo@example.org", name: "Bo" },
      ],
    ]
    assert.deepStrictEqual([queued.data.from, queued.data.to, queued.data.cc], [from, to, []])
    const pulled = (yield* call("GET", "/v1/events?types=email.queued")).json.data
    assert.deepStrictEqual(pulled, [queued])
  })

  it.effect("lists actions in the audit log, newest first, without mail events", function* () {
    const { call, key_id, send } = yield* setUp
    yield* send()
    const removed = yield* call("DELETE", "/v1/domains/acme.test")
    yield* call("POST", "/v1/suppressions", { email: "gone@example.org" })
    const read = (query: string) => Effect.map(call("GET", `/v1/audit?${query}`), ({ json }) => json)
    const { data, has_more } = yield* read("")
    assert.isFalse(has_more)
    assert.deepStrictEqual(
      data.map(({ type }: Fact) => type),
      ["suppression.added", "domain.deleted", "domain.verified", "domain.created"],
    )
    const [, entry] = data
    assert.deepStrictEqual(
      [entry.actor, entry.address, entry.request_id],
      [{ type: "api_key", id: key_id }, "127.0.0.1", removed.headers.get("x-request-id")],
    )
    assert.deepStrictEqual([entry.actor_name, entry.target_name], ["test", "acme.test"])
    const FILTERS: ReadonlyArray<readonly [query: string, types: ReadonlyArray<string>]> = [
      ["q=GONE@example", ["suppression.added"]],
      ["q=acme%20deleted", ["domain.deleted"]],
      ["q=nobody", []],
      ["stream=suppression", ["suppression.added"]],
      [`actor_id=${key_id}&stream=domain&limit=1`, ["domain.deleted"]],
      ["actor_id=usr_00000000000000000000000000", []],
      ["created_after=2090-01-01T00:00:00Z", []],
      ["created_before=2090-01-01T00:00:00Z&q=verified", ["domain.verified"]],
    ]
    for (const [query, types] of FILTERS)
      assert.deepStrictEqual([query, (yield* read(query)).data.map(({ type }: Fact) => type)], [query, types])
    for (const query of ["q=", "stream=email", "actor_id=acc_1", "created_after=yesterday"])
      assert.strictEqual((yield* call("GET", `/v1/audit?${query}`)).status, 400, query)
    const page = yield* read("limit=3")
    assert.isTrue(page.has_more)
    assert.deepStrictEqual((yield* read(`limit=3&after=${page.next_cursor}`)).data, [data[3]])
  })

  it.effect("an entry of the audit says what changed, from what to what", function* () {
    const { call } = yield* setUp
    const changes = Effect.fnUntraced(function* (type: string) {
      const { json } = yield* call("GET", `/v1/audit?q=${type}`)
      assert.isNotEmpty(json.data, type)
      return json.data[0].changes as ReadonlyArray<unknown>
    })
    const { json: webhook } = yield* call("POST", "/v1/webhooks", { url: "https://example.org/a", events: ["*"] })
    const patch = (body: object) => call("PATCH", `/v1/webhooks/${webhook.id}`, body)
    yield* patch({ url: "https://example.org/b", events: ["email.bounced", "email.failed"] })
    assert.deepStrictEqual(yield* changes("webhook.updated"), [
      { field: "url", from: "https://example.org/a", to: "https://example.org/b" },
      { field: "events", from: "*", to: "email.bounced, email.failed" },
    ])
    yield* patch({ description: "d".repeat(300) })
    assert.deepStrictEqual(yield* changes("webhook.updated"), [
      { field: "description", from: null, to: "300 characters" },
    ])
    yield* patch({ description: null })
    assert.deepStrictEqual(yield* changes("webhook.updated"), [
      { field: "description", from: "300 characters", to: null },
    ])
    yield* call("DELETE", `/v1/webhooks/${webhook.id}`)
    assert.deepStrictEqual(yield* changes("webhook.deleted"), [])

    const member = (email: string) => call("POST", "/v1/members", { email, name: "M", role: "viewer" })
    const [one, two] = [yield* member("one@acme.test"), yield* member("two@acme.test")]
    yield* call("PATCH", `/v1/members/${two.json.member.id}`, { role: "member" })
    yield* call("PATCH", `/v1/members/${one.json.member.id}`, { role: "member" })
    assert.deepStrictEqual(yield* changes("member.role_changed"), [{ field: "role", from: "viewer", to: "member" }])
    assert.deepStrictEqual(yield* changes("member.invited"), [{ field: "role", from: null, to: "viewer" }])

    yield* call("PATCH", "/v1/domains/acme.test", { receiving: true })
    assert.deepStrictEqual(yield* changes("domain.receiving_changed"), [
      { field: "receiving", from: "false", to: "true" },
    ])
  })

  it.effect("suppressions are added, shown, listed in pages and removed", function* () {
    const { call } = yield* setUp
    const add = (email: string, reason?: string) =>
      call("POST", "/v1/suppressions", { email, ...(reason === undefined ? {} : { reason }) })
    const { json, status } = yield* add("Gone@Example.org")
    assert.deepStrictEqual(
      [status, json],
      [
        201,
        {
          object: "suppression",
          id: json.id,
          email: "gone@example.org",
          reason: "manual",
          email_id: null,
          source: "request",
          livemode: true,
          created_at: json.created_at,
        },
      ],
    )
    assert.strictEqual((yield* add("gone@example.org")).json.error.reason, "already_suppressed")
    assert.strictEqual((yield* add("other@example.org", "complaint")).json.reason, "complaint")
    assert.strictEqual((yield* add("x")).status, 400)
    assert.strictEqual((yield* add("y@example.org", "dislike")).status, 400)
    assert.deepStrictEqual((yield* call("GET", "/v1/suppressions/GONE@example.org")).json, json)
    const first = (yield* call("GET", "/v1/suppressions?limit=1")).json
    assert.deepStrictEqual([first.data[0].email, first.has_more], ["other@example.org", true])
    assert.deepStrictEqual((yield* call("GET", `/v1/suppressions?limit=1&after=${first.next_cursor}`)).json.data, [
      json,
    ])
    for (const [query, found] of [
      ["q=OTHER@", ["other@example.org"]],
      ["q=example.org&reason=manual", ["gone@example.org"]],
      ["reason=unsubscribe", []],
    ] as const) {
      const { data, has_more } = (yield* call("GET", `/v1/suppressions?${query}`)).json
      assert.deepStrictEqual(
        [query, data.map((each: { email: string }) => each.email), has_more],
        [query, found, false],
      )
    }
    assert.strictEqual((yield* call("GET", "/v1/suppressions?q=")).status, 400)
    assert.strictEqual((yield* call("GET", "/v1/suppressions?reason=dislike")).status, 400)
    const lifted = yield* call("DELETE", "/v1/suppressions/gone@example.org")
    assert.deepStrictEqual(lifted.json, {
      object: "suppression",
      id: json.id,
      email: "gone@example.org",
      deleted: true,
    })
    assert.strictEqual((yield* call("DELETE", "/v1/suppressions/gone@example.org")).status, 404)
    assert.strictEqual(
      (yield* call("GET", "/v1/suppressions/gone@example.org")).json.error.reason,
      "suppression_not_found",
    )
    assert.strictEqual((yield* add("gone@example.org")).status, 201)
  })
})
