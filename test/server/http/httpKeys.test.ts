import { Cause, Effect, Exit, Option } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("API keys", (it) => {
  const setUp = signUp()

  it.effect("are shown in full once, and are valid immediately", function* () {
    const { call, key_id, world } = yield* setUp
    const { json, status } = yield* call("POST", "/v1/api-keys", {
      name: "CI",
      scopes: ["domains:read"],
      domain: "Acme.test",
      allowed_ips: ["127.0.0.0/8"],
      expires_at: "2999-01-01T00:00:00+01:00",
    })
    assert.strictEqual(status, 201)
    const { key, ...record } = json
    assert.match(key, /^wb_[0-9A-Za-z]{49}$/u)
    assert.deepStrictEqual(record, {
      object: "api_key",
      id: record.id,
      name: "CI",
      prefix: key.slice(0, 10),
      scopes: ["domains:read"],
      domain: "acme.test",
      allowed_ips: ["127.0.0.0/8"],
      status: "active",
      mode: "live",
      test_clock: null,
      created_at: record.created_at,
      created_by: key_id,
      last_used_at: null,
      expires_at: "2998-12-31T23:00:00.000Z",
      revoked_at: null,
    })
    assert.strictEqual((yield* world.request("GET", "/v1/domains", { key })).status, 200)
    const fetched = (yield* call("GET", `/v1/api-keys/${record.id}`)).json
    assert.deepStrictEqual({ ...fetched, last_used_at: null }, record)
    assert.notInclude((yield* call("GET", "/v1/api-keys")).text, key)
  })

  it.effect("are revoked immediately; revoking again succeeds", function* () {
    const { account, call, world } = yield* setUp
    const { id, secret } = yield* world.key(account)
    const first = yield* call("DELETE", `/v1/api-keys/${id}`)
    assert.deepStrictEqual(first.json, { object: "api_key", id, revoked: true, revoked_at: first.json.revoked_at })
    const refused = yield* world.request("GET", "/v1/account", { key: secret })
    assert.deepStrictEqual(reasonOf(refused), [401, "api_key_invalid"])
    assert.deepStrictEqual((yield* call("DELETE", `/v1/api-keys/${id}`)).json, first.json)
    assert.strictEqual((yield* call("GET", `/v1/api-keys/${id}`)).json.status, "revoked")
  })

  it.effect(
    "are refused to every request that starts after the answer of their revocation, on every node, under load",
    function* () {
      const { account, key: admin, world } = yield* setUp
      const { id, secret: key } = yield* world.key(account)
      const second = yield* world.another
      const calls: Array<{ readonly started: number; readonly status: number; readonly limit: string | null }> = []
      let revokedAt = Number.POSITIVE_INFINITY
      const hammer = (node: string) =>
        Effect.gen(function* () {
          while (calls.filter(({ started }) => started > revokedAt).length < 40) {
            const started = performance.now()
            const { headers, status } = yield* world.request("POST", "/v1/email/send", { key, node, body: {} })
            calls.push({ started, status, limit: headers.get("x-ratelimit-limit") })
          }
        })
      const revoke = Effect.gen(function* () {
        while (calls.length < 60) yield* Effect.sleep("2 millis")
        const { status } = yield* world.request("DELETE", `/v1/api-keys/${id}`, { key: admin })
        revokedAt = performance.now()
        assert.strictEqual(status, 200)
      })
      const nodes = [world.url, second]
      yield* Effect.all([revoke, ...[...nodes, ...nodes, ...nodes].map(hammer)], { concurrency: "unbounded" })
      const late = calls.filter(({ started }) => started > revokedAt)
      assert.isAtLeast(late.length, 40)
      // Requests without a valid key share the window of anonymous clients.
      assert.deepStrictEqual(
        late.filter(({ limit, status }) => status !== 401 && (status !== 429 || limit !== "120")),
        [],
      )
      assert.isAbove(calls.filter(({ status }) => status === 401).length, 0)
      assert.isAbove(calls.filter(({ status }) => status === 400).length, 50)
    },
  )

  it.effect("can revoke themselves, also the last administrative key", function* () {
    const { call, key_id } = yield* setUp
    assert.strictEqual((yield* call("DELETE", `/v1/api-keys/${key_id}`)).status, 200)
    assert.strictEqual((yield* call("GET", "/v1/account")).status, 401)
  })

  it.effect("are created, listed and revoked by administrative keys only", function* () {
    const { account, key_id, world } = yield* setUp
    const { secret } = yield* world.key(account, {
      scopes: ["email:send", "email:logs:read", "domains:read", "domains:write", "webhooks:manage"],
    })
    for (const [method, path, body] of [
      ["GET", "/v1/api-keys", undefined],
      ["GET", `/v1/api-keys/${key_id}`, undefined],
      ["POST", "/v1/api-keys", { name: "x", scopes: ["admin"] }],
      ["DELETE", `/v1/api-keys/${key_id}`, undefined],
    ] as const) {
      const { json, status } = yield* world.request(method, path, { key: secret, body })
      assert.deepStrictEqual([status, json.error.details[0].message], [403, "admin"], path)
    }
  })

  it.effect(
    "have scopes of their own for events, statistics and suppressions; wider keys keep what they had",
    function* () {
      const { account, world } = yield* setUp
      const endpoints = {
        "events:read": ["GET", "/v1/events", undefined, 200],
        "stats:read": ["GET", "/v1/stats", undefined, 200],
        "suppressions:read": ["GET", "/v1/suppressions", undefined, 200],
        "suppressions:write": ["POST", "/v1/suppressions", { email: "someone@rcpt.test" }, 201],
      } as const
      const narrow = Object.keys(endpoints) as Array<keyof typeof endpoints>
      const included: { readonly [scope: string]: ReadonlyArray<string> } = {
        "email:logs:read": ["stats:read", "suppressions:read"],
        admin: narrow,
      }
      for (const granted of [...narrow, "email:send", "email:logs:read", "admin"] as const) {
        const { secret: key } = yield* world.key(account, { scopes: [granted] })
        for (const needed of narrow) {
          const [method, path, body, expected] = endpoints[needed]
          const { json, status } = yield* world.request(method, path, { key, body })
          if (granted === needed || included[granted]?.includes(needed))
            assert.include([expected, 422], status, `${granted} ${path}`)
          else assert.deepStrictEqual([status, json.error.details[0].message], [403, needed], `${granted} ${path}`)
        }
      }
    },
  )

  it.effect("are refused when expired or from an address that is not allowed", function* () {
    const { account, world } = yield* setUp
    const expired = yield* world.key(account, { expires_at: "2999-01-01T00:00:00.000Z" })
    const elsewhere = yield* world.key(account, { allowed_ips: ["203.0.113.0/24"] })
    const use = (key: string) => Effect.map(world.request("GET", "/v1/account", { key }), ({ status }) => status)
    assert.strictEqual(yield* use(elsewhere.secret), 401)
    assert.strictEqual(yield* use(expired.secret), 200)
    // Expire the key without waiting.
    yield* Effect.orDie(world.sql`UPDATE api_keys SET expires_at = now() WHERE id = ${expired.id}`)
    assert.strictEqual(yield* use(expired.secret), 401)
  })

  const BAD: ReadonlyArray<readonly [what: string, body: object, status: number, path: string]> = [
    ["no name", { scopes: ["admin"] }, 400, "name"],
    ["an empty name", { name: "", scopes: ["admin"] }, 400, "name"],
    ["a name of 101 characters", { name: "x".repeat(101), scopes: ["admin"] }, 400, "name"],
    ["no scopes", { name: "x" }, 400, "scopes"],
    ["empty scopes", { name: "x", scopes: [] }, 400, "scopes"],
    ["an unknown scope", { name: "x", scopes: ["root"] }, 400, "scopes[0]"],
    ["a bad domain", { name: "x", scopes: ["admin"], domain: "acme" }, 400, "domain"],
    ["a bad network", { name: "x", scopes: ["admin"], allowed_ips: ["10.0.0.1/8"] }, 400, "allowed_ips[0]"],
    ["a bad moment", { name: "x", scopes: ["admin"], expires_at: "soon" }, 400, "expires_at"],
  ]
  it.effect("are not created from invalid input", function* () {
    const { call } = yield* setUp
    for (const [what, body, status, path] of BAD) {
      const answer = yield* call("POST", "/v1/api-keys", body)
      assert.strictEqual(answer.status, status, what)
      assert.strictEqual(answer.json.error.details[0].path, path, what)
    }
    const past = yield* call("POST", "/v1/api-keys", {
      name: "x",
      scopes: ["admin"],
      expires_at: "2020-01-01T00:00:00Z",
    })
    assert.deepStrictEqual(reasonOf(past), [422, "expires_at_out_of_range"])
    assert.strictEqual((yield* call("DELETE", "/v1/api-keys/key_00000000000000000000000000")).status, 404)
  })

  it.effect("are limited in number across nodes", function* () {
    const { account, call, key, world } = yield* setUp
    // Inserted, since so many requests would exceed the rate limit. Besides the administrative key; revoked and expired ones do not count.
    // A join of the table itself with a function is more than Citus can insert.
    yield* Effect.orDie(world.sql`
        WITH k AS MATERIALIZED (SELECT * FROM api_keys WHERE account_id = ${account})
        INSERT INTO api_keys (account_id, id, version, hash, scopes, allowed_ips, revoked_at, expires_at, record)
        SELECT ${account}, 'key_' || lpad(n::text, 26, '0'), 1, ${account} || n, '{}', '{}',
          CASE WHEN n > 510 THEN now() END, CASE WHEN n > 497 AND n <= 510 THEN now() - interval '1 hour' END, '{}'
        FROM generate_series(1, 520) AS n`)
    const second = yield* world.another
    const body = { name: "x", scopes: ["admin"] }
    const answers = yield* Effect.forEach(
      Array.from({ length: 8 }, (_, nth) => (nth % 2 === 0 ? world.url : second)),
      (node) => world.request("POST", "/v1/api-keys", { key, body, node }),
      { concurrency: "unbounded" },
    )
    const made = answers.filter(({ status }) => status === 201)
    assert.strictEqual(made.length, 2)
    const refusals = answers.filter(({ status }) => status !== 201)
    assert.deepStrictEqual([...new Set(refusals.map(({ json }) => json.error.reason))], ["too_many_api_keys"])
    yield* call("DELETE", `/v1/api-keys/${made[0]?.json.id}`)
    assert.strictEqual((yield* call("POST", "/v1/api-keys", body)).status, 201)
  })

  it.effect("list all active ones and the last thousand others", function* () {
    const { account, call, key_id, world } = yield* setUp
    // A join of the table itself with a function is more than Citus can insert.
    yield* Effect.orDie(world.sql`
        WITH k AS MATERIALIZED (SELECT * FROM api_keys WHERE account_id = ${account})
        INSERT INTO api_keys (account_id, id, version, hash, scopes, allowed_ips, revoked_at, record)
        SELECT account_id, 'key_' || lpad(n::text, 26, '0'), 1, ${account} || n, scopes, allowed_ips,
          CASE WHEN n > 1 THEN now() END,
          record || jsonb_build_object('id', 'key_' || lpad(n::text, 26, '0'), 'revoked_at', CASE WHEN n > 1 THEN record -> 'created_at' END)
        FROM k, generate_series(1, 1003) AS n`)
    const { json } = yield* call("GET", "/v1/api-keys")
    const ids = json.data.map(({ id }: { readonly id: string }) => id) as ReadonlyArray<string>
    const nth = (n: number) => `key_${String(n).padStart(26, "0")}`
    assert.deepStrictEqual(
      [ids.length, ids[0], ids[1], ids[1_000], ids[1_001]],
      [1_002, key_id, nth(1_003), nth(4), nth(1)],
    )
    assert.strictEqual((yield* call("GET", `/v1/api-keys/${nth(2)}`)).json.status, "revoked")
  })

  it.effect("are created, listed and revoked at the command line as over the API", function* () {
    const { account, call, key_id, world } = yield* setUp
    const { id, key } = yield* CommandLine.typed(
      ...`keys create --account ${account} CI --scope domains:read --scope email:send --domain Acme.test`.split(" "),
      ...`--allowed-ip 127.0.0.0/8 --expires-at 2999-01-01T00:00:00+01:00`.split(" "),
    )
    assert.strictEqual((yield* world.request("GET", "/v1/domains", { key })).status, 200)
    const { json: record } = yield* call("GET", `/v1/api-keys/${id}`)
    assert.deepStrictEqual(
      [record.name, record.scopes, record.domain, record.allowed_ips, record.expires_at, record.prefix],
      [
        "CI",
        ["email:send", "domains:read"],
        "acme.test",
        ["127.0.0.0/8"],
        "2998-12-31T23:00:00.000Z",
        key.slice(0, 10),
      ],
    )
    assert.match(record.created_by, /^cli:/u)
    const listed = (yield* CommandLine.typed("keys", "list", "--account", account)) as ReadonlyArray<
      Record<string, unknown>
    >
    assert.deepStrictEqual(
      listed.map((each) => [each["id"], each["status"]]),
      [
        [id, "active"],
        [key_id, "active"],
      ],
    )
    const test = yield* CommandLine.typed(
      "keys",
      "create",
      "--account",
      account,
      "Tests",
      "--test",
      "--scope",
      "email:send",
    )
    assert.match(test.key, /^wb_test_/u)
    assert.strictEqual((yield* call("GET", `/v1/api-keys/${test.id}`)).json.mode, "test")
    const first = yield* CommandLine.typed("keys", "revoke", "--account", account, id)
    assert.deepStrictEqual(first, { id, revoked: true, revoked_at: first.revoked_at })
    assert.deepStrictEqual(yield* CommandLine.typed("keys", "revoke", "--account", account, id), first)
    assert.strictEqual((yield* world.request("GET", "/v1/domains", { key })).status, 401)
  })

  it.effect("cannot be created for an unknown account, nor can anything else at the command line", function* () {
    const world = yield* HttpWorld
    const anonymous = "acc_00000000000000000000000000"
    for (const words of [
      ["keys", "create", "--account", anonymous, "x", "--scope", "admin"],
      ["keys", "list", "--account", anonymous],
      ["keys", "revoke", "--account", anonymous, "key_00000000000000000000000000"],
      ["domains", "list", "--account", anonymous],
      ["domains", "transport", "--account", anonymous, "acme.test", "relay"],
      ["accounts", "plan", "--account", anonymous, "free"],
      ["accounts", "limits", "--account", anonymous, "--send", "1"],
      ["accounts", "retention", "--account", anonymous],
    ]) {
      const { exit, output } = yield* CommandLine.type(...words)
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
      assert.strictEqual((error as { readonly _tag: string } | undefined)?._tag, "AccountNotFound", words.join(" "))
      assert.strictEqual(output, "", words.join(" "))
    }
    // An account that does not exist has no history that could be asked for.
    assert.deepStrictEqual(yield* world.sql`SELECT FROM events WHERE account_id = ${anonymous}`, [])
  })
})
