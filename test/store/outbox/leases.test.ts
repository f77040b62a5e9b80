import { EventStore } from "@waybill/store/commit/EventStore"
import * as DueRows from "@waybill/store/outbox/DueRows"
import * as Leases from "@waybill/store/outbox/Leases"
import * as Outbox from "@waybill/store/outbox/Outbox"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Effect, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

let tokens = 0
const claim = (over: Partial<Leases.ClaimQuery> = {}) =>
  Leases.claim({
    kind: "delivery",
    owner: "prc_1",
    token: `token${tokens++}`,
    limit: Leases.MAX_CLAIM,
    without: new Set(),
    after: "",
    ...over,
  })

/** Inserts rows per account, each due as many seconds ago as its index. */
const backlog = Effect.fnUntraced(function* (accounts: Readonly<Record<string, number>>) {
  const sql = yield* Sql
  yield* Effect.orDie(sql`TRUNCATE outbox`)
  for (const [account, rows] of Object.entries(accounts)) {
    yield* Effect.orDie(sql`
      INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload)
      SELECT ${account} || n, ${account}, 'delivery', ${account} || n, now() - make_interval(secs => n), true, '{}'
      FROM generate_series(1, ${rows}::int) AS n`)
  }
})

const perAccount = ({ rows }: Leases.Claimed) => {
  const counts: Record<string, number> = {}
  for (const { account_id } of rows) counts[account_id] = (counts[account_id] ?? 0) + 1
  return counts
}

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

/**
 * Many rows that are not due, and some ready rows of a few accounts. A plan that reads waiting rows costs less here than with
 * more of them, so that the planner would rather choose one.
 */
const waiting = Effect.gen(function* () {
  const sql = yield* Sql
  yield* backlog({ a: 300, b: 3 })
  yield* Effect.orDie(sql`
    INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload)
    SELECT 'w' || n, 'acc' || n % 1000, 'delivery', 'w' || n, now() + make_interval(mins => 10, secs => n), false, '{}'
    FROM generate_series(1, 100000) AS n`)
  yield* Effect.orDie(sql`ANALYZE outbox`)
})

interface Plan {
  readonly "Node Type": string
  readonly Plans?: ReadonlyArray<Plan>
  readonly "Actual Rows": number
  readonly "Rows Removed by Filter"?: number
  readonly "Actual Loops": number
}
const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

layer(Database.layerFresh, { excludeTestServices: true })("queue statistics", (it) => {
  it.effect("show due rows and rows of dead workers even if no worker is running", function* () {
    const sql = yield* Sql
    yield* Effect.orDie(sql`
        INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload, lease_token, lease_until)
        SELECT id, 'a', 'delivery', id, now() + due, ready, '{}', token, now() + lease FROM (VALUES
          ('noted', interval '-10 seconds', true, NULL, NULL::interval),
          ('overdue', interval '-500 seconds', false, NULL, NULL),
          ('left', interval '-900 seconds', true, 'token1', interval '-100 seconds'),
          ('under way', interval '-5000 seconds', true, 'token2', interval '100 seconds'),
          ('later', interval '600 seconds', false, NULL, NULL)
        ) AS row(id, due, ready, token, lease)`)
    const { queue } = yield* InstanceStats.read()
    assert.deepStrictEqual(
      queue.map(({ kind, oldest_s, rows, state }) => [kind, state, rows, Math.round(oldest_s / 100)]),
      [
        ["delivery", "leased", 1, 50],
        ["delivery", "ready", 3, 9],
        ["delivery", "scheduled", 1, 0],
      ],
    )
  })
})

const Store = Layer.provideMerge(EventStore.layer(), Database.layerFresh)

layer(Store, { excludeTestServices: true })("expired leases", (it) => {
  it.effect("stay with holders that reconnect, and are reclaimed after two searches found them", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const taken = Effect.map(
        Effect.orDie(sql<{ readonly id: string }>`SELECT id FROM outbox WHERE lease_token IS NULL ORDER BY id`),
        ids,
      )
      yield* Effect.orDie(sql`
        INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload, lease_token, lease_until, lease_owner)
        SELECT id, 'a', 'webhook', id, now(), true, '{}', 'token', now() - interval '1 minute', 'prc_1'
        FROM unnest('{left,kept,another}'::text[]) AS id`)
      const look = yield* Reclaim.makeSearch
      yield* look
      assert.deepStrictEqual(yield* taken, [])
      yield* Leases.renew([{ id: "kept", token: "token" }])
      yield* Effect.orDie(sql`UPDATE outbox SET lease_token = 'another' WHERE id = 'another'`)
      yield* look
      assert.deepStrictEqual(yield* taken, ["left"])
      // An outage resets the search.
      yield* Effect.orDie(sql`ALTER TABLE outbox RENAME TO away`)
      yield* Effect.exit(look)
      yield* Effect.orDie(sql`ALTER TABLE away RENAME TO outbox`)
      yield* look
      assert.deepStrictEqual(yield* taken, ["left"])
      yield* look
      assert.deepStrictEqual(yield* taken, ["another", "left"])
    }).pipe(Effect.orDie),
  )
})

layer(Database.layerFresh, { excludeTestServices: true })("leases", (it) => {
  it.effect("are divided equally between accounts, whatever their backlogs", function* () {
    yield* backlog({ a: 5_000, b: 30, c: 2 })
    const first = yield* claim()
    assert.deepStrictEqual([perAccount(first), first.more], [{ a: 33, b: 30, c: 2 }, "now"])
    assert.deepStrictEqual(perAccount(yield* claim()), { a: 100 })
  })

  it.effect("go to an account's oldest rows first, and each row is leased once", function* () {
    yield* backlog({ a: 30 })
    const first = yield* claim({ limit: 10 })
    assert.deepStrictEqual(
      ids(first.rows),
      Array.from({ length: 10 }, (_, n) => `a${30 - n}`),
    )
    const rest = yield* Effect.all([claim(), claim(), claim()], { concurrency: "unbounded" })
    const all = [first, ...rest].flatMap(({ rows }) => ids(rows))
    assert.deepStrictEqual([all.length, new Set(all).size], [30, 30])
    assert.deepStrictEqual((yield* claim()).more, "no")
  })

  it.effect("alternate between accounts if there are more accounts than rows in a claim", function* () {
    yield* backlog(Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`x${String(n).padStart(2, "0")}`, 4])))
    const served = new Set<string>()
    let after = ""
    for (let turn = 0; turn < 3; turn++) {
      const claimed = yield* claim({ limit: 10, after })
      after = claimed.after
      for (const { account_id } of claimed.rows) served.add(account_id)
    }
    assert.strictEqual(served.size, 25)
  })

  it.effect("leave out accounts at their limit, and report that these have more", function* () {
    yield* backlog({ a: 500, b: 3 })
    const claimed = yield* claim({ without: new Set(["a"]) })
    assert.deepStrictEqual([perAccount(claimed), claimed.more], [{ b: 3 }, "later"])
    assert.strictEqual((yield* claim({ without: new Set(["a"]) })).more, "later")
  })

  it.effect("are renewed only for their holder", function* () {
    yield* backlog({ a: 3 })
    const { rows } = yield* claim()
    const [mine, stolen, settled] = rows
    if (mine === undefined || stolen === undefined || settled === undefined) return assert.fail("three rows")
    const sql = yield* Sql
    yield* Effect.orDie(sql`UPDATE outbox SET lease_token = 'other' WHERE id = ${stolen.id}`)
    yield* Leases.settle(settled)
    yield* Effect.orDie(sql`UPDATE outbox SET lease_until = now() + interval '1 second'`)
    const kept = yield* Effect.orDie(Leases.renew(rows))
    assert.deepStrictEqual([...kept], [mine.id])
    const [row] = yield* Effect.orDie(sql<{ readonly seconds: number }>`
        SELECT extract(epoch FROM lease_until - now())::float8 AS seconds FROM outbox WHERE id = ${mine.id}`)
    assert.isAbove(row?.seconds ?? 0, 50)
  })

  it.effect("released again wake a worker, and can be claimed immediately", function* () {
    yield* backlog({ a: 2 })
    const { rows } = yield* claim()
    yield* Leases.release(rows)
    const sql = yield* Sql
    const jobs = yield* Effect.orDie(
      sql`SELECT id FROM graphile_worker.jobs WHERE task_identifier = 'drain_deliveries'`,
    )
    assert.strictEqual(jobs.length, 1)
    const again = yield* claim()
    assert.deepStrictEqual(ids(again.rows), ids(rows))
    // The former holder can no longer release the rows.
    yield* Leases.release(rows)
    assert.deepStrictEqual((yield* claim()).rows, [])
  })

  it.effect("of postponed rows end; the rows are claimed only once they are due", function* () {
    yield* backlog({ a: 1 })
    const [row] = (yield* claim()).rows
    if (row === undefined) return assert.fail("a row")
    yield* Leases.postpone(row, "2999-01-01T00:00:00.000Z")
    assert.deepStrictEqual([(yield* claim()).rows, (yield* DueRows.markReady()).rows], [[], 0])
    const sql = yield* Sql
    yield* Effect.orDie(sql`UPDATE outbox SET available_at = now(), held_until = now()`)
    assert.deepStrictEqual(yield* DueRows.markReady(), { rows: 1, next_ms: undefined })
    assert.deepStrictEqual(ids((yield* claim()).rows), [row.id])
  })

  it.effect("never block: a claim skips rows that another transaction locks", function* () {
    yield* backlog({ a: 3 })
    const sql = yield* Sql
    const other = yield* Layer.build(Database.layerOf(yield* Database.Fresh))
    const held = yield* Effect.orDie(
      sql.withTransaction(
        Effect.andThen(
          sql`SELECT id FROM outbox WHERE id = 'a3' FOR UPDATE`,
          Effect.provideContext(Effect.timeout(claim(), "5 seconds"), other),
        ),
      ),
    )
    assert.deepStrictEqual(ids(held.rows).toSorted(), ["a1", "a2"])
  })

  it.effect(
    "cost the same with 100,000 rows that are not due",
    function* () {
      yield* waiting
      const sql = yield* Sql
      const statements = {
        hop: Leases.accountsReady(sql, "delivery", "", 100),
        take: Outbox.claim(
          sql,
          { owner: "prc_1", token: "explained" },
          Leases.readyRows(sql, "delivery", ["a", "b"], 50),
        ),
        due: Outbox.arm(sql, { waiting: DueRows.due(sql) }),
      }
      for (const [name, statement] of Object.entries(statements)) {
        const [text, parameters] = statement.compile()
        const [row] = yield* Effect.orDie(
          sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
            `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
            parameters,
          ),
        )
        const all = nodes(row?.["QUERY PLAN"][0]?.Plan ?? { "Node Type": "none", "Actual Rows": 0, "Actual Loops": 0 })
        for (const node of all) {
          const seen = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"]
          assert.isBelow(seen, 500, `${name}: ${node["Node Type"]} looked at ${seen} rows`)
          assert.notInclude(["Seq Scan", "Sort"], node["Node Type"], name)
        }
      }
    },
    120_000,
  )
})
