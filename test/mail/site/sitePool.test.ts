import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Cooldown from "@waybill/mail/site/Cooldown"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import type { Site } from "@waybill/mail/site/SiteConnections"
import * as SitePool from "@waybill/mail/site/SitePool"
import { ConnectFailed, type SmtpConnection } from "@waybill/mail/smtp/SmtpConnection"
import * as Transport from "@waybill/mail/transport/Transport"
import { assert, describe, it } from "../../support/effectTest.ts"
import type { Action, Phase } from "../../support/mail/smtpScript.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as WallClock from "../../support/WallClock.ts"
import { outgoing, relayTo, short } from "../transport/outgoing.ts"

const site = (fields: Partial<Site> = {}): Site => ({
  key: "example.test",
  route: "mx.example.test",
  connections: 3,
  messages: 4,
  ...fields,
})

/** Connections without a socket, which are counted. */
const bench = () => {
  const counts = { opened: 0, quit: 0, destroyed: 0, open: 0, most: 0 }
  const alive = new Set<SmtpConnection>()
  const connect = Effect.sync((): SmtpConnection => {
    counts.opened++
    counts.open++
    counts.most = Math.max(counts.most, counts.open)
    const gone = (how: "quit" | "destroyed") => () => {
      if (!alive.delete(connection)) return
      counts[how]++
      counts.open--
    }
    const connection: SmtpConnection = {
      target: { host: "mx.example.test", address: "192.0.2.1", port: 25 },
      tls: null,
      certificate_sha256: undefined,
      offers: () => false,
      send: () => Effect.succeed([]),
      isUsable: () => alive.has(connection),
      quit: Effect.sync(gone("quit")),
      destroy: gone("destroyed"),
    }
    alive.add(connection)
    return connection
  })
  return { counts, connect, hangUp: () => alive.clear() }
}

describe("SitePool", () => {
  it.effect("reuses a connection up to its number of messages", function* () {
    const { connect, counts } = bench()
    const pool = yield* SitePool.make()
    const reused: Array<boolean> = []
    for (let i = 0; i < 6; i++) {
      yield* pool.use(site(), connect, (_, isReused) => Effect.sync(() => void reused.push(isReused)))
    }
    assert.deepStrictEqual(reused, [false, true, true, true, false, true])
    yield* Effect.yieldNow
    assert.deepStrictEqual([counts.opened, counts.quit], [2, 1])
  })

  it.effect("never opens more connections than the site's limit; other messages wait", function* () {
    const { connect, counts } = bench()
    const pool = yield* SitePool.make()
    const done = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, i) => i),
      (i) => pool.use(site(), connect, () => Effect.as(Effect.sleep("1 second"), i)),
      { concurrency: "unbounded" },
    ).pipe(Effect.forkChild)
    yield* TestClock.adjust("7 seconds")
    assert.strictEqual((yield* Fiber.join(done)).length, 20)
    assert.strictEqual(counts.most, 3)
  })

  it.effect("fails with busy after waiting for a free connection", function* () {
    const { connect } = bench()
    const pool = yield* SitePool.make()
    yield* Effect.forkChild(pool.use(site({ connections: 1 }), connect, () => Effect.never))
    yield* Effect.yieldNow
    const waiting = yield* Effect.forkChild(Effect.flip(pool.use(site({ connections: 1 }), connect, () => Effect.void)))
    yield* TestClock.adjust(SitePool.WAIT_MS)
    const held = yield* Fiber.join(waiting)
    assert.strictEqual(held._tag === "AtCapacity" ? held.reason : held._tag, "busy")
  })

  it.effect("reuses a connection only within its route, and closes it for another route", function* () {
    const { connect, counts } = bench()
    const pool = yield* SitePool.make()
    const one = site({ connections: 1 })
    const other = site({ connections: 1, route: "mx.other.test" })
    const use = (at: Site) => pool.use(at, connect, (_, reused) => Effect.succeed(reused))
    assert.deepStrictEqual(yield* Effect.all([use(one), use(one), use(other), use(one)]), [false, true, false, false])
    assert.deepStrictEqual([counts.most, counts.open], [1, 1])
  })

  it.effect("does not reuse a connection that was closed while idle", function* () {
    const { connect, hangUp } = bench()
    const pool = yield* SitePool.make()
    yield* pool.use(site(), connect, () => Effect.void)
    hangUp()
    assert.isFalse(yield* pool.use(site(), connect, (_, reused) => Effect.succeed(reused)))
  })

  it.effect("closes idle connections after the idle time", function* () {
    const { connect, counts } = bench()
    const pool = yield* SitePool.make()
    yield* pool.use(site(), connect, () => Effect.void)
    yield* TestClock.adjust(SitePool.IDLE_MS - 1)
    assert.strictEqual(counts.open, 1)
    yield* TestClock.adjust(SitePool.REAP_MS)
    assert.deepStrictEqual([counts.open, counts.quit], [0, 1])
  })

  it.effect("releases the slot after a failed connect, a defect and an interruption", function* () {
    const { connect, counts } = bench()
    const pool = yield* SitePool.make()
    const only = site({ connections: 1 })
    const refusal = new ConnectFailed({ host: "x", stage: "connect", kind: "refused", reply: null, detail: "no" })
    yield* Effect.exit(pool.use(only, Effect.fail(refusal), () => Effect.void))
    yield* Effect.exit(pool.use(only, connect, () => Effect.die("bug")))
    const stuck = yield* Effect.forkChild(pool.use(only, connect, () => Effect.never))
    yield* Effect.yieldNow
    yield* Fiber.interrupt(stuck)
    const opening = yield* Effect.forkChild(pool.use(only, Effect.never, () => Effect.void))
    yield* Effect.yieldNow
    yield* Fiber.interrupt(opening)
    assert.strictEqual(yield* pool.use(only, connect, () => Effect.succeed("served")), "served")
    assert.deepStrictEqual(counts, { opened: 3, quit: 0, destroyed: 2, open: 1, most: 1 })
  })

  it.effect("passes the slot of an interrupted waiting message to the next", function* () {
    const { connect } = bench()
    const pool = yield* SitePool.make()
    const only = site({ connections: 1 })
    const gate = yield* Deferred.make<void>()
    yield* Effect.forkChild(pool.use(only, connect, () => Deferred.await(gate)))
    yield* Effect.yieldNow
    const first = yield* Effect.forkChild(pool.use(only, connect, () => Effect.succeed("first")))
    const second = yield* Effect.forkChild(pool.use(only, connect, () => Effect.succeed("second")))
    yield* Effect.yieldNow
    yield* Fiber.interrupt(first)
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(second), "second")
  })

  it.effect("sends QUIT on idle connections when it closes", function* () {
    const { connect, counts } = bench()
    const scope = yield* Scope.make()
    const pool = yield* Scope.provide(SitePool.make(), scope)
    const gate = yield* Deferred.make<void>()
    const running = yield* Effect.forkChild(pool.use(site(), connect, () => Deferred.await(gate)))
    yield* Effect.yieldNow
    yield* pool.use(site(), connect, () => Effect.void)
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual([counts.quit, counts.open], [1, 1])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(running)
    assert.deepStrictEqual([counts.quit, counts.open], [2, 0])
  })
})

describe("a site that asks for a pause", () => {
  it.effect("gets no mail, waiting messages included, and half the connections afterwards", function* () {
    const { connect, counts } = bench()
    const pool = yield* SitePool.make()
    const at = site({ connections: 4 })
    const gate = yield* Deferred.make<void>()
    const running = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: 4 }, () => pool.use(at, connect, () => Deferred.await(gate))),
        { concurrency: "unbounded" },
      ),
    )
    yield* Effect.yieldNow
    const waiting = yield* Effect.forkChild(Effect.flip(pool.use(at, connect, () => Effect.void)))
    yield* Effect.yieldNow
    assert.strictEqual(yield* pool.throttled(at), 60_000)
    const held = yield* Fiber.join(waiting)
    assert.deepStrictEqual(held._tag === "AtCapacity" ? [held.reason, held.retry_after_ms] : held._tag, [
      "cooling_down",
      60_000,
    ])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(running)
    yield* Effect.yieldNow
    assert.strictEqual(counts.open, 0)
    yield* TestClock.adjust("59 seconds")
    assert.strictEqual((yield* Effect.flip(pool.use(at, connect, () => Effect.void)))._tag, "AtCapacity")
    yield* TestClock.adjust("1 second")
    yield* pool.use(at, connect, () => Effect.void)
    assert.strictEqual((yield* pool.stats)[0]?.limit, 2)
  })

  it.effect("is paused by a steady clock, whatever the system clock does", function* () {
    const { connect } = bench()
    const pool = yield* SitePool.make()
    const at = site()
    const use = pool.use(at, connect, () => Effect.void)
    yield* pool.throttled(at)
    yield* TestClock.adjust("59 seconds")
    for (const minutes of [7, -7]) {
      const held = yield* Effect.flip(WallClock.withWallClockShifted(minutes * 60_000)(use))
      assert.strictEqual(held._tag === "AtCapacity" && held.retry_after_ms, 1_000)
    }
    yield* TestClock.adjust("1 second")
    yield* WallClock.withWallClockShifted(-7 * 60_000)(use)
  })

  it.effect(
    "doubles the pause with each complaint, up to half an hour; complaints during a pause count once",
    function* () {
      const pool = yield* SitePool.make()
      const at = site({ connections: 5 })
      const pauses: Array<number> = []
      for (let i = 0; i < 7; i++) {
        const pause = yield* pool.throttled(at)
        assert.strictEqual(yield* pool.throttled(at), pause)
        pauses.push(pause / 60_000)
        yield* TestClock.adjust(pause)
      }
      assert.deepStrictEqual(pauses, [1, 2, 4, 8, 16, 30, 30])
      assert.strictEqual((yield* pool.stats)[0]?.limit, 1)
    },
  )

  it.effect("regains connections as it accepts mail", function* () {
    const pool = yield* SitePool.make()
    const at = site({ connections: 4 })
    yield* TestClock.adjust(yield* pool.throttled(at))
    yield* TestClock.adjust(yield* pool.throttled(at))
    const limits: Array<number> = []
    for (let i = 0; i < 3; i++) {
      for (let n = 0; n < Cooldown.ACCEPTED_PER_STEP; n++) pool.accepted(at)
      limits.push((yield* pool.stats)[0]?.limit ?? 0)
    }
    assert.deepStrictEqual(limits, [2, 3, 4])
    assert.strictEqual(yield* pool.throttled(at), Cooldown.FIRST_PAUSE_MS)
  })

  const said: ReadonlyArray<readonly [Phase, Action, "pauses" | "goes on"]> = [
    ["rcpt", "450 4.7.1 ana@example.test: Recipient address rejected: try again later", "goes on"],
    ["rcpt", "451 4.7.1 temporarily rejected by this mailbox", "goes on"],
    ["rcpt", "451 4.7.1 Too many messages for this recipient, rate limit exceeded", "goes on"],
    ["dot", "451 4.7.0 server busy with this message", "goes on"],
    ["rcpt", "452 4.7.1 too many messages from your address", "pauses"],
    ["dot", "454 4.7.0 Throttling failure: Maximum sending rate exceeded.", "pauses"],
    ["mail", "451 4.7.1 Try again later", "pauses"],
    ["rcpt", "421 4.3.2 closing", "pauses"],
  ]
  for (const [phase, reply, then] of said) {
    it.effect(`that says ${reply.slice(0, 40)} at ${phase} ${then}`, function* () {
      const server = yield* SmtpServer.listen({
        script: (at) => (at.phase === phase && at.connection === 0 && at.transaction === 0 ? reply : undefined),
      })
      const [ana, ben] = yield* Transport.Transport.use((transport) =>
        Effect.forEach(["ana", "ben"], (who) => transport.deliver(outgoing(), [`${who}@example.test`])),
      ).pipe(Effect.provide(RelayTransport.layer(relayTo(server), { name: "waybill.test" })))
      assert.deepStrictEqual([ana?.[0]?.status, ana?.[0]?.no_attempt], ["deferred", then === "pauses"])
      assert.strictEqual(short(ben?.[0]), then === "pauses" ? "deferred cooling_down" : "delivered")
    })
  }

  it.effect("gets everything once in the end, and no attempt is counted", function* () {
    // The server accepts two connections and replies 421 to more.
    let open = 0
    const counted = new Set<number>()
    const server = yield* SmtpServer.listen({
      script: ({ connection, phase }) => {
        if (phase === "greeting") {
          if (open >= 2) return "421 4.7.0 too many connections from you"
          open++
          counted.add(connection)
        }
        if (phase === "quit" && counted.delete(connection)) open--
        return undefined
      },
    })
    const rounds = yield* Effect.gen(function* () {
      const transport = yield* Transport.Transport
      let left = Array.from({ length: 200 }, (_, i) => i)
      let rounds = 0
      let burnt = 0
      while (left.length > 0 && rounds < 30) {
        rounds++
        const results = yield* Effect.forEach(
          left,
          (i) => Effect.map(transport.deliver(outgoing(), [`r${i}@example.test`]), ([outcome]) => ({ i, outcome })),
          { concurrency: 20 },
        )
        const again = results.filter(({ outcome }) => outcome?.status !== "delivered")
        burnt += again.filter(({ outcome }) => outcome?.no_attempt !== true).length
        left = again.map(({ i }) => i)
        yield* TestClock.adjust(Math.max(0, ...again.map(({ outcome }) => outcome?.retry_after_ms ?? 0)))
      }
      assert.strictEqual(burnt, 0)
      return rounds
    }).pipe(Effect.provide(RelayTransport.layer(relayTo(server, { connections: 16 }), { name: "waybill.test" })))
    assert.isBelow(rounds, 12)
    assert.strictEqual(new Set(server.mails.flatMap((mail) => mail.to)).size, 200)
    assert.strictEqual(server.mails.length, 200)
  })
})

describe("over real connections", () => {
  it.effect("an idle connection that the server closed costs no attempt", function* () {
    const server = yield* SmtpServer.listen({
      // The server closes a connection before its second transaction.
      script: ({ phase, transaction }) => (phase === "mail" && transaction === 1 ? "drop" : undefined),
    })
    const outcomes = yield* Transport.Transport.use((transport) =>
      Effect.forEach([1, 2, 3], () => transport.deliver(outgoing(), ["ana@example.test"])),
    ).pipe(Effect.provide(RelayTransport.layer(relayTo(server), { name: "waybill.test" })))
    assert.deepStrictEqual(outcomes.flat().map(short), ["delivered", "delivered", "delivered"])
    assert.strictEqual(server.mails.length, 3)
  })

  it.effect("all connections are closed with the transport: idle, in use or opening", function* () {
    const server = yield* SmtpServer.listen({
      script: ({ connection, phase }) =>
        (connection === 1 && phase === "mail") || (connection === 2 && phase === "greeting") ? "hang" : undefined,
    })
    const scope = yield* Scope.make()
    const deliver = Transport.Transport.use((transport) => transport.deliver(outgoing(), ["ana@example.test"]))
    yield* Effect.gen(function* () {
      const fibers = [yield* Effect.forkIn(deliver, scope), yield* Effect.forkIn(deliver, scope)]
      fibers.push(yield* Effect.forkIn(deliver, scope))
      yield* eventually(() => server.connections().opened === 3 && server.mails.length === 1)
      for (const fiber of fibers) yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(RelayTransport.layer(relayTo(server), { name: "waybill.test" })))
    yield* eventually(() => server.connections().open === 0)
  })
})

/** Waits by the real clock, since sockets do not use the test clock; the test's timeout ends the wait. */
const eventually = (holds: () => boolean) =>
  Effect.promise(async (signal) => {
    while (!holds() && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1))
  })
