import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { networkInterfaces } from "node:os"
import * as SourceChoices from "../../../apps/server/src/sources/SourceChoices.ts"
import { pair } from "../../mail/smtp/mxPair.ts"
import { short } from "../../mail/transport/outgoing.ts"
import { assert, describe, layer } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import { add, ana, clear, newId, ONE, repeat, SIX, TWO, worker } from "./sources.ts"

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

  // threat: blocked-addresses
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

  // threat: blocked-addresses
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

  it.effect("sends to servers of one IP version from addresses of that version", function* () {
    yield* clear
    yield* add(SIX, { ehlo: "six.sender.test" })
    const servers = yield* pair({})
    const { send, sources } = yield* worker(servers)
    const refused = 'no address of pool "default" has the IP version of the receiving servers'
    assert.strictEqual((yield* send(ana))[0]?.response, refused)
    yield* add(ONE)
    yield* sources.reload
    yield* repeat(5, send(ana))
    assert.deepStrictEqual(new Set(servers.mx1?.mails.map(({ remote }) => remote)), new Set([ONE]))
    yield* SourceAddresses.remove(ONE)
    yield* sources.reload
    assert.strictEqual((yield* send(ana))[0]?.response, refused)
  })
})

const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === SIX))

describe.skipIf(!hasIpv6)("with IPv6", () => {
  layer(Database.layerFresh)("direct delivery from source addresses", (it) => {
    it.effect("reaches a server over IPv6, and over IPv4 where IPv6 is not answered", function* () {
      yield* clear
      yield* add(SIX, { ehlo: "six.sender.test" })
      yield* add(ONE, { ehlo: "four.sender.test" })
      const servers = yield* pair({})
      servers.dns.set("six.test", { MX: [[10, "mx.six.test"]] })
      servers.dns.set("mx.six.test", { AAAA: [SIX] })
      servers.dns.set("both.test", { MX: [[10, "mx.both.test"]] })
      servers.dns.set("mx.both.test", { A: ["127.0.0.1"], AAAA: [SIX] })
      const { send } = yield* worker(servers)
      const sendAll = Effect.map(repeat(12, send(["x@both.test"])), (outcomes) => new Set(outcomes.flat().map(short)))
      // The port is open at the IPv4 address only.
      assert.deepStrictEqual(yield* sendAll, new Set(["delivered"]))
      assert.deepStrictEqual(seenBy(servers.mx1), [`${ONE} four.sender.test`])
      const six = yield* SmtpServer.listen({ host: SIX, port: servers.port })
      for (let times = 0; times < 3; times++) assert.strictEqual(short((yield* send(["x@six.test"]))[0]), "delivered")
      assert.lengthOf(six.mails, 3)
      assert.deepStrictEqual(yield* sendAll, new Set(["delivered"]))
      assert.isAbove(six.mails.length, 3)
      assert.deepStrictEqual(seenBy(six), [`${SIX} six.sender.test`])
      assert.deepStrictEqual(seenBy(servers.mx1), [`${ONE} four.sender.test`])
    })
  })
})

const seenBy = (server: SmtpServer.SmtpServer | undefined) => [
  ...new Set(server?.mails.map(({ helo, remote }) => `${remote} ${helo}`)),
]
