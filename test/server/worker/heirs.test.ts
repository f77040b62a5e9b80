import { PgClient } from "@effect/sql-pg"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Leases from "@waybill/store/outbox/Leases"
import { Processes } from "@waybill/store/outbox/Processes"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Effect, Latch, Layer, type Scope } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Pipeline from "../../../apps/server/src/worker/Pipeline.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

const fresh = <E>(name: string, body: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof World.layer>>) =>
  it.live(name, () => Effect.provide(Effect.scoped(body), World.layer), 60_000)

const BEFORE = { id: "prc_away", number: 1 }

const stands = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.orDie(sql`INSERT INTO processes (id, number, worker_ids) VALUES (${BEFORE.id}, ${BEFORE.number}, '{}')`),
)

/** Waits until the session was opened again, under another number. */
const comesBack = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.orDie(sql`UPDATE processes SET number = number + 1, beat_at = now() WHERE id = ${BEFORE.id}`),
)

interface Lease {
  readonly token: string | null
  readonly seconds: number | null
}

const leaseOf = ({ stream_id }: World.MessageRef) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.map(
      Effect.orDie(sql<Lease>`
        SELECT lease_token AS token, extract(epoch FROM lease_until - now())::float8 AS seconds
        FROM outbox WHERE id = ${stream_id}`),
      ([lease]) => lease,
    ),
  )

/** Shortens the lease, so that a renewal is visible. */
const age = ({ stream_id }: World.MessageRef) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.orDie(sql`UPDATE outbox SET lease_until = now() + interval '10 seconds' WHERE id = ${stream_id}`),
  )

/** A process whose sessions the test controls, and the mails that it started to send. */
const away = Effect.gen(function* () {
  const begun: Array<string> = []
  const state = { trustedSince: -Infinity as number | undefined, isSeen: true, holds: 0, dropped: 0 }
  const room = yield* Latch.make()
  const answer = yield* Latch.make()
  const processes = Layer.succeed(Processes, {
    id: BEFORE.id,
    isVisible: () => state.isSeen,
    trustedSince: () => state.trustedSince,
    recordWorkers: () => Effect.void,
  })
  const work = (job: Pipeline.PipelineJob) =>
    Effect.gen(function* () {
      state.holds++
      yield* room.await
      if (!job.start()) return yield* job.giveBack
      begun.push(job.row.stream_id)
      yield* answer.await
      yield* Leases.settle(job.row)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => state.dropped++)))
  const pipeline = Pipeline.make({ kind: "delivery", prepare: () => Effect.succeed(work) })
  yield* stands
  const { kick } = yield* Effect.provide(pipeline, processes)
  return { answer, begun, kick, room, state }
})

describe("a process that was taken for dead and returns", { concurrent: true }, () => {
  fresh(
    "sends nothing that its heir is about to free",
    Effect.gen(function* () {
      const { answer, begun, kick, room, state } = yield* away
      const ref = yield* World.send(yield* World.verifiedDomain())
      yield* kick
      yield* World.until(
        Effect.sync(() => state.holds),
        (holds) => holds === 1,
      )
      // The process is cut off, and its successor reclaims its rows.
      state.trustedSince = undefined
      const left = yield* Leases.takeOverFrom(BEFORE)
      assert.deepStrictEqual(
        left.map(({ id }) => id),
        [ref.stream_id],
      )
      // The process returns and reads which rows it still holds.
      yield* age(ref)
      yield* comesBack
      state.trustedSince = yield* MonotonicClock.millis
      yield* World.until(leaseOf(ref), (lease) => state.dropped > 0 || (lease?.seconds ?? 0) > 20)
      yield* room.open
      yield* Reclaim.reclaim(left)
      yield* kick
      yield* World.until(
        Effect.sync(() => state.holds),
        (holds) => holds === 2,
      )
      yield* World.until(
        Effect.sync(() => begun.length),
        (times) => times >= 1,
      )
      yield* answer.open
      yield* World.until(leaseOf(ref), (lease) => lease === undefined)
      assert.deepStrictEqual(begun, [ref.stream_id])
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailAttemptLost"])
    }),
  )

  fresh(
    "keeps what it holds when its heir is slower",
    Effect.gen(function* () {
      const { answer, begun, kick, room, state } = yield* away
      const ref = yield* World.send(yield* World.verifiedDomain())
      yield* kick
      yield* World.until(
        Effect.sync(() => state.holds),
        (holds) => holds === 1,
      )
      const held = yield* leaseOf(ref)
      yield* comesBack
      assert.deepStrictEqual(yield* Leases.takeOverFrom(BEFORE), [])
      assert.strictEqual((yield* leaseOf(ref))?.token, held?.token)
      yield* Effect.andThen(room.open, answer.open)
      yield* World.until(leaseOf(ref), (lease) => lease === undefined)
      assert.deepStrictEqual(begun, [ref.stream_id])
    }),
  )

  fresh(
    "frees itself what its heir has died of, and the log tells of the attempt",
    Effect.gen(function* () {
      const sql = yield* Sql
      const { answer, kick, room, state } = yield* away
      const ref = yield* World.send(yield* World.verifiedDomain())
      yield* Effect.andThen(room.open, answer.open)
      yield* Effect.orDie(sql`
        UPDATE outbox SET lease_token = 'lost', lease_owner = ${BEFORE.id}, lease_until = now() + interval '1 minute'
        WHERE id = ${ref.stream_id}`)
      assert.lengthOf(yield* Leases.takeOverFrom(BEFORE), 1)
      // The next successor counts the same loss only once.
      const left = yield* Leases.takeOverFrom(BEFORE)
      yield* comesBack
      state.isSeen = false
      yield* World.until(Effect.andThen(kick, leaseOf(ref)), (lease) => lease?.token === null)
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailAttemptLost"])
      yield* Reclaim.reclaim(left)
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailAttemptLost"])
      state.isSeen = true
    }),
  )
})

describe("a lease that has run out", { concurrent: true }, () => {
  fresh(
    "is its holder's again when that was quicker than who found it",
    Effect.gen(function* () {
      const sql = yield* Sql
      yield* Effect.orDie(sql`
        INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload, lease_token, lease_until, lease_owner)
        SELECT id, 'a', 'webhook', id, now(), true, '{}', 'token', now() - interval '1 minute', 'prc_1'
        FROM unnest('{left,kept}'::text[]) AS id`)
      const found = yield* Leases.expired()
      assert.lengthOf(found, 2)
      yield* Leases.renew([{ id: "kept", token: "token" }])
      const taken = yield* Leases.takeOverExpired(found)
      assert.deepStrictEqual(
        taken.map(({ id, token }) => [id, token === "token"]),
        [["left", false]],
      )
      assert.deepStrictEqual([...(yield* Leases.renew([{ id: "left", token: "token" }]))], [])
    }).pipe(Effect.orDie),
  )
})
