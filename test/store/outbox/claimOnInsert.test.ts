import { PgClient } from "@effect/sql-pg"
import { Cells } from "@waybill/store/cell/Cells"
import { CurrentCell } from "@waybill/store/cell/CurrentCell"
import * as ClaimOnInsert from "@waybill/store/deliveries/ClaimOnInsert"
import * as Leases from "@waybill/store/outbox/Leases"
import * as PendingDeliveries from "@waybill/store/deliveries/PendingDeliveries"
import { Duration, Effect, Exit, Layer, Scope } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import * as World from "../../support/world/World.ts"

/** Time limit of waiting. */
const HANGS = Duration.seconds(60)

/** A process that accepts mail and delivers it. */
const both = World.layer.pipe(Layer.provideMerge(ClaimOnInsert.layer))

type Needs = Scope.Scope | Layer.Success<typeof both>

/** Each test has a new database, since rows left over would be a backlog. */
const fresh = <E>(name: string, body: Effect.Effect<void, E, Needs>) =>
  it.live(name, () => Effect.provide(Effect.scoped(body), both), 4 * Duration.toMillis(HANGS))

const worker = Effect.fnUntraced(function* (
  server: SmtpServer.SmtpServer,
  over: Parameters<typeof World.worker>[2] = {},
) {
  const { url } = yield* Database.Fresh
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Layer.buildWithScope(World.worker(url, { relay: World.relay(server) }, over), scope)
  // The first claim shows that nothing waits.
  yield* Effect.sleep("300 millis")
  return Scope.close(scope, Exit.void)
})

/** Counts from now on the rows that are inserted with a lease, those that are claimed later, and the wake-ups of workers. */
const counts = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const count = (name: string, table: string, when: string) =>
    Effect.orDie(
      Effect.all([
        sql.unsafe(`CREATE SEQUENCE ${name}`),
        sql.unsafe(`CREATE FUNCTION count_${name}() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM nextval(''${name}''); RETURN NULL; END'`),
        sql.unsafe(`CREATE TRIGGER count_${name} AFTER ${when} EXECUTE FUNCTION count_${name}()`),
      ]),
    ).pipe(Effect.as(name))
  yield* count("leased", "outbox", "INSERT ON outbox FOR EACH ROW WHEN (NEW.lease_token IS NOT NULL)")
  yield* count(
    "claimed",
    "outbox",
    "UPDATE ON outbox FOR EACH ROW WHEN (OLD.lease_token IS NULL AND NEW.lease_token IS NOT NULL)",
  )
  yield* count("woken", "jobs", "INSERT ON graphile_worker._private_jobs FOR EACH ROW")
  return Effect.orDie(
    sql<{ readonly leased: number; readonly claimed: number; readonly woken: number }>`
      SELECT (nextval('leased') - 1)::int AS leased, (nextval('claimed') - 1)::int AS claimed,
        (nextval('woken') - 1)::int AS woken`,
  ).pipe(Effect.map(([row]) => row ?? { leased: 0, claimed: 0, woken: 0 }))
})

const rows = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.orDie(sql<{ readonly id: string; readonly token: string | null }>`
    SELECT id, lease_token AS token FROM outbox WHERE kind = 'delivery'`),
)

const sendMany = (from: World.SendingDomain, many: number) =>
  Effect.forEach(Array.from({ length: many }), () => World.send(from), { concurrency: "unbounded" })

const deliveredOnce = Effect.fnUntraced(function* (
  refs: ReadonlyArray<World.MessageRef>,
  { counts }: SmtpServer.SmtpServer,
) {
  for (const ref of refs) {
    yield* World.settled(ref, HANGS)
    assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
  }
  assert.strictEqual(counts.size, refs.length)
  assert.isTrue([...counts.values()].every((count) => count === 1))
})

/** A pipeline that claims all deliveries and does not work on them. Returns those whose transaction is committed. */
const claimAll = Effect.fnUntraced(function* (token: string) {
  const claimed = new Map<string, PendingDeliveries.AcceptedMessage>()
  const claimers = yield* ClaimOnInsert.ClaimOnInsert
  yield* claimers.register(yield* CurrentCell, {
    claim: (deliveries) =>
      Effect.succeed({
        token,
        owner: "prc_dead",
        ids: new Set(deliveries.map(({ row }) => row.id)),
        end: (_, xmin) => {
          for (const { accepted, row } of deliveries) claimed.set(row.id, { ...accepted, xmin })
        },
      }),
  })
  return claimed
})

/** Keeps deliveries from reading the suppressions until it is released. */
const holdSuppressions = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const holder = yield* otherClient(url)
  yield* holder.query("BEGIN; LOCK TABLE suppressions, domains IN ACCESS EXCLUSIVE MODE")
  return { query: holder.query, release: holder.query("COMMIT") }
})

describe("mail that its own process delivers", () => {
  fresh(
    "is claimed by the commit that accepts it, without a wake-up",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      const from = yield* World.verifiedDomain()
      yield* worker(server)
      const counted = yield* counts
      const refs = yield* sendMany(from, 20)
      yield* deliveredOnce(refs, server)
      assert.deepStrictEqual(yield* counted, { leased: 20, claimed: 0, woken: 0 })
      assert.deepStrictEqual(yield* rows, [])
    }),
  )

  fresh(
    "is left to a claim if the pipeline is full, and every message is sent once",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      const from = yield* World.verifiedDomain()
      yield* worker(server, { inFlight: 4 })
      const counted = yield* counts
      const refs = yield* sendMany(from, 60)
      yield* deliveredOnce(refs, server)
      const { claimed, leased, woken } = yield* counted
      assert.strictEqual(leased + claimed, 60)
      assert.isAtLeast(leased, 1)
      assert.isAtLeast(claimed, 30)
      assert.isAtLeast(woken, 1)
    }),
  )

  fresh(
    "is left to a claim while older mail of its account waits for one, which mail of others does not",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({ script: ({ phase }) => (phase === "rcpt" ? "hang" : undefined) })
      const [from, other] = [yield* World.verifiedDomain(), yield* World.verifiedDomain("other.test")]
      yield* worker(server, { inFlight: 4, stopWithin: "200 millis" })
      yield* sendMany(from, 10)
      // An account holds no more than it leaves free.
      yield* World.until(rows, (all) => all.length === 10 && all.filter(({ token }) => token !== null).length === 2)
      // Lets the pipeline find out whose mail waits.
      yield* Effect.sleep("300 millis")
      const counted = yield* counts
      yield* World.send(from)
      assert.strictEqual((yield* counted).leased, 0)
      yield* World.send(other)
      assert.strictEqual((yield* counted).leased, 2)
    }),
  )

  fresh(
    "is left where it is if its account is about to move to another cell",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      const [leaving, other] = [yield* World.verifiedDomain(), yield* World.verifiedDomain("other.test")]
      const cells = yield* Cells
      const moving = { ...cells, notToStart: () => Effect.succeed(new Set<string>([leaving.account_id])) }
      yield* Effect.provideService(worker(server), Cells, moving)
      const [left, sent] = [yield* World.send(leaving), yield* World.send(other)]
      yield* World.settled(sent, HANGS)
      assert.deepStrictEqual(yield* rows, [{ id: left.stream_id, token: null }])
    }),
  )

  fresh(
    "is not sent if its recipient was suppressed or its domain removed before it began",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      const [from, removed] = [yield* World.verifiedDomain(), yield* World.verifiedDomain("removed.test")]
      yield* worker(server)
      const held = yield* holdSuppressions
      const to = { to: [{ address: "ana@example.org" }] }
      const [suppressed, without] = [yield* World.send(from, to), yield* World.send(removed)]
      assert.isTrue((yield* rows).every(({ token }) => token !== null))
      yield* held.query(
        "INSERT INTO suppressions (account_id, address, id, reason, active, record, version) VALUES ($1, $2, 'sup_1', 'complaint', true, '{}', 1)",
        [from.account_id, "ana@example.org"],
      )
      yield* held.query("UPDATE domains SET removed = true WHERE id = $1", [removed.domain_id])
      yield* held.release
      yield* World.settled(suppressed, HANGS)
      yield* World.settled(without, HANGS)
      assert.deepStrictEqual(yield* World.timeline(suppressed), ["EmailQueued", "EmailSuppressed"])
      assert.deepStrictEqual(yield* World.timeline(without), ["EmailQueued", "EmailFailed"])
      assert.strictEqual(server.mails.length, 0)
    }),
  )

  fresh(
    "is given back if the service stops before it begins",
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      const from = yield* World.verifiedDomain()
      const stop = yield* worker(server, { stopWithin: "200 millis" })
      const held = yield* holdSuppressions
      const refs = yield* sendMany(from, 5)
      assert.isTrue((yield* rows).every(({ token }) => token !== null))
      yield* stop
      yield* held.release
      assert.isTrue((yield* rows).every(({ token }) => token === null))
      yield* worker(server)
      yield* deliveredOnce(refs, server)
    }),
  )

  fresh(
    "is known as a claim would read it",
    Effect.gen(function* () {
      const from = yield* World.verifiedDomain()
      const claimed = yield* claimAll("known")
      const refs = yield* sendMany(from, 3)
      const leased = yield* Leases.heldBy("prc_dead")
      assert.lengthOf(leased, refs.length)
      // The callers are answered first.
      const isEnded = ({ size }: typeof claimed) => size === refs.length
      yield* World.until(
        Effect.sync(() => claimed),
        isEnded,
      )
      const known = yield* PendingDeliveries.loadAccepted(leased, claimed)
      assert.deepStrictEqual(known, yield* PendingDeliveries.load(leased))
    }),
  )

  fresh(
    "is delivered by another process if its own has died",
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const server = yield* SmtpServer.listen()
      const from = yield* World.verifiedDomain()
      // It dies between the commit and the first delivery.
      yield* claimAll("of the dead")
      const ref = yield* World.send(from)
      assert.deepStrictEqual(yield* rows, [{ id: ref.stream_id, token: "of the dead" }])
      yield* sql`INSERT INTO processes (id, number, worker_ids, beat_at) VALUES ('prc_dead', 999999, '{}', now() - interval '1 minute')`
      yield* worker(server)
      yield* World.settled(ref, HANGS)
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailAttemptLost", "EmailDelivered"])
    }).pipe(Effect.orDie),
  )
})

describe("mail of a commit whose outcome is unknown", () => {
  /** The process reaches the database through a proxy that loses answers. */
  const proxied = <E>(body: (proxy: Effect.Success<ReturnType<typeof faultProxy>>) => Effect.Effect<void, E, Needs>) =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const proxy = yield* faultProxy(url)
      const process = World.services(proxy.url).pipe(Layer.provideMerge(ClaimOnInsert.layer))
      yield* Effect.provide(Effect.orDie(Effect.scoped(body(proxy))), process)
    })

  for (const fault of ["before", "after"] as const) {
    fresh(
      `is neither lost nor doubled if the connection is cut ${fault} the COMMIT`,
      proxied((proxy) =>
        Effect.gen(function* () {
          const server = yield* SmtpServer.listen()
          const from = yield* World.verifiedDomain()
          yield* worker(server)
          proxy.inject(fault)
          const exits = yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.exit(World.send(from)), {
            concurrency: "unbounded",
          })
          const refs = exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : []))
          for (const ref of refs) yield* World.settled(ref, HANGS)
          yield* World.until(rows, (left) => left.length === 0, HANGS)
          for (const ref of refs) assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
          assert.strictEqual(server.counts.size, 5)
          assert.isTrue([...server.counts.values()].every((count) => count === 1))
          assert.strictEqual(proxy.struck(), 1)
        }),
      ),
    )
  }
})
