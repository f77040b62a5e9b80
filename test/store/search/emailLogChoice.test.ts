import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { Address } from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as DueWork from "@waybill/store/outbox/DueWork"
import * as EmailFacets from "@waybill/store/readmodels/emails/EmailFacets"
import * as EmailLogChoice from "@waybill/store/search/EmailLogChoice"
import * as EmailLogFilter from "@waybill/store/search/EmailLogFilter"
import * as EmailLogPlan from "@waybill/store/search/EmailLogPlan"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as EmailLogSource from "@waybill/store/search/EmailLogSource"
import * as EmailLogWalk from "@waybill/store/search/EmailLogWalk"
import * as IdKey from "@waybill/store/postgres/IdKey"
import { Effect, Result } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { APART, FILTERS } from "../../bench/logs/filters.ts"
import { emailId, write } from "../../bench/logs/mail.ts"
import { assert, it, layer } from "../../support/effectTest.ts"
import { id, queued } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { account } from "./emailLogRows.ts"

const MESSAGES = 10_000
const NOW = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")
const LIMIT = 20

const filterOf = (name: string) => {
  const nth = MESSAGES - 1
  const query = { ...FILTERS, ...APART }[name]?.(nth, emailId(account(1), nth))
  const filter = EmailLogFilter.filterOf({ ...query, account_id: account(1), limit: LIMIT }, NOW)
  assert(filter !== undefined)
  return filter
}

/** Returns a search that has chosen its lists. */
const chosen = Effect.fnUntraced(function* (filter: EmailLogFilter.Filter) {
  const sql = yield* Sql
  const facets = yield* EmailFacets.known(sql, filter.range.account, "facets")
  const state = EmailLogPlan.begin(filter, LIMIT, { facets, codes: [], unread: [] }, false)
  const step = EmailLogPlan.next(state)
  if (step._tag !== "Compare") return state
  const samples = yield* EmailLogSource.samples(sql, step.sized, state.range, filter.order)
  return EmailLogPlan.compared(state, step, samples)
})

layer(Database.layerFresh, { excludeTestServices: true })("the lists of a search", (it) => {
  it.effect(
    "are those of an account with much mail",
    function* () {
      const sql = yield* Sql
      yield* write(sql, account(1), 0, MESSAGES)
    },
    180_000,
  )

  it.effect("are chosen by how few they have, or by how far the next ids reach", function* () {
    for (const name of ["domain and status", "recipient status and tag"]) {
      const { choice } = yield* chosen(filterOf(name))
      assert.strictEqual(choice?.source._tag, "Status", name)
      assert.isUndefined(choice?.common)
    }
  })

  it.effect("are read together if they are about as long as each other", function* () {
    const sql = yield* Sql
    const filter = filterOf("two tags that never meet")
    const state = yield* chosen(filter)
    const common = state.choice?.common ?? assert.fail("only one list is read")
    assert.strictEqual(EmailLogSource.listsOf(common.source), 2 * 2)
    // Each list has a message in two.
    assert.isAtLeast(common.examined, EmailLogChoice.SAMPLE / 2)
    const step = EmailLogPlan.next(state)
    assert(step._tag === "Walk" && step.source === common.source)
    const walk = yield* EmailLogWalk.walk(sql, filter, step.source, step.range, step.chunk, step.room)
    const { end, range } = EmailLogPlan.walked(state, walk)
    assert.deepStrictEqual([walk.rows, end, range.below], [[], undefined, common.last])
    assert.isBelow(Math.abs(nthOf(common.last) - (MESSAGES - 2 * EmailLogChoice.SAMPLE)), 3)
  })

  it.effect(
    "are the first events for parts, which have exactly the messages with them, in both directions",
    function* () {
      const isRare = (n: number) => n % 1_000 === 500
      // Of the messages that test/bench/logs/mail.ts writes.
      const toUser7 = (n: number) => n % 99 === 7 && !isRare(n)
      const reset = (n: number) => n % 5 !== 0 && n % 4 === 2 && !isRare(n)
      const cases: ReadonlyArray<readonly [Partial<EmailLogFilter.Query>, (n: number) => boolean]> = [
        [{ recipient: "USER7@" }, toUser7],
        [{ words: ["user7@example"] }, toUser7],
        [{ subject: "your password" }, reset],
        [{ words: ["user7@", "password"] }, (n) => toUser7(n) && reset(n)],
        [{ recipient: "acme.test" }, () => false],
      ]
      for (const [query, has] of cases) {
        const expected = Array.from({ length: MESSAGES }, (_, nth) => nth).filter(has)
        const whole = { ...query, account_id: account(1), limit: 60 }
        const filter = EmailLogFilter.filterOf(whole, NOW)
        assert.strictEqual(filter && EmailLogFilter.acceptedOf(filter)?._tag, "Accepted")
        const newest = yield* EmailLogQuery.list(whole)
        const oldest = yield* EmailLogQuery.list({ ...whole, before: emailId(account(1), 0) })
        const ids = (numbers: ReadonlyArray<number>) => numbers.map((nth) => emailId(account(1), nth)).toReversed()
        assert.deepStrictEqual(
          newest.data.map((each) => each["id"]),
          ids(expected.slice(-60)),
          JSON.stringify(query),
        )
        const after = expected.filter((nth) => nth > 0).slice(0, 60)
        assert.deepStrictEqual(
          oldest.data.map((each) => each["id"]),
          ids(after),
          JSON.stringify(query),
        )
        const total = yield* EmailLogQuery.count(whole)
        assert.deepStrictEqual(total, { count: Math.min(1_000, expected.length), is_exact: expected.length <= 1_000 })
      }
    },
  )

  it.effect("have no deferred deliveries for queued messages", function* () {
    const sql = yield* Sql
    const filter = filterOf("status, queued")
    const { source } = (yield* chosen(filter)).choice ?? assert.fail("no list is chosen")
    const ids = yield* sql<{ readonly id: string }>`
      SELECT id FROM (${EmailLogSource.ids(sql, source, filter.range, filter.order, MESSAGES)}) AS listed`
    assert.lengthOf(ids, 10)
  })
})

/** Number of the message with a key. */
const nthOf = (key: IdKey.IdKey): number => {
  for (let nth = 0; nth < MESSAGES; nth++) if (IdKey.of(emailId(account(1), nth)) === key) return nth
  return Number.NaN
}

it("the delivery of a deferred message says so, until the message is queued again", () => {
  const email_id = id("EmailId")
  const [ana, bob] = ["ana@example.org", "bob@example.org"] as [Address, Address]
  const accepted = Email.evolve(Email.initial, queued(email_id, { to: [{ address: ana }, { address: bob }] }))
  const payloadOf = (state: Email.State) => {
    const row = DueWork.nextWork(
      { account_id: id("AccountId"), stream_id: email_id, aggregate: Email, version: 1, state, added: [] },
      NOW,
    )
    assert(row !== undefined && row !== "none")
    return row.payload
  }
  const after = (state: Email.State, outcomes: ReadonlyArray<DeliveryOutcome.Outcome>) =>
    Result.getOrThrow(EmailReport.record(NOW, outcomes)(state)).reduce(Email.evolve, state)
  const reply = { ...DeliveryOutcome.NO_RESPONSE, attempt: 1 }
  const deferred = after(accepted, [
    { _tag: "Deferred", recipient: ana, words: { ...reply, code: 451 }, next_attempt_at: NOW },
  ])
  const delivered = after(deferred, [{ _tag: "Delivered", recipient: ana, words: reply }])
  assert.deepStrictEqual([accepted, deferred, delivered].map(payloadOf), [{}, { deferred: true }, {}])
})
