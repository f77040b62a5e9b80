import { PgClient } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import type { Commit, View } from "@waybill/store/commit/Commit"
import { EventStore, makeDeps } from "@waybill/store/commit/EventStore"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import * as MemoryLogStorage from "@waybill/store/commit/MemoryLogStorage"
import type { AccountNeeds, Facts } from "@waybill/store/facts/Facts"
import { MAX_BATCHES_IN_DOUBT, RememberedFacts, USAGE_MARGIN } from "@waybill/store/facts/RememberedFacts"
import * as ReadModels from "@waybill/store/readmodels/ReadModels"
import { Context, Effect, Exit, Layer, Result } from "effect"
import { describe } from "vitest"
import { assert, it, layer } from "../../support/effectTest.ts"
import { id, queued } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { Refused, send } from "./commits.ts"

const [MONTH, DOMAIN, ADDRESS] = ["2026-11", "acme.test", "ana@example.org"]
const needs = { domains: [DOMAIN], addresses: [ADDRESS], month: MONTH }

const seenBy = (account_id: AccountId, { facts }: View) => ({
  plan: facts.account(account_id)?.plan,
  status: facts.domain(account_id, DOMAIN)?.status,
  reason: facts.suppression(account_id, ADDRESS),
})
type Seen = ReturnType<typeof seenBy>

/** A send that notes the facts by which it is decided each time, within a quota if there is one. */
const sending = (account_id: AccountId, quota = Number.POSITIVE_INFINITY) => {
  const seen: Array<Seen> = []
  const email = id("EmailId")
  const commit: Commit<EmailId, Refused> = send(account_id, {
    streams: [{ aggregate: Email, id: email, isNew: true }],
    needs,
    decide: (view) => {
      seen.push(seenBy(account_id, view))
      return view.facts.acceptedIn(account_id, MONTH) + 1 > quota
        ? Result.fail(new Refused({ why: "quota" }))
        : Result.succeed({ append: [{ aggregate: Email, id: email, events: [queued(email)] }], answer: email })
    },
  })
  return { commit, seen }
}

/** Adds an account with a verified domain, whose facts the store has read. */
const account = Effect.fnUntraced(function* () {
  const sql = yield* PgClient.PgClient
  const { transact } = yield* EventStore
  const account_id = id("AccountId")
  const domain_id = id("DomainId")
  yield* sql`INSERT INTO accounts (account_id, version, plan, record) VALUES (${account_id}, 1, 'free', '{}')`
  yield* sql`
    INSERT INTO domains (account_id, id, version, name, status, removed, record)
    VALUES (${account_id}, ${domain_id}, 1, ${DOMAIN}, 'verified', false, '{}')`
  const first = sending(account_id)
  yield* transact(first.commit)
  assert.deepStrictEqual(first.seen, [FREE])
  return { account_id, domain_id }
})
const FREE: Seen = { plan: "free", status: "verified", reason: undefined }

const accepted = Effect.fnUntraced(function* (account_id: AccountId) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly accepted: number }>`
    SELECT accepted::int AS accepted FROM monthly_usage WHERE account_id = ${account_id} AND month = ${MONTH}`
  return rows[0]?.accepted
})

/** The store of another process, which remembers other facts and writes by a connection of its own. */
const otherStore = Effect.map(Layer.build(EventStore.layer()), (services) => Context.get(services, EventStore))

const isRefused = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && exit.cause.reasons.some((each) => each._tag === "Fail" && each.error instanceof Refused)

layer(EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh)), { excludeTestServices: true })(
  "facts that the process remembers",
  (it) => {
    it.effect("decide as long as they hold", function* () {
      const { transact } = yield* EventStore
      const { account_id } = yield* account()
      const next = sending(account_id)
      yield* transact(next.commit)
      assert.deepStrictEqual(next.seen, [FREE])
      assert.strictEqual(yield* accepted(account_id), 2)
    })

    it.effect("are read again if an account, its domain or a suppression has changed", function* () {
      const sql = yield* PgClient.PgClient
      const { transact } = yield* EventStore
      const changed = Effect.fnUntraced(function* (
        change: (ids: { readonly account_id: string; readonly domain_id: string }) => Effect.Effect<unknown, unknown>,
        now: Partial<Seen>,
      ) {
        const ids = yield* account()
        yield* change(ids)
        const { commit, seen } = sending(ids.account_id)
        yield* transact(commit)
        assert.deepStrictEqual(seen, [FREE, { ...FREE, ...now }])
        assert.strictEqual(yield* accepted(ids.account_id), 2)
      })
      yield* changed(
        ({ account_id }) => sql`UPDATE accounts SET version = 2, plan = 'business' WHERE account_id = ${account_id}`,
        { plan: "business" },
      )
      yield* changed(
        ({ domain_id }) => sql`UPDATE domains SET version = 2, status = 'failed' WHERE id = ${domain_id}`,
        {
          status: "failed",
        },
      )
      yield* changed(({ domain_id }) => sql`UPDATE domains SET removed = true WHERE id = ${domain_id}`, {
        status: undefined,
      })
      yield* changed(({ account_id }) => suppress(sql, account_id, true), { reason: "bounce" })
    })

    it.effect("hold for an address whose suppression has ended", function* () {
      const sql = yield* PgClient.PgClient
      const { transact } = yield* EventStore
      const { account_id } = yield* account()
      yield* suppress(sql, account_id, false)
      const { commit, seen } = sending(account_id)
      yield* transact(commit)
      assert.deepStrictEqual(seen, [FREE])
    })

    it.effect("are not assumed of an address that was suppressed when it was read", function* () {
      const sql = yield* PgClient.PgClient
      const { transact } = yield* EventStore
      const { account_id } = yield* account()
      yield* suppress(sql, account_id, true)
      yield* transact(sending(account_id).commit)
      for (let nth = 0; nth < 3; nth++) {
        const { commit, seen } = sending(account_id)
        yield* transact(commit)
        assert.deepStrictEqual(seen, [{ ...FREE, reason: "bounce" }])
      }
    })

    it.effect("keep a quota exact, also between two processes", function* () {
      const stores = [yield* EventStore, yield* otherStore]
      const { account_id } = yield* account()
      // The second process has read the usage as well, and then neither sees what the other accepts.
      yield* (stores[1] ?? assert.fail("no store")).transact(sending(account_id).commit)
      const quota = 2 * USAGE_MARGIN
      const exits = yield* Effect.forEach(
        Array.from({ length: 2 * quota }),
        (_, nth) =>
          Effect.exit((stores[nth % 2] ?? assert.fail("no store")).transact(sending(account_id, quota).commit)),
        { concurrency: 40 },
      )
      assert.strictEqual(yield* accepted(account_id), quota)
      assert.lengthOf(exits.filter(Exit.isSuccess), quota - 2)
      assert.lengthOf(exits.filter(isRefused), quota + 2)
    })

    it.effect("refuse no send whose quota has room", function* () {
      const { transact } = yield* EventStore
      const { account_id } = yield* account()
      const { commit, seen } = sending(account_id, 2)
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(transact(commit))))
      assert.lengthOf(seen, 2)
      assert.isTrue(isRefused(yield* Effect.exit(transact(sending(account_id, 2).commit))))
    })

    it.effect("cost the other commits of a batch nothing but a second decision", function* () {
      const sql = yield* PgClient.PgClient
      const { transact } = yield* EventStore
      const [one, other] = [yield* account(), yield* account()]
      yield* suppress(sql, one.account_id, true)
      const sends = [one, other, one, other].map(({ account_id }) => sending(account_id))
      yield* Effect.forEach(sends, ({ commit }) => transact(commit), { concurrency: "unbounded" })
      for (const { seen } of sends) assert.isAtMost(seen.length, 2)
      assert.deepStrictEqual([yield* accepted(one.account_id), yield* accepted(other.account_id)], [3, 3])
    })
  },
)

const suppress = (sql: PgClient.PgClient, account_id: string, active: boolean) => sql`
  INSERT INTO suppressions (account_id, address, version, id, reason, active, record)
  VALUES (${account_id}, ${ADDRESS}, 1, 'sup_1', 'bounce', ${active}, '{}')`

describe("the memory of facts", () => {
  const account_id = id("AccountId")
  const wanted: AccountNeeds = { account_id, ...needs }
  const facts: Facts = {
    account: () => ({ version: 3, plan: "free", record: {} }),
    domain: (_, name) => ({ id: "dom_1", version: 4, name, status: "verified" }),
    suppression: (_, address) => (address === "bob@example.org" ? "bounce" : undefined),
    acceptedIn: () => 800,
    unsent: () => ({ bytes: 0, refunded: 0 }),
    outbox: () => undefined,
    countOf: () => 0,
    clock: () => undefined,
    subscriptions: () => [],
  }

  it("knows what was read, and how much may have been used since", () => {
    const memory = new RememberedFacts()
    assert.isUndefined(memory.find([wanted]))
    memory.store([wanted], facts)
    const { assumed, facts: remembered } = memory.find([wanted, wanted]) ?? assert.fail("not remembered")
    assert.deepStrictEqual(assumed, {
      subscriptions: new Map([[account_id, []]]),
      accounts: [{ account_id, version: 3 }],
      domains: [{ account_id, id: "dom_1", version: 4 }],
      addresses: [{ account_id, address: ADDRESS }],
      usage: [{ account_id, month: MONTH, atMost: 900 + USAGE_MARGIN }],
    })
    assert.strictEqual(remembered.acceptedIn(account_id, MONTH), 900 + USAGE_MARGIN)
    memory.noteUsage([{ account_id, month: MONTH, delta: 80 }])
    assert.strictEqual(memory.find([wanted])?.assumed.usage[0]?.atMost, 990 + USAGE_MARGIN)
  })

  it("does not find what is not known, suppressed, locked or counted", () => {
    const memory = new RememberedFacts()
    memory.store([{ ...wanted, addresses: ["bob@example.org"] }], facts)
    assert.isDefined(memory.find([wanted]))
    for (const other of [
      { addresses: [ADDRESS, "bob@example.org"] },
      { domains: ["other.test"] },
      { month: "2026-12" },
      { account_id: id("AccountId") },
      { outbox: ["msg_1"] },
      { clocks: ["clk_1"] },
      { clocksOf: ["msg_1"] },
      { countOf: "domain" as const },
    ])
      assert.isUndefined(memory.find([wanted, { ...wanted, ...other }]), JSON.stringify(other))
  })

  it("lets an account be read more often the more often it was wrong", () => {
    const memory = new RememberedFacts()
    memory.store([wanted], facts)
    const reads = () => {
      let count = 0
      while (memory.find([wanted]) === undefined) count++
      return count
    }
    for (const expected of [1, 2, 4, 8, 16, 32, MAX_BATCHES_IN_DOUBT, MAX_BATCHES_IN_DOUBT]) {
      memory.doubt([wanted])
      assert.strictEqual(reads(), expected)
    }
    for (let nth = 0; nth < MAX_BATCHES_IN_DOUBT; nth++) assert.strictEqual(reads(), 0)
    memory.doubt([wanted])
    assert.strictEqual(reads(), 1)
  })
})

describe("a batch of sends", () => {
  it.effect("reads facts once, and again after a refusal", () =>
    Effect.gen(function* () {
      const memory = MemoryLogStorage.make(ReadModels.readModels)
      let reads = 0
      const group = yield* GroupCommit.make({
        ...makeDeps(),
        storage: {
          ...memory,
          transaction: (scope, body, onWritten) =>
            memory.transaction(
              scope,
              (transaction) =>
                body({
                  ...transaction,
                  readFacts: (batch, now) =>
                    Effect.tap(transaction.readFacts(batch, now), () => Effect.sync(() => reads++)),
                }),
              onWritten,
            ),
        },
      })
      const account_id = id("AccountId")
      const submit = (over: Partial<Commit<EmailId, Refused>> = {}) =>
        Effect.exit(group.submit(send(account_id, { needs: { addresses: [ADDRESS] }, ...over })))
      yield* submit()
      yield* submit()
      assert.strictEqual(reads, 1)
      const refused = yield* submit({ decide: () => Result.fail(new Refused({ why: "asked for" })) })
      assert.isTrue(isRefused(refused))
      assert.strictEqual(reads, 2)
      const email = id("EmailId")
      const part = { append: [{ aggregate: Email, id: email, events: [queued(email)] }], answer: email }
      yield* submit({
        streams: [{ aggregate: Email, id: email, isNew: true }],
        decide: () => Result.succeed({ ...part, hasRefused: true }),
      })
      assert.strictEqual(reads, 3)
    }).pipe(Effect.scoped),
  )
})
