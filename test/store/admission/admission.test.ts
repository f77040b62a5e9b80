import * as Account from "@waybill/domain/account/Account"
import type * as RateLimit from "@waybill/domain/account/RateLimit"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Admission, type Request, CONCURRENT_STATEMENTS, type Verdict } from "@waybill/store/admission/Admission"
import * as AdmissionStatement from "@waybill/store/admission/AdmissionStatement"
import { EventStore } from "@waybill/store/commit/EventStore"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Sql } from "@waybill/store/postgres/Sql"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as DatabaseClock from "../../support/DatabaseClock.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as WallClock from "../../support/WallClock.ts"
import { account, key, revoke } from "./admissionKeys.ts"

/** A second node with a pool and a memory of its own. */
class OtherNode extends Context.Service<OtherNode, Admission["Service"]>()("test/OtherNode") {
  static readonly layer = Layer.unwrap(
    Effect.map(Database.Fresh, (fresh) =>
      Layer.effect(OtherNode, Admission).pipe(
        Layer.provide(Layer.fresh(Admission.layer)),
        Layer.provide(Layer.fresh(KeyUses.layer)),
        Layer.provide(Layer.fresh(Database.layerOf(fresh))),
      ),
    ),
  )
}

const World = Layer.mergeAll(Admission.layer, OtherNode.layer, EventStore.layer()).pipe(
  Layer.provideMerge(KeyUses.layer),
  Layer.provideMerge(DatabaseClock.layer),
)

const request = (tokenHash: string | null, bucket: RateLimit.Bucket = "other", address = "203.0.113.7"): Request => ({
  tokenHash,
  bucket,
  address,
})
const tally = (verdicts: ReadonlyArray<Verdict>) => {
  const counts: Record<string, number> = {}
  for (const verdict of verdicts) counts[verdict._tag] = (counts[verdict._tag] ?? 0) + 1
  return counts
}
const admit = (asked: Request) => Effect.flatMap(Admission, (admission) => admission.admit(asked))
const spell = (verdict: Verdict) => (verdict._tag === "Unauthorized" ? verdict.reason : verdict._tag)

layer(World, { excludeTestServices: true })("admission", (it) => {
  for (const [bucket, limit] of [
    ["send", 1_000],
    ["logs", 60],
    ["other", 120],
  ] as const) {
    it.effect(`admits exactly ${limit} requests of a key to "${bucket}" over two nodes at once`, function* () {
      const nodes = [yield* Admission, yield* OtherNode]
      const { hash } = yield* key(yield* account)
      const verdicts = yield* Effect.forEach(
        Array.from({ length: limit * 2 }, (_, i) => nodes[i % 2]),
        (node) => (node === undefined ? Effect.die("no node") : node.admit(request(hash, bucket))),
        { concurrency: 200 },
      )
      assert.deepStrictEqual(tally(verdicts), { Admitted: limit, RateLimited: limit })
      const remaining = verdicts.flatMap((each) => (each._tag === "Admitted" ? [each.standing.remaining] : []))
      // Each admitted request has a count of its own.
      assert.deepStrictEqual(
        remaining.sort((a, b) => a - b),
        Array.from({ length: limit }, (_, i) => i),
      )
    })
  }

  it.effect("admits exactly 120 and 1,000 over two processes", function* () {
    const { url } = yield* Database.Fresh
    const program = fileURLToPath(new URL("admissionProcess.ts", import.meta.url))
    const { hash } = yield* key(yield* account)
    const run = () =>
      promisify(execFile)(process.execPath, [program, Redacted.value(url), hash, "other:200", "send:900"])
    const outputs = yield* Effect.promise(() => Promise.all([run(), run()]))
    const counts = outputs.map(({ stdout }) => JSON.parse(stdout) as Record<string, number>)
    const sum = (name: string) => counts.reduce((total, each) => total + (each[name] ?? 0), 0)
    assert.deepStrictEqual([sum("other"), sum("send")], [120, 1_000])
  })

  it.effect("counts the three buckets of a key separately, and two keys of an account", function* () {
    const owner = yield* account
    const [one, two] = [yield* key(owner), yield* key(owner)]
    yield* Effect.forEach(Array.from({ length: 60 }), () => admit(request(one.hash, "logs")), { concurrency: 60 })
    const verdicts = yield* Effect.forEach(
      [request(one.hash, "logs"), request(one.hash, "other"), request(one.hash, "send"), request(two.hash, "logs")],
      admit,
    )
    assert.deepStrictEqual(verdicts.map(spell), ["RateLimited", "Admitted", "Admitted", "Admitted"])
  })

  it.effect("returns the key and the state of its window", function* () {
    yield* DatabaseClock.set("2026-11-21T12:00:30.250Z")
    const { account_id, hash, id } = yield* key(yield* account)
    assert.deepStrictEqual(yield* admit(request(hash)), {
      _tag: "Admitted",
      key: { id, account_id, scopes: ["email:send"], domain: null },
      standing: { limit: 120, remaining: 119, reset_s: Date.UTC(2026, 10, 21, 12, 1, 0) / 1000 },
    })
    const last = (yield* Effect.forEach(Array.from({ length: 120 }), () => admit(request(hash)))).at(-1)
    assert.deepStrictEqual(
      last?._tag === "RateLimited" && [
        last.standing.remaining,
        last.refusal.retry_after_s,
        last.refusal.limit,
        last.key?.id,
      ],
      [0, 30, 120, id],
    )
  })

  it.effect("starts a new window with the minute", function* () {
    const { hash } = yield* key(yield* account)
    yield* DatabaseClock.set("2026-11-21T12:10:00Z")
    yield* Effect.forEach(Array.from({ length: 60 }), () => admit(request(hash, "logs")), { concurrency: 60 })
    yield* DatabaseClock.set("2026-11-21T12:10:59.999Z")
    const late = yield* admit(request(hash, "logs"))
    yield* DatabaseClock.set("2026-11-21T12:11:00Z")
    const next = yield* admit(request(hash, "logs"))
    assert.deepStrictEqual(late._tag === "RateLimited" && late.refusal.retry_after_s, 1)
    assert.deepStrictEqual([next._tag, next.standing.remaining], ["Admitted", 59])
  })

  it.effect("stops counting a window known to be exhausted", function* () {
    const sql = yield* Sql
    const { hash, id } = yield* key(yield* account)
    yield* Effect.forEach(Array.from({ length: 300 }), () => admit(request(hash, "logs")), { concurrency: 1 })
    const rows = yield* sql<{ readonly count: number }>`SELECT count FROM rate_windows WHERE bucket = ${`${id}/logs`}`
    assert.deepStrictEqual(rows, [{ count: 60 }])
  })

  it.effect("applies a raised limit in a window that was exhausted", function* () {
    const store = yield* EventStore
    const owner = yield* account
    const { hash } = yield* key(owner)
    yield* Effect.forEach(Array.from({ length: 61 }), () => admit(request(hash, "logs")), { concurrency: 61 })
    const before = yield* admit(request(hash, "logs"))
    const limits = { ...Account.NONE_GRANTED, logs: 100 }
    yield* store.commit(
      Account,
      { account_id: owner, stream_id: owner },
      Account.changeLimits(Timestamp.fromMillis(0), limits),
    )
    const after = yield* admit(request(hash, "logs"))
    assert.deepStrictEqual([before._tag, after._tag, after.standing.limit], ["RateLimited", "Admitted", 100])
  })
})

layer(World, { excludeTestServices: true })("a key", (it) => {
  // threat: revoked-access
  it.effect("is refused by the first request after its revocation, on every node, under load", function* () {
    const nodes = [yield* Admission, yield* OtherNode]
    for (let round = 0; round < 20; round++) {
      yield* DatabaseClock.set(`2026-11-21T13:${String(round).padStart(2, "0")}:00Z`)
      const created = yield* key(yield* account)
      // The load uses up the window of its address, so the others come from another one.
      const admitOn = (node: Admission["Service"]) =>
        node.admit(request(created.hash, "send", `192.0.2.${100 + round}`))
      const storming = (node: Admission["Service"]) => node.admit(request(created.hash, "send"))
      const admitted = yield* Effect.forEach(nodes, admitOn)
      const storm = yield* Effect.forkChild(
        Effect.forEach(
          nodes,
          (node) => Effect.forEach(Array.from({ length: 400 }), () => storming(node), { concurrency: 30 }),
          {
            concurrency: 2,
          },
        ),
        { startImmediately: true },
      )
      yield* revoke(created)
      const after = yield* Effect.forEach([...nodes, ...nodes], admitOn, { concurrency: 4 })
      assert.deepStrictEqual(admitted.map(spell), ["Admitted", "Admitted"])
      assert.deepStrictEqual(after.map(spell), ["revoked", "revoked", "revoked", "revoked"])
      yield* Fiber.interrupt(storm)
    }
  })

  it.effect("is refused after its revocation while earlier statements are still under way", function* () {
    const sql = yield* Sql
    const created = yield* key(yield* account)
    const admission = Effect.forkChild(admit(request(created.hash, "send", "192.0.2.99")), { startImmediately: true })
    yield* Fiber.join(yield* admission)
    const asked = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SELECT 1 FROM rate_windows WHERE bucket = ${`${created.id}/send`} FOR UPDATE`
        const before: Array<Fiber.Fiber<Verdict, StoreUnavailable>> = []
        // Only of this database: the server has others with waits of their own.
        const waits = sql<{ n: number }>`
            SELECT count(*)::int AS n FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`
        for (let statements = 1; statements <= CONCURRENT_STATEMENTS; statements++) {
          before.push(yield* admission)
          yield* Effect.repeat(waits, { until: ([row]) => (row?.n ?? 0) >= statements })
        }
        yield* revoke(created)
        return [...before, yield* admission]
      }),
    )
    const verdicts = yield* Effect.forEach(asked, (fiber) => Fiber.join(fiber))
    assert.deepStrictEqual(verdicts.map(spell), ["Admitted", "Admitted", "revoked"])
  })

  it.effect("is refused from the moment of its expiry", function* () {
    const expires_at = Timestamp.fromMillis(Date.UTC(2026, 10, 21, 14, 0, 0))
    const { hash } = yield* key(yield* account, { expires_at })
    yield* DatabaseClock.set("2026-11-21T13:59:59.999Z")
    const before = yield* admit(request(hash))
    yield* DatabaseClock.set("2026-11-21T14:00:00Z")
    assert.deepStrictEqual([spell(before), spell(yield* admit(request(hash)))], ["Admitted", "expired"])
  })

  // threat: key-limits
  it.effect("serves only the addresses it allows, IPv6 and mapped IPv4 too", function* () {
    const { hash } = yield* key(yield* account, {
      allowed_ips: ["198.51.100.7", "10.0.0.0/8", "2001:db8::/32", "::ffff:192.0.2.0/120"],
    })
    const answers = yield* Effect.forEach(
      [
        "198.51.100.7",
        "198.51.100.8",
        "10.255.0.1",
        "11.0.0.1",
        "::ffff:10.1.2.3",
        "2001:db8:5::1",
        "2001:db9::1",
        "192.0.2.200",
        "192.0.3.1",
        "fe80::1%eth0",
        "not an address",
      ],
      (address) => Effect.map(admit(request(hash, "other", address)), (verdict) => [address, spell(verdict)]),
    )
    assert.deepStrictEqual(Object.fromEntries(answers), {
      "198.51.100.7": "Admitted",
      "198.51.100.8": "address_not_allowed",
      "10.255.0.1": "Admitted",
      "11.0.0.1": "address_not_allowed",
      "::ffff:10.1.2.3": "Admitted",
      "2001:db8:5::1": "Admitted",
      "2001:db9::1": "address_not_allowed",
      "192.0.2.200": "Admitted",
      "192.0.3.1": "address_not_allowed",
      "fe80::1%eth0": "address_not_allowed",
      "not an address": "address_not_allowed",
    })
  })

  it.effect("with a damaged network refuses only its own requests", function* () {
    const sql = yield* Sql
    const [damaged, sound] = [yield* key(yield* account), yield* key(yield* account)]
    // No request or event can contain this; a row edited by hand can.
    yield* sql`UPDATE api_keys SET allowed_ips = '{10.0.0.0/99,1:::2}' WHERE hash = ${damaged.hash}`
    const verdicts = yield* Effect.forEach([request(damaged.hash), request(sound.hash)], admit, { concurrency: 2 })
    assert.deepStrictEqual(verdicts.map(spell), ["address_not_allowed", "Admitted"])
  })

  it.effect("gets its last use written in batches", function* () {
    const sql = yield* Sql
    const uses = yield* KeyUses
    const { account_id, hash, id } = yield* key(yield* account)
    const lastUse = sql<{
      readonly at: string
    }>`SELECT last_used_at::text AS at FROM api_key_uses WHERE key_id = ${id}`
    yield* DatabaseClock.set("2026-11-21T15:00:01.500Z")
    yield* admit(request(hash))
    const before = yield* lastUse
    yield* uses.flush
    uses.note(account_id, id, 0)
    yield* uses.flush
    assert.deepStrictEqual([before, yield* lastUse], [[], [{ at: "2026-11-21 15:00:01.5+00" }]])
  })
})

layer(World, { excludeTestServices: true })("a client without a valid key", (it) => {
  // threat: guessed-keys
  it.effect("is counted by its address, whatever it sends, and 401 becomes 429 at 120", function* () {
    const gone = yield* key(yield* account)
    yield* revoke(gone)
    const sent = [null, "0".repeat(64), gone.hash]
    const verdicts = yield* Effect.forEach(
      Array.from({ length: 240 }, (_, i) => sent[i % 3] ?? null),
      (hash) => admit(request(hash, "send", "192.0.2.1")),
      { concurrency: 50 },
    )
    assert.deepStrictEqual(tally(verdicts), { Unauthorized: 120, RateLimited: 120 })
    assert.deepStrictEqual([...new Set(verdicts.slice(0, 30).map(spell))], ["missing", "unknown", "revoked"])
  })

  it.effect("does not use up the limit of a valid key from the same address", function* () {
    const { hash } = yield* key(yield* account)
    yield* Effect.forEach(Array.from({ length: 130 }), () => admit(request(null, "other", "192.0.2.2")), {
      concurrency: 50,
    })
    const answers = yield* Effect.forEach([null, hash], (each) => admit(request(each, "other", "192.0.2.2")))
    assert.deepStrictEqual(answers.map(spell), ["RateLimited", "Admitted"])
  })

  it.effect("is refused without a query once its window is known to be exhausted", function* () {
    yield* DatabaseClock.set("2026-11-21T16:00:30Z")
    const admission = admit(request(null, "other", "192.0.2.4"))
    yield* Effect.forEach(Array.from({ length: 120 }), () => admission, { concurrency: 50 })
    // On the database's clock the next window has begun; on this process's clock it begins in 30 s.
    yield* DatabaseClock.set("2026-11-21T16:01:00Z")
    const verdict = yield* admission
    assert.deepStrictEqual(verdict._tag === "RateLimited" && verdict.standing, {
      limit: 120,
      remaining: 0,
      reset_s: Date.UTC(2026, 10, 21, 16, 1, 0) / 1000,
    })
  })

  it.effect("is admitted after its window has ended, also when the process's wall clock was set back", function* () {
    yield* DatabaseClock.set("2026-11-21T17:00:30Z")
    const admission = admit(request(null, "other", "192.0.2.5"))
    yield* Effect.forEach(Array.from({ length: 120 }), () => admission, { concurrency: 50 })
    yield* DatabaseClock.set("2026-11-21T17:01:01Z")
    assert.strictEqual(spell(yield* WallClock.withWallClockShifted(-600_000, 31_000)(admission)), "missing")
  })

  it.effect("is one client for its IPv6 /64 and for both forms of an IPv4 address", function* () {
    const remaining = yield* Effect.forEach(
      ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1", "192.0.2.3", "::ffff:192.0.2.3"],
      (address) => Effect.map(admit(request(null, "other", address)), ({ standing }) => standing.remaining),
    )
    assert.deepStrictEqual(remaining, [119, 118, 119, 119, 118])
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("the admission statement", (it) => {
  it.effect("finds keys and accounts by their indexes", function* () {
    const sql = yield* Sql
    yield* sql`INSERT INTO accounts SELECT 'acc_' || n, 1, 'free', '{}' FROM generate_series(1, 20000) n`
    yield* sql`INSERT INTO api_keys SELECT 'acc_' || n, 'key_' || n, 1, encode(sha256(n::text::bytea), 'hex'),
        '{}', NULL, '{}', NULL, NULL, '{}' FROM generate_series(1, 20000) n`
    yield* sql`ANALYZE accounts, api_keys`
    const asked = Array.from({ length: 100 }, (_, n) => ({
      hash: createHash("sha256").update(String(n)).digest("hex"),
      bucket: "send" as const,
      address: "127.0.0.1",
      anonymousWindow: "ip/127.0.0.1",
      requests: 1,
      exhaustedKey: undefined,
      exhaustedAnonymous: undefined,
    }))
    const plan = yield* sql<{ readonly "QUERY PLAN": string }>`EXPLAIN ${AdmissionStatement.statement(sql, asked)}`
    const text = plan.map((row) => row["QUERY PLAN"]).join("\n")
    assert.match(text, /Index Scan using api_keys_by_hash/)
    assert.match(text, /Index Scan using accounts_pkey/)
    assert.notMatch(text, /Seq Scan on (api_keys|accounts|rate_windows)/)
  })
})
