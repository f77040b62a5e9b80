import * as SuppressionRefusal from "@waybill/domain/suppression/SuppressionRefusal"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Effect } from "effect"
import { ADDRESSES_PER_COMMIT } from "../../../apps/server/src/accept/changeSuppressions.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

interface Entry {
  readonly email: string
  readonly status: string
}

const World = HttpWorld.layer({ minuteStands: true })

layer(World, { excludeTestServices: true, timeout: "90 seconds" })("suppressions in bulk", (it) => {
  const setUp = Effect.map(signUp({ domains: ["acme.test"] }), (customer) => ({
    ...customer,
    batch: (body: object, headers?: Record<string, string>) =>
      customer.world.request("POST", "/v1/suppressions/batch", {
        key: customer.key,
        body,
        ...(headers === undefined ? {} : { headers }),
      }),
    list: (query: string) => Effect.map(customer.call("GET", `/v1/suppressions?${query}`), ({ json }) => json),
  }))
  const statuses = (json: { readonly data: ReadonlyArray<Entry> }) =>
    json.data.map(({ email, status }) => [email, status])

  // threat: filled-disk
  it.effect("are bounded by account and day, because each change is kept for ever", function* () {
    const { account, batch, call, world } = yield* setUp
    const bucket = `day/${account}/suppressions`
    yield* Effect.orDie(world.sql`
      INSERT INTO rate_windows (bucket, window_start, count)
      VALUES (${bucket}, date_trunc('day', statement_timestamp(), 'UTC'), ${SuppressionRefusal.MAX_CHANGES_PER_DAY - 2})`)
    const remove = ["ana@example.org", "bo@example.org", "cy@example.org"]
    const refused = yield* batch({ remove })
    assert.deepStrictEqual(reasonOf(refused), [429, "suppression_changes"])
    const wait_s = Number(refused.headers.get("retry-after"))
    assert.isTrue(wait_s > 0 && wait_s <= 86_400, String(wait_s))
    yield* RateWindows.sweep()
    assert.strictEqual((yield* batch({ remove: remove.slice(1) })).status, 200)
    assert.strictEqual((yield* batch({ remove: remove.slice(2) })).status, 429)
    const one = { email: "ana@example.org" }
    assert.strictEqual((yield* call("POST", "/v1/suppressions", one)).status, 429)
    assert.strictEqual((yield* call("DELETE", "/v1/suppressions/ana@example.org")).status, 429)
    assert.strictEqual((yield* call("POST", "/compat/resend/suppressions", one)).status, 429)
    // The answer of a request that was accepted before is repeated.
    const [kept, key] = [{ remove: ["dan@example.org"] }, { "Idempotency-Key": "before" }]
    yield* Effect.orDie(world.sql`UPDATE rate_windows SET count = count - 1 WHERE bucket = ${bucket}`)
    for (let repeat = 0; repeat < 2; repeat++) assert.strictEqual((yield* batch(kept, key)).status, 200)
    assert.strictEqual((yield* batch(kept)).status, 429)
    yield* Effect.orDie(
      world.sql`UPDATE rate_windows SET window_start = window_start - interval '1 day' WHERE bucket = ${bucket}`,
    )
    assert.strictEqual((yield* batch({ remove })).status, 200)
    yield* RateWindows.sweep()
    const left = yield* Effect.orDie(world.sql`SELECT 1 FROM rate_windows WHERE bucket = ${bucket}`)
    assert.lengthOf(left, 1)
  })

  it.effect("are changed in parts, because each change is a call of each webhook, and answered as one", function* () {
    const { account, batch, world } = yield* setUp
    const emails = Array.from({ length: 2 * ADDRESSES_PER_COMMIT + 1 }, (_, nth) => `${nth}@example.org`)
    const [first = ""] = emails
    const add = [...emails, "nobody", first].map((email) => ({ email }))
    const headers = { "Idempotency-Key": "parts" }
    const { json } = yield* batch({ add }, headers)
    const counts = { added: emails.length, removed: 0, unchanged: 1, rejected: 1 }
    assert.deepInclude(json, { object: "suppression_batch", ...counts })
    assert.deepStrictEqual(statuses(json), [
      ...emails.map((email) => [email, "added"]),
      ["nobody", "rejected"],
      [first, "unchanged"],
    ])
    assert.deepStrictEqual(
      json.data.map(({ index }: { readonly index: number }) => index),
      add.map((_, nth) => nth),
    )
    const rows = yield* Effect.orDie(world.sql<{ readonly changes: number }>`
      SELECT count(*)::int AS changes FROM events WHERE account_id = ${account} AND stream = 'suppression'
      GROUP BY xmin ORDER BY min(position)`)
    assert.deepStrictEqual(
      rows.map(({ changes }) => changes),
      [ADDRESSES_PER_COMMIT, ADDRESSES_PER_COMMIT, 1],
    )
    const repeated = yield* batch({ add }, headers)
    assert.strictEqual(repeated.headers.get("idempotent-replayed"), "true")
    assert.deepStrictEqual(repeated.json, json)
  })

  it.effect("are added and removed with a result for each address, and rejected one by one", function* () {
    const { batch, list } = yield* setUp
    const add = [
      { email: "Ana@example.org", reason: "hard_bounce" },
      { email: "nobody" },
      { email: "ana@EXAMPLE.org" },
      { email: "bo@example.org" },
      { email: "\u0007@example.org" },
    ]
    const added = yield* batch({ add })
    assert.strictEqual(added.status, 200)
    const { added: count, rejected, removed, unchanged } = added.json
    assert.deepStrictEqual({ count, removed, unchanged, rejected }, { count: 2, removed: 0, unchanged: 1, rejected: 2 })
    assert.deepStrictEqual(statuses(added.json), [
      ["ana@example.org", "added"],
      ["nobody", "rejected"],
      ["ana@example.org", "unchanged"],
      ["bo@example.org", "added"],
      ["\u0007@example.org", "rejected"],
    ])
    assert.include(added.json.data[1].message, "it has no @")
    const { data } = yield* list("")
    assert.sameDeepMembers(
      data.map((each: { email: string; reason: string; source: string }) => [each.email, each.reason, each.source]),
      [
        ["ana@example.org", "hard_bounce", "request"],
        ["bo@example.org", "manual", "request"],
      ],
    )
    const gone = yield* batch({ remove: ["ANA@example.org", "cy@example.org", "bo@example.org"] })
    assert.deepStrictEqual(statuses(gone.json), [
      ["ana@example.org", "removed"],
      ["cy@example.org", "unchanged"],
      ["bo@example.org", "removed"],
    ])
    assert.deepStrictEqual((yield* list("")).data, [])
  })

  it.effect("repeat the answer of an idempotency key, and refuse what is not one list of 1 to 1,000", function* () {
    const { batch } = yield* setUp
    const headers = { "idempotency-key": "import-1" }
    const first = yield* batch({ add: [{ email: "ana@example.org" }] }, headers)
    const again = yield* batch({ add: [{ email: "ana@example.org" }] }, headers)
    assert.deepStrictEqual(again.json, first.json)
    assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
    const many = Array.from({ length: 1001 }, (_, nth) => `n${nth}@example.org`)
    for (const [body, path] of [
      [{}, "add"],
      [{ add: [{ email: "a@example.org" }], remove: ["b@example.org"] }, "add"],
      [{ remove: [] }, "remove"],
      [{ remove: many }, "remove"],
      [{ add: [{ email: "a@example.org", reason: "spam" }] }, "add[0].reason"],
    ] as const) {
      const refused = yield* batch(body)
      assert.strictEqual(refused.status, 400, refused.text)
      assert.strictEqual(refused.json.error.details[0].path, path)
    }
  })

  it.effect("are listed by part of the address, reason, source and date", function* () {
    const { batch, list, world, account } = yield* setUp
    yield* batch({ add: [{ email: "ana@example.org", reason: "complaint" }, { email: "bo@other.test" }] })
    const emails = (query: string) =>
      Effect.map(list(query), ({ data }) => data.map((each: { email: string }) => each.email))
    assert.deepStrictEqual(yield* emails("q=EXAMPLE"), ["ana@example.org"])
    assert.deepStrictEqual(yield* emails("reason=manual"), ["bo@other.test"])
    assert.lengthOf(yield* emails("source=request"), 2)
    assert.lengthOf(yield* emails("source=email"), 0)
    assert.lengthOf(yield* emails("created_after=2020-01-01T00:00:00Z&created_before=2999-01-01T00:00:00Z"), 2)
    assert.lengthOf(yield* emails("created_after=2999-01-01T00:00:00Z"), 0)
    assert.lengthOf(yield* emails("created_before=2020-01-01T00:00:00Z"), 0)
    const { secret } = yield* world.key(account, { domain: "acme.test" })
    const bound = yield* world.request("POST", "/v1/suppressions/batch", {
      key: secret,
      body: { remove: ["a@b.test"] },
    })
    assert.deepStrictEqual(reasonOf(bound), [403, "domain_not_allowed"])
  })

  it.effect("take thousands of addresses, many times as fast as one by one", function* () {
    const { batch, call, list } = yield* setUp
    const addresses = Array.from({ length: 3_000 }, (_, nth) => ({ email: `n${nth}@bulk.test` }))
    const start = performance.now()
    for (let at = 0; at < addresses.length; at += 1_000)
      assert.strictEqual((yield* batch({ add: addresses.slice(at, at + 1_000) })).json.added, 1_000)
    const bulk = performance.now() - start
    const singles = 40
    const before = performance.now()
    for (let nth = 0; nth < singles; nth++)
      assert.strictEqual((yield* call("POST", "/v1/suppressions", { email: `s${nth}@single.test` })).status, 201)
    const ratio = (performance.now() - before) / singles / (bulk / addresses.length)
    yield* Effect.logInfo("suppressions in bulk", { bulk_ms: Math.round(bulk), ratio: Math.round(ratio) })
    assert.isAbove(ratio, 5)
    assert.lengthOf((yield* list("limit=1000&q=bulk.test")).data, 1_000)
  })
})
