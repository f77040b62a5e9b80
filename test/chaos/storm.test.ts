import * as PackedSql from "@waybill/store/packed/PackedSql"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as Database from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as EmailFacets from "@waybill/store/readmodels/emails/EmailFacets"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Projections from "@waybill/store/rebuild/versions/Projections"
import { Duration, Effect, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, it } from "../support/effectTest.ts"
import * as World from "../support/world/World.ts"
import * as Inbound from "./inbound.ts"
import * as Storm from "./storm.ts"
import { alone } from "../support/postgres/Database.ts"

/** `npm run chaos -- --seed=7 --faults=100 --only=clock` sets these variables. */
const SEED = Number(process.env["WAYBILL_CHAOS_SEED"] ?? 20261121)
const COUNT = Number(process.env["WAYBILL_CHAOS_FAULTS"] ?? 4)
const ONLY = process.env["WAYBILL_CHAOS_ONLY"]
const MAILS_BETWEEN = 40
/** Time limit for the load to finish; each fault defers some messages for minutes. */
const HANGS = Duration.seconds(180 + 10 * COUNT)
const PER_FAULT_MS = 60_000
const statusNumbered = (number: number) => EmailStatus.ALL.find((each) => EmailFacets.numberOf(each) === number)

it.live(
  `a storm of ${COUNT} faults (seed ${SEED}) loses nothing and leaves all audits balanced`,
  () =>
    Effect.gen(function* () {
      const { apis, database, mailPorts, receiver, sink, causeFault, unanswered } = yield* Storm.world
      const services = EventStore.layer().pipe(
        Layer.provideMerge(alone),
        Layer.provideMerge(Database.layer({ url: database.url })),
        Layer.merge(Replay.layer(database.url)),
      )
      const faults = Storm.schedule(SEED, COUNT, ONLY)
      const { account_id, began, secret } = yield* Effect.gen(function* () {
        const sql = yield* Sql
        const [row] = yield* Effect.orDie(sql<{ began: number }>`SELECT extract(epoch FROM now())::float8 AS began`)
        const account_id = yield* World.account({ limits: { send: 1_000_000 } })
        return { account_id, began: row?.began ?? 0, ...(yield* World.key(account_id)) }
      }).pipe(Effect.provide(services))
      const statusOf = (path: string, body: unknown) =>
        Effect.promise(async () => (await apis[0]?.request("POST", path, { key: secret, body }))?.status)
      assert.strictEqual(yield* statusOf("/v1/domains", { name: "acme.test" }), 201)
      const subscription = { url: receiver.url, events: ["email.delivered", "email.bounced"] }
      assert.strictEqual(yield* statusOf("/v1/webhooks", subscription), 201)

      const account = yield* Effect.promise(async () => apis[0]?.request("GET", "/v1/account", { key: secret }))
      const peers = Inbound.load(mailPorts, `hi@${account?.json.inbound_domain}`)
      const clients = Storm.load(apis, secret)
      yield* clients.more(MAILS_BETWEEN)
      for (const fault of faults) {
        const before = performance.now()
        yield* Effect.annotateLogs(causeFault(fault), { fault })
        yield* clients.more(MAILS_BETWEEN)
        if (process.env["WAYBILL_CHAOS_SEED"] !== undefined) {
          yield* Effect.logInfo(
            `${fault}: ${Math.round(performance.now() - before)} ms, ${clients.sent.length} accepted`,
          )
        }
      }
      yield* clients.end
      yield* peers.end
      const { sent } = clients

      yield* Effect.gen(function* () {
        const sql = yield* Sql
        const one = <A>(statement: Effect.Effect<ReadonlyArray<{ readonly n: A }>, unknown>) =>
          Effect.map(Effect.orDie(statement), ([row]) => row?.n)
        // Messages deferred for minutes may stay in flight; everything else reaches its end.
        const underWay = sql<Readonly<Record<string, unknown>>>`
          SELECT kind, lease_token IS NOT NULL AS leased, ready, attempt, count(*)::int AS rows,
            min(available_at)::text AS due, max(lease_until)::text AS lease_until, now()::text AS now
          FROM outbox
          WHERE kind IN ('webhook', 'delivery')
            AND (lease_token IS NOT NULL OR available_at < now() + interval '10 seconds')
          GROUP BY 1, 2, 3, 4`
        yield* World.until(Effect.orDie(underWay), (rows) => rows.length === 0, HANGS)
        const waiting = (yield* Effect.orDie(sql<{ id: string }>`
          SELECT stream_id AS id FROM outbox WHERE kind = 'delivery'`)).map(({ id }) => id)
        // Each message was accepted exactly once, whatever its client received, and no other message was.
        assert.deepStrictEqual([...new Set(sent.map(({ ids }) => ids.size))], [1])
        const ids = sent.flatMap((each) => [...each.ids])
        const logged = yield* Effect.orDie(sql<{ id: string; number: number; message_id: string; to: string }>`
          SELECT e.stream_id AS id, l.status AS number, '<' || e.stream_id || '@' || ${PackedSql.field(sql, "e", "EmailQueued", "domain")} || '>' AS message_id,
            mailbox_address(${PackedSql.items(sql, "e", "EmailQueued", "to")}) AS to
          FROM email_log l JOIN events e ON e.account_id = ${account_id} AND e.stream_id = id_of('msg', l.id) AND e.version = 1
          WHERE l.account_id = id_key(${account_id})`)
        assert.sameMembers(
          logged.map(({ id }) => id),
          ids,
        )
        for (const { id, number, to } of logged) {
          const status = statusNumbered(number)
          const ends = waiting.includes(id) ? ["queued", "deferred"] : [to.startsWith("gone") ? "bounced" : "delivered"]
          assert.include(ends, status, `${id} to ${to}`)
        }
        // Each delivered message reached the server, and twice only where the server's response may have been lost.
        const arrived = new Set(sink.counts.keys())
        for (const { id, message_id, number } of logged) {
          const status = statusNumbered(number)
          const has = arrived.delete(message_id.slice(1, -1))
          if (status !== "deferred") assert.strictEqual(has, status === "delivered", id)
        }
        assert.deepStrictEqual([...arrived], [])
        const twice = [...sink.counts.values()].reduce((sum, times) => sum + times - 1, 0)
        const lost = yield* one(
          sql<{ n: number }>`SELECT count(*)::int AS n FROM events WHERE type = 'EmailAttemptLost'`,
        )
        assert.isAtMost(twice, (lost ?? 0) + unanswered())
        // A process whose clock is behind may record events before the start of the storm.
        const early = yield* one(sql<{ n: number }>`
          SELECT count(*)::int AS n FROM events WHERE recorded_at < to_timestamp(${began}::float8) - interval '1 minute'`)
        if (!faults.some(Storm.isOfClocks)) assert.strictEqual(early, 0)
        // Each recipient has one final state and one webhook call, and the monthly usage counts all of them.
        const finals = yield* one(sql<{ n: number }>`
          SELECT count(*)::int AS n FROM events
          WHERE account_id = ${account_id} AND type IN ('EmailDelivered', 'EmailBounced', 'EmailFailed')`)
        assert.strictEqual(finals, ids.length - waiting.length)
        // A call that failed twice is deferred for minutes, and its receiver may or may not have processed it.
        const putOff = (yield* Effect.orDie(sql<{ id: string }>`
          SELECT d.event_id AS id FROM outbox o JOIN webhook_deliveries d USING (account_id, id)
          WHERE o.kind = 'webhook'`)).map(({ id }) => id)
        const received = new Set(receiver.calls.map(({ headers }) => String(headers["webhook-id"])))
        for (const id of putOff) received.delete(id)
        assert.strictEqual(received.size, ids.length - waiting.length - putOff.length)
        const used = yield* one(sql<{ n: number }>`
          SELECT sum(accepted)::int AS n FROM monthly_usage WHERE account_id = ${account_id}`)
        assert.strictEqual(used, ids.length)
        for (const { accepted, mismatched, final, in_flight } of yield* Conservation.emails())
          assert.deepStrictEqual([final + in_flight, in_flight, mismatched], [accepted, waiting.length, 0])
        for (const { deliveries, events, missing, mismatched } of yield* Conservation.webhooks())
          assert.deepStrictEqual([deliveries, missing, mismatched], [events, [], []])
        for (const { missing, unexpected } of yield* Conservation.work())
          assert.deepStrictEqual([missing, unexpected], [[], []])
        yield* Inbound.audit(account_id, peers.heard)
        // The read models equal a rebuild from the log.
        for (const { name } of Projections.inCommits) {
          const { differences } = yield* Rebuild.verify(name, { release: "storm" })
          assert.deepStrictEqual(differences, [], name)
        }
      }).pipe(Effect.provide(services))
    }).pipe(Effect.scoped),
  (COUNT + 4) * PER_FAULT_MS,
)
