import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import * as WarmUpPlans from "@waybill/store/sources/WarmUpPlans"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { PgClient } from "@effect/sql-pg"
import type * as SourceAddress from "@waybill/mail/source/SourceAddress"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as SourceChoices from "../../../apps/server/src/sources/SourceChoices.ts"
import { pair } from "../../mail/smtp/mxPair.ts"
import { short } from "../../mail/transport/outgoing.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { add, newId, worker } from "./sources.ts"

const ONE = "127.0.0.11"
const TWO = "127.0.0.12"
const ana = ["ana@acme.test"]

const clear = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`TRUNCATE source_pools, warm_up_plans, source_counts CASCADE`)
  yield* TestClock.setTime(0)
})

const repeat = <A, E, R>(times: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(
    Array.from({ length: times }, () => effect),
    { concurrency: 10 },
  )

/** Waits for work that the test clock does not delay. */
const untilTrue = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(nextTurn, untilTrue(holds))))
const nextTurn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

layer(Database.layerFresh)("direct delivery from source addresses", (it) => {
  it.effect("leaves the choice to the kernel without addresses, and reads nothing", function* () {
    yield* clear
    const servers = yield* pair({})
    const { send, sources } = yield* worker(servers)
    assert.isFalse(sources.isConfigured())
    yield* send(ana)
    assert.deepInclude(servers.mx1?.mails[0], { helo: "kernel.test", remote: "127.0.0.1" })
  })

  it.effect(
    "connects from the addresses of the pool with their own names, and keeps their sessions apart",
    function* () {
      yield* clear
      yield* add(ONE, { ehlo: "one.sender.test" })
      yield* add(TWO)
      const servers = yield* pair({})
      const { send } = yield* worker(servers)
      yield* repeat(40, send(ana))
      const mails = servers.mx1?.mails ?? []
      const seen = new Set(mails.map(({ helo, remote }) => `${remote} ${helo}`))
      assert.deepStrictEqual([...seen].toSorted(), [`${ONE} one.sender.test`, `${TWO} host.test`])
      // Each address has the connections of the site for itself, and reuses them.
      assert.isAtMost(servers.mx1?.connections().opened ?? 0, 10)
      const byAddress = Map.groupBy(mails, ({ remote }) => remote)
      for (const [, ofOne] of byAddress) assert.isAbove(ofOne.length, 5)
    },
  )

  it.effect("sends a retry from the address of the first attempt", function* () {
    yield* clear
    yield* add(ONE)
    yield* add(TWO)
    const servers = yield* pair({})
    const { send } = yield* worker(servers)
    const id = newId()
    yield* repeat(4, send(ana, undefined, id))
    assert.strictEqual(new Set((servers.mx1?.mails ?? []).map(({ remote }) => remote)).size, 1)
  })

  it.effect("uses the pool of the domain, or of its account, and the default pool for others", function* () {
    yield* clear
    yield* add(ONE, { pool: "bulk" })
    yield* add(TWO, { pool: "fine" })
    yield* SourcePools.assign({ account_id: "acc_1", domain_id: "", pool: "bulk" })
    yield* SourcePools.assign({ account_id: "acc_1", domain_id: "dom_2", pool: "fine" })
    const servers = yield* pair({})
    const { send } = yield* worker(servers)
    for (const [account_id, domain_id] of [
      ["acc_1", "dom_1"],
      ["acc_1", "dom_2"],
      ["acc_2", "dom_2"],
    ] as const)
      yield* send(ana, { account_id, domain_id })
    assert.deepStrictEqual(
      servers.mx1?.mails.map(({ remote }) => remote),
      [ONE, TWO, "127.0.0.1"],
    )
  })

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
    const request = { owner: undefined, provider: "google.com", site: "google.com", families, key: "k", isResting }
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

  it.effect("pauses an address that a site blocks, defers the message, and sends from another", function* () {
    yield* clear
    yield* add(ONE)
    const servers = yield* pair({
      script: ({ phase }) =>
        phase === "mail" ? "554 5.7.1 Client host [127.0.0.11] blocked using zen.spamhaus.org" : undefined,
    })
    const { send, sources } = yield* worker(servers)
    const [blocked] = yield* send(ana)
    assert.deepInclude(blocked, { status: "deferred", category: "blocked", code: 554, suppress: "never" })
    servers.mx1?.setScript(undefined)
    const [waits] = yield* send(ana)
    assert.strictEqual(
      waits?.response,
      'these servers blocked the addresses of pool "default"; the next try is at 1970-01-01 06:00 UTC',
    )
    assert.isAtLeast(waits?.retry_after_ms ?? 0, 6 * 3_600_000)
    // Another process learns of it, and a second address takes over.
    yield* add(TWO)
    const other = yield* worker(servers)
    assert.strictEqual(short((yield* other.send(ana))[0]), "delivered")
    assert.strictEqual(servers.mx1?.mails[0]?.remote, TWO)
    const now = 60_000
    assert.deepInclude((yield* SourcePauses.current(now))[0], { address: ONE, until: "1970-01-01T06:00:00.000Z" })

    // A block after the pause doubles it.
    yield* SourceAddresses.remove(TWO)
    yield* TestClock.adjust("7 hours")
    yield* sources.reload
    servers.mx1?.setScript(({ phase }) =>
      phase === "mail" ? "554 5.7.1 your IP 127.0.0.11 is blocked, listed at x" : undefined,
    )
    yield* send(ana)
    assert.deepInclude((yield* SourcePauses.current(7 * 3_600_000))[0], { until: "1970-01-01T19:00:00.000Z" })
    servers.mx1?.setScript(undefined)
    assert.strictEqual(yield* SourcePauses.resume(ONE, undefined), 1)
    yield* sources.reload
    assert.strictEqual(short((yield* send(ana))[0]), "delivered")
  })

  it.effect("does not pause other mail because one server claims to block an address", function* () {
    yield* clear
    yield* add(ONE)
    const servers = yield* pair({
      script: ({ line, phase }) =>
        phase === "rcpt" && line.includes("@evil.test") ? "550 5.7.1 your IP is banned, is blocked" : undefined,
    })
    servers.dns.set("evil.test", { MX: [[10, "mx1.evil.test"]] })
    servers.dns.set("mx1.evil.test", { A: ["127.0.0.1"] })
    const { send } = yield* worker(servers)
    const [evil] = yield* send(["x@evil.test"])
    assert.strictEqual(short(evil), "deferred blocked")
    assert.strictEqual(short((yield* send(["y@evil.test"]))[0]), "deferred source_address")
    assert.strictEqual(short((yield* send(ana))[0]), "delivered")
  })

  it.effect("waits while an operator pauses an address, and for one that another host has", function* () {
    yield* clear
    yield* add(ONE)
    yield* SourcePauses.pause(ONE, SourcePauses.EVERY_SITE, "a remark of the operator")
    const servers = yield* pair({})
    const { send, sources } = yield* worker(servers)
    const [paused] = yield* send(ana)
    assert.strictEqual(paused?.response, 'the addresses of pool "default" are paused')
    yield* SourceAddresses.remove(ONE)
    yield* add("192.0.2.1")
    yield* sources.reload
    const [nowhere] = yield* send(ana)
    assert.deepInclude(nowhere, {
      category: "source_address",
      response: 'no worker host has an address of pool "default"',
    })
    assert.deepStrictEqual((yield* SourceAddresses.list())[0]?.hosts, [{ host: "one", bindable: false }])
    // The worker of another host sends soon, so that the timeline of the message does not mention it.
    yield* SourceAddresses.recordHost("two", [{ address: "192.0.2.1", bindable: true }])
    yield* sources.reload
    const [elsewhere] = yield* send(ana)
    assert.deepInclude(elsewhere, {
      category: "cooling_down",
      response: 'no address of pool "default" is on this host',
    })
    assert.isAtMost(elsewhere?.retry_after_ms ?? 0, 20_000)
    // Found out only by the connection, because the test of the host said otherwise.
    const mistaken = yield* worker(servers, { canBind: () => Effect.succeed(true) })
    const [late] = yield* mistaken.send(ana)
    assert.deepInclude(late, { category: "cooling_down", no_attempt: true, code: null })
    assert.strictEqual(servers.mx1?.connections().opened, 0)
  })

  it.effect("chooses nothing before the first configuration was read", function* () {
    yield* clear
    yield* add(ONE)
    let tests = 0
    const canBind = () => (tests++ === 0 ? Effect.die("a fault at the start") : Effect.succeed(true))
    const starting = yield* Effect.forkScoped(SourceChoices.make({ name: "host.test", canBind }))
    yield* untilTrue(() => tests === 1)
    assert.isUndefined(starting.pollUnsafe())
    yield* TestClock.adjust("2 seconds")
    assert.isTrue((yield* Fiber.join(starting)).isConfigured())
  })

  it.effect("tells the sender's message that its pool has no address", function* () {
    yield* clear
    yield* add(ONE, { pool: "fine" })
    yield* SourcePools.assign({ account_id: "acc_1", domain_id: "dom_1", pool: "fine" })
    yield* SourceAddresses.remove(ONE)
    const servers = yield* pair({})
    const { send } = yield* worker(servers)
    assert.strictEqual((yield* send(ana))[0]?.response, 'pool "fine" has no address')
    assert.isFalse(yield* SourcePools.remove("fine"))
  })

  it.effect(
    "uses IPv6 addresses for servers with IPv6 only, and the other family where one is not reachable",
    function* () {
      yield* clear
      yield* add("::1", { ehlo: "six.sender.test" })
      const servers = yield* pair({})
      const { send, sources } = yield* worker(servers)
      assert.strictEqual(
        (yield* send(ana))[0]?.response,
        'no address of pool "default" has the IP version of the receiving servers',
      )
      yield* add(ONE)
      yield* sources.reload
      yield* repeat(5, send(ana))
      assert.deepStrictEqual(new Set(servers.mx1?.mails.map(({ remote }) => remote)), new Set([ONE]))
      // Of a server with both, IPv6 is not listened on here.
      servers.dns.set("both.test", { MX: [[10, "mx.both.test"]] })
      servers.dns.set("mx.both.test", { A: ["127.0.0.1"], AAAA: ["::1"] })
      const outcomes = yield* repeat(8, send(["x@both.test"]))
      assert.deepStrictEqual(new Set(outcomes.flat().map(short)), new Set(["delivered"]))
    },
  )
})
