import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { blockedBackend, otherClient } from "../../support/postgres/otherClient.ts"
import { HttpWorld, reasonOf, type Setup, signUp, statusesOf } from "../../support/world/HttpWorld.ts"

const zones: { [name: string]: { TXT: Array<string> } } = {}

const setUp = signUp()

const isDkim = ({ purpose }: { readonly purpose: string }) => purpose === "dkim"

const options = { excludeTestServices: true, timeout: "90 seconds" } as const

layer(HttpWorld.layer(), options)("domains with the capture transport", (it) => {
  it.effect("with a reserved name are verified at once, others are not", function* () {
    const { call } = yield* setUp
    for (const name of ["acme.test", "shop.example", "a.invalid", "a.localhost", "example.com", "mail.example.net"])
      assert.strictEqual((yield* call("POST", "/v1/domains", { name })).json.status, "verified", name)
    assert.strictEqual((yield* call("POST", "/v1/domains", { name: "acme.dev" })).json.status, "pending")
  })

  it.effect("are normalized to lower case and IDNA, found by name and id, and shown with their records", function* () {
    const { call } = yield* setUp
    const { json, status } = yield* call("POST", "/v1/domains", { domain: "Bücher.Example.DEV" })
    assert.strictEqual(status, 201)
    assert.strictEqual(json.name, "xn--bcher-kva.example.dev")
    assert.deepStrictEqual(Object.keys(json), [
      "object",
      "id",
      "name",
      "status",
      "created_at",
      "verified_at",
      "last_checked_at",
      "next_check_at",
      "zone",
      "open_tracking",
      "click_tracking",
      "tracking_domain",
      "receiving",
      "records",
    ])
    const [dkim] = json.records
    assert.deepStrictEqual(
      { ...dkim, value: dkim.value.slice(0, 16) },
      {
        purpose: "dkim",
        type: "TXT",
        host: "wb1._domainkey",
        // The zone is known once DNS was asked.
        zone_host: null,
        name: "wb1._domainkey.xn--bcher-kva.example.dev",
        value: "v=DKIM1; k=rsa; ",
        priority: null,
        ttl: 3600,
        required: true,
        status: "not_checked",
        found: [],
        error: null,
      },
    )
    assert.deepStrictEqual(json.records.filter(({ required }: { required: boolean }) => required).length, 1)
    for (const path of [json.id, json.name, "B%C3%BCcher.example.dev"])
      assert.deepStrictEqual((yield* call("GET", `/v1/domains/${path}`)).json, json, path)
  })

  it.effect("are refused when the name is bad (400) or taken (422)", function* () {
    const { call } = yield* setUp
    for (const body of [
      {},
      { name: "" },
      { name: "acme" },
      { name: "a b.test" },
      { name: "-a.test" },
      { name: "127.0.0.1" },
      { name: 7 },
      { name: `${"a".repeat(64)}.test` },
    ])
      assert.strictEqual((yield* call("POST", "/v1/domains", body)).status, 400, JSON.stringify(body))
    assert.strictEqual((yield* call("POST", "/v1/domains", { name: "acme.test" })).status, 201)
    const refused = yield* call("POST", "/v1/domains", { name: "ACME.test" })
    assert.deepStrictEqual(reasonOf(refused), [422, "domain_already_exists"])
  })

  it.effect("are added once by concurrent requests", function* () {
    const { call } = yield* setUp
    const statuses = yield* Effect.forEach(
      Array.from({ length: 6 }),
      () => call("POST", "/v1/domains", { name: "race.test" }),
      { concurrency: 6 },
    )
    assert.deepStrictEqual(statusesOf(statuses).toSorted(), [201, 422, 422, 422, 422, 422])
  })

  it.effect("are added once while another node's commit is in progress", function* () {
    const { account, call, world } = yield* setUp
    // Of two nodes one waits at the unique index of the other's commit; only the database can hold one of them there.
    const watcher = yield* otherClient((yield* Database.Fresh).url)
    const theirs = world.sql.withTransaction(
      Effect.gen(function* () {
        yield* world.sql`
            INSERT INTO domains (account_id, id, version, name, status, removed)
            VALUES (${account}, 'dom_00000000000000000000000000', 1, 'race.dev', 'pending', false)`
        // Wait until the other commit waits at the unique index for this one.
        yield* blockedBackend(watcher)
      }),
    )
    const [, { json, status }] = yield* Effect.all([theirs, call("POST", "/v1/domains", { name: "race.dev" })], {
      concurrency: 2,
    })
    assert.deepStrictEqual(reasonOf({ json, status }), [422, "domain_already_exists"])
  })

  it.effect("are limited to a thousand per account", function* () {
    const { account, call, world } = yield* setUp
    // A thousand requests would exceed the rate limit.
    yield* Effect.orDie(world.sql`
        INSERT INTO domains (account_id, id, version, name, status, removed)
        SELECT ${account}, 'dom_' || lpad(n::text, 26, '0'), 1, n || '.test', 'verified', n > 999
        FROM generate_series(1, 1005) AS n`)
    const add = (name: string) => call("POST", "/v1/domains", { name })
    assert.strictEqual((yield* add("acme.test")).status, 201)
    assert.deepStrictEqual(reasonOf(yield* add("bolt.test")), [422, "too_many_domains"])
  })

  it.effect("can be added again after removal", function* () {
    const { call } = yield* setUp
    const { id } = (yield* call("POST", "/v1/domains", { name: "acme.test" })).json
    const removed = yield* call("DELETE", "/v1/domains/acme.test")
    assert.deepStrictEqual(removed.json, { object: "domain", id, name: "acme.test", deleted: true })
    assert.strictEqual((yield* call("DELETE", "/v1/domains/acme.test")).status, 404)
    assert.strictEqual((yield* call("GET", "/v1/domains/acme.test")).json.error.reason, "domain_not_found")
    assert.strictEqual((yield* call("POST", "/v1/domains", { name: "acme.test" })).status, 201)
  })

  it.effect("rotate their key under a new selector, also by concurrent requests", function* () {
    const { account, call, world } = yield* setUp
    const { id } = (yield* call("POST", "/v1/domains", { name: "acme.dev" })).json
    const rotate = () => call("POST", `/v1/domains/${id}/dkim/rotate`)
    const done = yield* Effect.forEach([1, 2, 3], rotate, { concurrency: 3 })
    assert.deepStrictEqual(statusesOf(done), [200, 200, 200])
    const { json } = yield* call("GET", `/v1/domains/${id}`)
    assert.strictEqual(json.records[0].host, "wb4._domainkey")
    // Each public key in the log has a sealed private key of its own, which nobody is shown.
    const rows = yield* world.sql`
        SELECT count(*)::int AS events, count(DISTINCT s.ciphertext)::int AS secrets
        FROM events e JOIN secrets s ON s.account_id = e.account_id AND s.id = e.stream_id AND s.purpose = e.data -> 'dkim' ->> 'key_ref'
        WHERE e.account_id = ${account} AND e.stream_id = ${id}`
    assert.deepStrictEqual(rows[0], { events: 4, secrets: 4 })
  })

  it.effect("get one Ed25519 key and rotate it under new selectors, also by concurrent requests", function* () {
    const { account, call, world } = yield* setUp
    const { id } = (yield* call("POST", "/v1/domains", { name: "acme.dev" })).json
    const path = `/v1/domains/${id}/dkim/ed25519`
    const many = (path: string) => Effect.forEach([1, 2, 3], () => call("POST", path), { concurrency: 3 })
    assert.deepStrictEqual(reasonOf(yield* call("POST", `${path}/rotate`)), [422, "no_ed25519_key"])
    const added = yield* many(path)
    assert.strictEqual(new Set(added.map(({ text }) => text)).size, 1)
    assert.strictEqual(added[0]?.json.records[1].host, "wbe1._domainkey")
    assert.deepStrictEqual(
      (yield* many(`${path}/rotate`)).map(({ status }) => status),
      [200, 200, 200],
    )
    const hosts = Effect.map(call("GET", `/v1/domains/${id}`), ({ json }) =>
      json.records.filter(isDkim).map(({ host }: { host: string }) => host),
    )
    assert.deepStrictEqual(yield* hosts, ["wb1._domainkey", "wbe4._domainkey"])
    const removed = yield* call("DELETE", path)
    assert.deepStrictEqual([removed.status, removed.json.id], [200, id])
    assert.deepStrictEqual((yield* call("DELETE", path)).json, removed.json)
    assert.deepStrictEqual(yield* hosts, ["wb1._domainkey"])
    yield* call("POST", path)
    assert.deepStrictEqual(yield* hosts, ["wb1._domainkey", "wbe5._domainkey"])
    // Each public key in the log has a sealed private key of its own.
    const rows = yield* world.sql`
        SELECT count(*)::int AS events, count(DISTINCT s.ciphertext)::int AS secrets
        FROM events e JOIN secrets s ON s.account_id = e.account_id AND s.id = e.stream_id AND s.purpose = e.data -> 'dkim' ->> 'key_ref'
        WHERE e.account_id = ${account} AND e.stream_id = ${id} AND e.type = 'Ed25519Made'`
    assert.deepStrictEqual(rows[0], { events: 5, secrets: 5 })
    const { json } = yield* call("GET", "/v1/audit")
    assert.deepStrictEqual(
      json.data.slice(0, 3).map(({ actor, type }: { actor: { type: string }; type: string }) => [type, actor.type]),
      [
        ["domain.ed25519_made", "api_key"],
        ["domain.ed25519_removed", "api_key"],
        ["domain.ed25519_made", "api_key"],
      ],
    )
  })

  it.effect("require their scopes", function* () {
    const { keyWith, world } = yield* setUp
    const reader = yield* keyWith({ scopes: ["domains:read"] })
    const writer = yield* keyWith({ scopes: ["domains:write"] })
    const add = (key: string) => world.request("POST", "/v1/domains", { key, body: { name: "scope.test" } })
    const list = (key: string) => world.request("GET", "/v1/domains", { key })
    assert.deepStrictEqual([(yield* add(reader)).status, (yield* add(writer)).status], [403, 201])
    assert.deepStrictEqual([(yield* list(reader)).status, (yield* list(writer)).status], [200, 403])
    for (const [method, path] of [
      ["POST", "/v1/domains/scope.test/dkim/ed25519"],
      ["POST", "/v1/domains/scope.test/dkim/ed25519/rotate"],
      ["DELETE", "/v1/domains/scope.test/dkim/ed25519"],
    ] as const)
      assert.deepStrictEqual(
        [
          (yield* world.request(method, path, { key: reader })).status,
          (yield* world.request(method, path, { key: writer })).status,
        ],
        [403, 200],
        path,
      )
  })
})

layer(HttpWorld.layer({ transport: "direct", zones } as Setup), options)("domains on a real transport", (it) => {
  it.effect("with a reserved name are never verified", function* () {
    const { call } = yield* setUp
    assert.strictEqual((yield* call("POST", "/v1/domains", { name: "acme.test" })).json.status, "pending")
    assert.strictEqual((yield* call("POST", "/v1/domains/acme.test/verify")).json.status, "pending")
  })

  it.effect("are verified when DNS has the key, and show what DNS has instead", function* () {
    const { call } = yield* setUp
    const added = (yield* call("POST", "/v1/domains", { name: "acme.dev" })).json
    const before = (yield* call("POST", `/v1/domains/${added.id}/verify`)).json
    assert.deepStrictEqual(
      [before.status, before.records[0].status, before.records[0].error],
      ["pending", "missing", "NXDOMAIN"],
    )
    assert.isNotNull(before.last_checked_at)
    zones["wb1._domainkey.acme.dev"] = { TXT: ["v=DKIM1; k=rsa; p=AAAA"] }
    const unverified = (yield* call("POST", `/v1/domains/${added.id}/verify`)).json
    assert.deepStrictEqual(
      [unverified.status, unverified.records[0].status, unverified.records[0].found],
      ["pending", "mismatch", ["v=DKIM1; k=rsa; p=AAAA"]],
    )
    zones["wb1._domainkey.acme.dev"] = { TXT: [added.records[0].value] }
    const right = (yield* call("POST", `/v1/domains/${added.id}/verify`)).json
    assert.deepStrictEqual([right.status, right.records[0].status], ["verified", "verified"])
    assert.isNotNull(right.verified_at)
  })

  it.effect("are verified by their RSA key alone, and show the DNS state of the Ed25519 key", function* () {
    const { call } = yield* setUp
    const added = (yield* call("POST", "/v1/domains", { name: "two.dev" })).json
    const second = yield* call("POST", "/v1/domains/two.dev/dkim/ed25519")
    const [rsa, ed25519] = second.json.records
    assert.strictEqual(rsa.value, added.records[0].value)
    assert.deepInclude(ed25519, { host: "wbe1._domainkey", required: false, status: "not_checked" })
    assert.match(ed25519.value, /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/u)
    const look = Effect.map(call("POST", "/v1/domains/two.dev/verify"), ({ json }) => [
      json.status,
      ...json.records.filter(isDkim).map(({ host, status }: { host: string; status: string }) => `${host} ${status}`),
    ])
    zones[ed25519.name] = { TXT: [ed25519.value] }
    assert.deepStrictEqual(yield* look, ["pending", "wb1._domainkey missing", "wbe1._domainkey verified"])
    zones[rsa.name] = { TXT: [rsa.value] }
    assert.deepStrictEqual(yield* look, ["verified", "wb1._domainkey verified", "wbe1._domainkey verified"])
    const rotated = (yield* call("POST", "/v1/domains/two.dev/dkim/ed25519/rotate")).json
    const [, , next] = rotated.records
    delete zones[ed25519.name]
    assert.deepStrictEqual(yield* look, [
      "verified",
      "wb1._domainkey verified",
      "wbe1._domainkey missing",
      "wbe2._domainkey missing",
    ])
    zones[next.name] = { TXT: [next.value] }
    assert.deepStrictEqual(yield* look, ["verified", "wb1._domainkey verified", "wbe2._domainkey verified"])
    delete zones[next.name]
    assert.deepStrictEqual(yield* look, ["verified", "wb1._domainkey verified", "wbe2._domainkey missing"])
    const types = "domain.ed25519_made,domain.ed25519_activated,domain.ed25519_suspended,domain.degraded"
    const { json } = yield* call("GET", `/v1/events?types=${types}`)
    assert.deepStrictEqual(
      json.data.map(({ data, type }: { type: string; data: { selector?: string; dkim?: { selector: string } } }) => [
        type.replace("domain.ed25519_", ""),
        data.selector ?? data.dkim?.selector,
      ]),
      [
        ["made", "wbe1"],
        ["activated", "wbe1"],
        ["made", "wbe2"],
        ["suspended", "wbe1"],
        ["activated", "wbe2"],
        ["suspended", "wbe2"],
      ],
    )
  })
})
