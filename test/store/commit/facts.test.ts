import * as Email from "@waybill/domain/email/Email"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import type { Commit, View } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Exit, Layer, Result } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
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
  const sql = yield* Sql
  const { transact } = yield* EventStore
  const account_id = id("AccountId")
  const domain_id = id("DomainId")
  yield* sql`INSERT INTO accounts (account_id, version, plan, record) VALUES (${account_id}, 1, 'free', '{"plan": "free"}')`
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
  const sql = yield* Sql
  const rows = yield* sql<{ readonly accepted: number }>`
    SELECT accepted::int AS accepted FROM monthly_usage WHERE account_id = ${account_id} AND month = ${MONTH}`
  return rows[0]?.accepted
})

/** The store of another process, which writes by a connection of its own. */
const otherStore = Effect.map(Layer.build(EventStore.layer()), (services) => Context.get(services, EventStore))

const isRefused = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && exit.cause.reasons.some((each) => each._tag === "Fail" && each.error instanceof Refused)

layer(EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh)), { excludeTestServices: true })(
  "the facts of a commit",
  (it) => {
    it.effect("decide it", function* () {
      const { transact } = yield* EventStore
      const { account_id } = yield* account()
      const next = sending(account_id)
      yield* transact(next.commit)
      assert.deepStrictEqual(next.seen, [FREE])
      assert.strictEqual(yield* accepted(account_id), 2)
    })

    it.effect("are those of now if an account, its domain or a suppression has changed", function* () {
      const sql = yield* Sql
      const { transact } = yield* EventStore
      const changed = Effect.fnUntraced(function* (
        change: (ids: { readonly account_id: string; readonly domain_id: string }) => Effect.Effect<unknown, unknown>,
        now: Partial<Seen>,
      ) {
        const ids = yield* account()
        yield* change(ids)
        const { commit, seen } = sending(ids.account_id)
        yield* transact(commit)
        assert.deepStrictEqual(seen, [{ ...FREE, ...now }])
        assert.strictEqual(yield* accepted(ids.account_id), 2)
      })
      yield* changed(
        ({ account_id }) =>
          sql`UPDATE accounts SET version = 2, record = '{"plan": "business"}' WHERE account_id = ${account_id}`,
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
      yield* changed(({ account_id }) => suppress(sql, account_id, true), { reason: "hard_bounce" })
    })

    it.effect("hold for an address whose suppression has ended", function* () {
      const sql = yield* Sql
      const { transact } = yield* EventStore
      const { account_id } = yield* account()
      yield* suppress(sql, account_id, false)
      const { commit, seen } = sending(account_id)
      yield* transact(commit)
      assert.deepStrictEqual(seen, [FREE])
    })

    it.effect("tell of a suppression each time", function* () {
      const sql = yield* Sql
      const { transact } = yield* EventStore
      const { account_id } = yield* account()
      yield* suppress(sql, account_id, true)
      yield* transact(sending(account_id).commit)
      for (let nth = 0; nth < 3; nth++) {
        const { commit, seen } = sending(account_id)
        yield* transact(commit)
        assert.deepStrictEqual(seen, [{ ...FREE, reason: "hard_bounce" }])
      }
    })

    it.effect("keep a quota exact, also between two processes", function* () {
      const stores = [yield* EventStore, yield* otherStore]
      const { account_id } = yield* account()
      // Both processes accept at the same time.
      yield* (stores[1] ?? assert.fail("no store")).transact(sending(account_id).commit)
      const quota = 200
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
      assert.lengthOf(seen, 1)
      assert.isTrue(isRefused(yield* Effect.exit(transact(sending(account_id, 2).commit))))
    })
  },
)

const suppress = (sql: Sql, account_id: string, active: boolean) => sql`
  INSERT INTO suppressions (account_id, address, version, id, reason, active, record)
  VALUES (${account_id}, ${ADDRESS}, 1, 'sup_1', 'hard_bounce', ${active}, '{}')`
