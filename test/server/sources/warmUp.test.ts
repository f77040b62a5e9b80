import type * as SourceAddress from "@waybill/mail/source/SourceAddress"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import * as WarmUpPlans from "@waybill/store/sources/WarmUpPlans"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import * as SourceChoices from "../../../apps/server/src/sources/SourceChoices.ts"
import { pair } from "../../mail/smtp/mxPair.ts"
import { short } from "../../mail/transport/outgoing.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { add, ana, clear, ONE, repeat, TWO, worker } from "./sources.ts"

layer(Database.layerFresh)("direct delivery by a warm-up plan", (it) => {
  it.effect("keeps a plan's numbers exactly over several workers, and sends more on the next day", function* () {
    yield* clear
    const days = [{ "*": 12 }, { "*": 25 }]
    yield* add(ONE, { plan: { name: "slow", days } })
    const servers = yield* pair({})
    // Workers of one day, since the sessions of a longer life would be looked after in each second of it.
    const day = Effect.gen(function* () {
      const workers = yield* Effect.all([worker(servers), worker(servers, { host: "two" }), worker(servers)])
      const outcomes = yield* Effect.all(
        workers.map(({ send }) => repeat(12, send(ana))),
        { concurrency: "unbounded" },
      )
      return outcomes.flat(2)
    }).pipe(Effect.scoped)
    const first = yield* day
    assert.strictEqual(first.filter(({ status }) => status === "delivered").length, 12)
    assert.strictEqual(servers.mx1?.mails.length, 12)
    const waits = first.find(({ status }) => status === "deferred")
    assert.deepInclude(waits, {
      category: "source_address",
      no_attempt: true,
      response:
        'the warm-up plan of pool "default" allows no more mails to these servers today; more are sent from 1970-01-02 00:00 UTC',
    })
    assert.isAtLeast(waits?.retry_after_ms ?? 0, 86_400_000)
    assert.deepStrictEqual(yield* SourceCounts.ofDay(0), [{ address: ONE, provider: "other", claimed: 12, sent: 12 }])

    yield* TestClock.adjust("1 day")
    yield* day
    assert.strictEqual(servers.mx1?.mails.length, 12 + 25)
    // After the plan there is no limit.
    yield* TestClock.adjust("2 days")
    yield* day
    assert.strictEqual(servers.mx1?.mails.length, 12 + 25 + 36)
  })

  it.effect("follows the days of a plan in one process", function* () {
    yield* clear
    yield* add(ONE, { plan: { name: "daily", days: [{ "*": 1 }, { "*": 2 }] } })
    const { choose, reload } = yield* SourceChoices.make({ name: "host.test", every: Duration.days(10) })
    const families = new Set<SourceAddress.Family>([4])
    const isResting = () => false
    const owner = { account_id: "acc_1", domain_id: null }
    const request = { owner, provider: "google.com", site: "google.com", families, key: "k", isResting }
    const taken = Effect.map(choose({ ...request, recipients: 5, without: new Set() }), (choice) =>
      choice._tag === "Chosen" ? choice.recipients : choice._tag,
    )
    assert.deepStrictEqual([yield* taken, yield* taken], [1, "None"])
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual([yield* taken, yield* taken], [2, "None"])
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual([yield* taken, yield* taken], [5, 5])
    yield* reload
    const sent = yield* Effect.forEach([0, 1, 2], (day) => SourceCounts.ofDay(day))
    assert.deepStrictEqual(
      sent.flat().map(({ sent }) => sent),
      [1, 2, 10],
    )
  })

  it.effect("gives back what a worker claimed and did not use, and loses a block at most in a crash", function* () {
    yield* clear
    yield* add(ONE, { plan: { name: "wide", days: [{ "*": 1_000 }] } })
    const servers = yield* pair({})
    yield* Effect.scoped(Effect.flatMap(worker(servers), ({ send }) => send(ana)))
    assert.deepStrictEqual(yield* SourceCounts.ofDay(0), [{ address: ONE, provider: "other", claimed: 1, sent: 1 }])
    // A worker that never stops in order has claimed a block.
    const { send, sources } = yield* worker(servers)
    yield* send(ana)
    assert.deepInclude((yield* SourceCounts.ofDay(0))[0], { claimed: 1 + 20 })
    // One that sends nothing more gives its block to others.
    yield* sources.reload
    yield* sources.reload
    assert.deepInclude((yield* SourceCounts.ofDay(0))[0], { claimed: 2, sent: 2 })
  })

  it.effect("overflows into another pool, and splits the recipients of one message", function* () {
    yield* clear
    yield* add(ONE, { pool: "new", plan: { name: "tiny", days: [{ "*": 2 }] } })
    yield* add(TWO, { pool: "old" })
    yield* SourcePools.setOverflow("new", "old")
    yield* SourcePools.assign({ account_id: "acc_1", domain_id: "", pool: "new" })
    const servers = yield* pair({})
    const { send } = yield* worker(servers)
    const outcomes = yield* send(["a@acme.test", "b@acme.test", "c@acme.test"])
    assert.deepStrictEqual(outcomes.map(short), ["delivered", "delivered", "delivered"])
    assert.deepStrictEqual(
      servers.mx1?.mails.map(({ remote, to }) => [remote, to.length]),
      [
        [ONE, 2],
        [TWO, 1],
      ],
    )
  })

  it.effect("overflows for an address of another host only when that is used up", function* () {
    yield* clear
    yield* add("192.0.2.1", { pool: "new", plan: { name: "tiny", days: [{ "*": 2 }] } })
    yield* add(TWO, { pool: "old" })
    yield* SourcePools.setOverflow("new", "old")
    yield* SourcePools.assign({ account_id: "acc_1", domain_id: "", pool: "new" })
    yield* SourceAddresses.recordHost("two", [{ address: "192.0.2.1", bindable: true }])
    const servers = yield* pair({})
    const { send, sources } = yield* worker(servers)
    assert.strictEqual((yield* send(ana))[0]?.response, 'no address of pool "new" is on this host')
    yield* SourceCounts.claim({ address: "192.0.2.1", day: 0, provider: "other" }, 5, 2)
    yield* sources.reload
    assert.strictEqual(short((yield* send(ana))[0]), "delivered")
    assert.strictEqual(servers.mx1?.mails[0]?.remote, TWO)
  })

  it.effect("counts no mail that a server defers or that never reached it", function* () {
    yield* clear
    yield* add(ONE, { plan: { name: "tiny", days: [{ "*": 1 }] } })
    const servers = yield* pair({ script: ({ phase }) => (phase === "rcpt" ? "451 4.7.1 greylisted" : undefined) })
    const { send } = yield* worker(servers)
    const [first] = yield* send(ana)
    assert.strictEqual(short(first), "deferred greylisted")
    servers.mx1?.setScript(undefined)
    const [second] = yield* send(ana)
    assert.strictEqual(short(second), "delivered")
    const [third] = yield* send(ana)
    assert.strictEqual(short(third), "deferred source_address")
  })

  it.effect("waits while the counts cannot be read, and keeps the last configuration", function* () {
    yield* clear
    const sql = yield* Sql
    yield* add(ONE, { plan: { name: "tiny", days: [{ "*": 5 }] } })
    const servers = yield* pair({})
    const { send, sources } = yield* worker(servers)
    yield* Effect.orDie(sql`ALTER TABLE source_counts RENAME TO hidden_counts`)
    const [waits] = yield* send(ana)
    assert.deepInclude(waits, { response: 'the mails of pool "default" could not be counted', no_attempt: true })
    yield* sources.reload
    assert.isTrue(sources.isConfigured())
    yield* Effect.orDie(sql`ALTER TABLE hidden_counts RENAME TO source_counts`)
    yield* sources.reload
    assert.strictEqual(short((yield* send(ana))[0]), "delivered")
    yield* sources.reload
    assert.deepInclude((yield* SourceCounts.ofDay(0))[0], { sent: 1 })
  })

  it.effect("counts what an address sent before its plan began on the same day", function* () {
    yield* clear
    yield* add(ONE)
    const servers = yield* pair({})
    const { send, sources } = yield* worker(servers)
    yield* repeat(3, send(ana))
    yield* sources.reload
    yield* WarmUpPlans.put("late", { days: [{ "*": 4 }] })
    yield* SourceAddresses.change(ONE, { warm_up: { plan: "late", from: 0 } })
    yield* sources.reload
    const outcomes = yield* repeat(3, send(ana))
    assert.strictEqual(outcomes.flat().filter(({ status }) => status === "delivered").length, 1)
  })
})
