import { PgClient } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import * as Transport from "@waybill/mail/transport/Transport"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Leases from "@waybill/store/outbox/Leases"
import { Processes } from "@waybill/store/outbox/Processes"
import { Duration, Effect, Exit, Layer, Result, Scope } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { MAX_LARGE_BYTES } from "../../../apps/server/src/worker/delivery/drainDeliveries.ts"
import * as Pipeline from "../../../apps/server/src/worker/Pipeline.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

const TAKEN = { code: 250, enhancedCode: "2.0.0", text: "taken", stage: "end_of_data" } as const
/** Time limit of waiting. */
const HANGS = Duration.seconds(60)
const to = (address: string) => ({ to: [{ address }] })

const worker = Effect.fnUntraced(function* (
  server: SmtpServer.SmtpServer,
  connections = 10,
  over: Parameters<typeof World.worker>[2] = {},
) {
  const { url } = yield* Database.Fresh
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Layer.buildWithScope(World.worker(url, { relay: World.relay(server, connections) }, over), scope)
  return Scope.close(scope, Exit.void)
})

const leased = Effect.gen(function* () {
  const sql = yield* Sql
  return yield* Effect.orDie(sql<{ readonly id: string; readonly token: string }>`
    SELECT id, lease_token AS token FROM outbox WHERE lease_token IS NOT NULL`)
})

const leftOf = ({ account_id }: Pick<World.SendingDomain, "account_id">) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.map(
      Effect.orDie(sql`SELECT id FROM outbox WHERE account_id = ${account_id} AND kind = 'delivery'`),
      (rows) => rows.length,
    ),
  )

/** Each test has a new database, since rows left over would be a backlog. */
const fresh = <E>(
  name: string,
  body: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof World.layer>>,
  timeout: number = 4 * Duration.toMillis(HANGS),
) => it.live(name, () => Effect.provide(Effect.scoped(body), World.layer), timeout)

describe("a pipeline", () => {
  fresh(
    "gives back at once what it holds by a claim whose answer was lost",
    Effect.gen(function* () {
      const sql = yield* Sql
      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen()
      const ref = yield* World.send(yield* World.verifiedDomain())
      const holds = (owner: string) =>
        sql`UPDATE outbox SET lease_token = 'unheard', lease_owner = ${owner}, lease_until = now() + interval '1 h'`
      yield* holds("prc_to_come")
      yield* worker(server)
      // It registers at the server of a cell when it first works there.
      const registered = sql<{ readonly id: string }>`SELECT id FROM processes`
      const [self] = yield* World.until(registered, ({ length }) => length > 0)
      yield* holds(self?.id ?? "")
      // The worker has no session until its row can be written.
      const other = yield* otherClient(url)
      yield* other.query("BEGIN; LOCK TABLE processes")
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'waybill process'`
      yield* Effect.sleep("1500 millis")
      yield* other.query("ROLLBACK")
      yield* World.settled(ref, HANGS)
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
    }).pipe(Effect.orDie),
  )

  fresh(
    "lets no slow server keep others from their mail",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ line, phase }) => (phase === "rcpt" && /slow/u.test(line) ? "hang" : undefined),
      })
      const stop = yield* worker(server, 10, { stopWithin: "200 millis" })
      const from = yield* World.verifiedDomain()
      const slow = yield* Effect.forEach(Array.from({ length: 4 }), () => World.send(from, to("slow@example.org")))
      yield* World.until(leased, (rows) => rows.length === slow.length)
      const refs = yield* Effect.forEach(Array.from({ length: 100 }), () => World.send(from), { concurrency: 20 })
      for (const ref of refs) yield* World.settled(ref)
      assert.strictEqual((yield* leased).length, slow.length)
      yield* stop
    }),
  )

  fresh(
    "gives every account its turn, whatever another one has waiting",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({ keep_bytes: false })
      const [many, few] = [yield* World.verifiedDomain("many.test"), yield* World.verifiedDomain("few.test")]
      const backlog = yield* Effect.forEach(Array.from({ length: 1_500 }), () => World.send(many), {
        concurrency: 100,
      })
      const mine = yield* Effect.forEach(Array.from({ length: 5 }), () => World.send(few))
      const stop = yield* worker(server, 2)
      for (const ref of mine) yield* World.settled(ref)
      yield* stop
      // Mail that was accepted last is not sent last.
      const last = server.mails.findLastIndex(({ messageId }) => messageId.endsWith("@few.test"))
      assert.isBelow(last, 0.9 * backlog.length)
    }),
  )

  fresh(
    "leaves room for others when all servers of one account hang",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ line, phase }) => (phase === "rcpt" && /slow/u.test(line) ? "hang" : undefined),
      })
      const stop = yield* worker(server, 40, { inFlight: 20, stopWithin: "200 millis" })
      const [bad, good] = [yield* World.verifiedDomain("bad.test"), yield* World.verifiedDomain("good.test")]
      yield* Effect.forEach(Array.from({ length: 60 }), () => World.send(bad, to("slow@example.org")), {
        concurrency: 20,
      })
      yield* World.until(leased, (rows) => rows.length >= 10)
      const ref = yield* World.send(good)
      yield* World.settled(ref)
      assert.isAtMost((yield* leased).length, 19)
      yield* stop
    }),
  )

  fresh(
    "leaves memory for other accounts' large messages if those of one account are slow",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ line, phase }) => (phase === "rcpt" && /slow/u.test(line) ? "hang" : undefined),
      })
      const stop = yield* worker(server, 40, { stopWithin: "200 millis" })
      const [bad, good] = [yield* World.verifiedDomain("bad.test"), yield* World.verifiedDomain("good.test")]
      const large = { size_bytes: MAX_LARGE_BYTES / 4 }
      yield* Effect.forEach(Array.from({ length: 8 }), () => World.send(bad, { ...to("slow@example.org"), ...large }))
      yield* World.until(leased, (rows) => rows.length === 8)
      yield* World.settled(yield* World.send(good, large))
      assert.isAtMost(server.lines.filter((line) => /^RCPT.*slow/u.test(line)).length, 2)
      yield* stop
    }),
  )

  fresh(
    "records no outcome after its lease has passed on",
    Effect.gen(function* () {
      let arrived = () => {}
      const there = new Promise<void>((resolve) => (arrived = resolve))
      let release = () => {}
      const gate = new Promise<void>((resolve) => (release = resolve))
      const { url } = yield* Database.Fresh
      const slow = Layer.succeed(Transport.Transport, {
        kind: "capture",
        deliver: (_message, recipients) =>
          Effect.promise(() => {
            arrived()
            return gate
          }).pipe(Effect.as(recipients.map((recipient) => Transport.accepted(recipient, Transport.NO_HOP, TAKEN)))),
      })
      const scope = yield* Scope.fork(yield* Effect.scope)
      yield* Layer.buildWithScope(World.worker(url, { capture: slow }), scope)
      const ref = yield* World.send(yield* World.verifiedDomain())
      yield* Effect.promise(() => there)
      // Another process has taken this worker for dead and holds the row.
      const sql = yield* Sql
      yield* Effect.orDie(
        sql`UPDATE outbox SET lease_token = 'another', lease_owner = 'prc_other' WHERE id = ${ref.stream_id}`,
      )
      release()
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued"])
      assert.deepStrictEqual(yield* leased, [{ id: ref.stream_id, token: "another" }])
      yield* Leases.settle({ id: ref.stream_id, token: "another" })
    }),
  )

  fresh(
    "does not start rows that others may have taken, and gives them back",
    Effect.gen(function* () {
      const ref = yield* World.send(yield* World.verifiedDomain())
      const begun: Array<boolean> = []
      // Silent first; then alive with an older lease; then with a newer lease.
      const trusted = [undefined, Infinity, -Infinity]
      const processes = Layer.succeed(Processes, {
        id: "prc_doubtful",
        isVisible: () => true,
        trustedSince: () => trusted[begun.length],
        recordWorkers: () => Effect.void,
      })
      const work = (job: Pipeline.PipelineJob) =>
        Effect.suspend(() => {
          const began = job.start()
          begun.push(began)
          return began ? Leases.settle(job.row) : job.giveBack
        })
      const pipeline = Pipeline.make({ kind: "delivery", prepare: () => Effect.succeed(work) })
      const { kick } = yield* Effect.provide(pipeline, processes)
      yield* kick
      yield* World.until(
        Effect.sync(() => begun.length),
        (times) => times === 3,
      )
      assert.deepStrictEqual(begun, [false, false, true])
      yield* World.until(leftOf(ref), (rows) => rows === 0)
    }),
  )

  fresh(
    "stops in order: finishes mail on the wire and gives back other rows",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({ keep_bytes: false })
      const from = yield* World.verifiedDomain()
      const refs = yield* Effect.forEach(Array.from({ length: 600 }), () => World.send(from), { concurrency: 100 })
      const first = yield* worker(server, 3)
      yield* World.until(
        Effect.sync(() => server.mails.length),
        (mails) => mails > 50,
      )
      yield* first
      const sent = server.mails.length
      assert.isBelow(sent, 600)
      assert.deepStrictEqual(yield* leased, [])
      const second = yield* worker(server, 3)
      for (const ref of refs) yield* World.settled(ref)
      yield* second
      assert.deepStrictEqual([server.counts.size, Math.max(...server.counts.values())], [600, 1])
      for (const ref of refs.slice(0, 20))
        assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
    }),
  )

  fresh(
    "stops at once with mail that waits for a connection, and waits only for mail on the wire",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({ script: ({ phase }) => (phase === "dot" ? "hang" : undefined) })
      const from = yield* World.verifiedDomain()
      const refs = yield* Effect.forEach(Array.from({ length: 40 }), () => World.send(from), { concurrency: 20 })
      const stop = yield* worker(server, 3, { stopWithin: "1 second" })
      const onTheWire = Effect.sync(() => server.lines.filter((line) => line === "DATA").length)
      yield* World.until(onTheWire, (mails) => mails === 3)
      yield* World.until(leased, (rows) => rows.length === refs.length)
      yield* stop
      const lost = yield* Effect.filter(refs, (ref) =>
        Effect.map(World.timeline(ref), (events) => events.includes("EmailAttemptLost")),
      )
      // Three were on the wire when the time ended; the others have no event.
      assert.deepStrictEqual([lost.length, yield* onTheWire, yield* leased], [3, 3, []])
    }),
  )

  fresh(
    "finds ready rows also if the wake-up was lost",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      const ref = yield* World.send(yield* World.verifiedDomain())
      const sql = yield* Sql
      yield* Effect.orDie(sql`DELETE FROM graphile_worker._private_jobs`)
      yield* worker(server)
      yield* World.settled(ref)
      assert.strictEqual(server.mails.length, 1)
    }),
  )

  fresh(
    "records a lost attempt if it must stop before the reply",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ phase }) => (phase === "dot" ? "store-then-hang" : undefined),
      })
      const stop = yield* worker(server, 10, { stopWithin: "300 millis" })
      const ref = yield* World.send(yield* World.verifiedDomain())
      yield* World.until(
        Effect.sync(() => server.mails.length),
        (mails) => mails === 1,
      )
      yield* stop
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailAttemptLost"])
      server.setScript(undefined)
      const again = yield* worker(server)
      yield* World.settled(ref)
      yield* again
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailAttemptLost", "EmailDelivered"])
      assert.strictEqual(server.counts.get(`${ref.stream_id}@acme.test`), 2)
    }),
  )

  fresh(
    "shows deciders that an attempt is in flight",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({ script: ({ phase }) => (phase === "dot" ? "hang" : undefined) })
      const stop = yield* worker(server, 10, { stopWithin: "100 millis" })
      const ref = yield* World.send(yield* World.verifiedDomain())
      yield* World.until(leased, (rows) => rows.length === 1)
      const store = yield* EventStore
      const seen = yield* Effect.orDie(
        store.transact({
          account_id: ref.account_id,
          streams: [{ aggregate: Email, id: ref.stream_id }],
          needs: { outbox: [ref.stream_id] },
          decide: ({ facts, now }) => {
            const until = facts.outbox(ref.stream_id)?.lease_until ?? ""
            return Result.succeed({ append: [], answer: until > now })
          },
        }),
      )
      assert.isTrue(seen)
      yield* stop
    }),
  )
})
