import * as SecondFactors from "@waybill/store/users/SecondFactors"
import * as SignInTries from "@waybill/store/users/SignInTries"
import * as Users from "@waybill/store/users/Users"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import * as Id from "@waybill/domain/values/Id"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import * as DatabaseClock from "../../support/DatabaseClock.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

const NODES = 3
const PARALLEL = 100
const at = "2026-11-21T12:00:00.000Z"

/** Separate pools, like those of several nodes. */
const nodes = Effect.gen(function* () {
  const database = yield* Database.Fresh
  return yield* Effect.forEach(Array.from({ length: NODES }), () =>
    Effect.map(Layer.build(Layer.fresh(Database.layerOf(database))), (context) =>
      Context.get(context, PgClient.PgClient),
    ),
  )
})

/** Runs an effect many times concurrently, in turns on each node. */
const onAll = <A, E>(effect: Effect.Effect<A, E, PgClient.PgClient>, times: number) =>
  Effect.flatMap(nodes, (all) =>
    Effect.all(
      Array.from({ length: times }, (_, nth) =>
        Effect.provideService(effect, PgClient.PgClient, all[nth % NODES] ?? (all[0] as PgClient.PgClient)),
      ),
      { concurrency: "unbounded" },
    ),
  )

layer(DatabaseClock.layer, { excludeTestServices: true })("sign-in tries", (it) => {
  // threat: guessed-passwords
  it.effect("are counted one by one, on all nodes together, however many come at once", function* () {
    const counted = yield* onAll(SignInTries.count(["sign-in/a", "sign-in/b"]), PARALLEL)
    const totals = counted.map(({ total }) => total).toSorted((a, b) => a - b)
    assert.deepStrictEqual(
      totals,
      Array.from({ length: PARALLEL }, (_, nth) => nth + 1),
    )
  })

  it.effect("count together only in a shared window; the fullest window decides", function* () {
    const totals = yield* Effect.forEach(["first", "second"], (name) =>
      Effect.gen(function* () {
        yield* SignInTries.count([`code/${name}`])
        return (yield* SignInTries.count([`code/${name}`, `code/${name}/empty`])).total
      }),
    )
    assert.deepStrictEqual(totals, [2, 2])
    const other = yield* SignInTries.count(["code/other"])
    assert.strictEqual(other.total, 1)
    assert.isAtLeast(other.retry_after_s, 1)
  })

  it.effect("use the code of a time step once on all nodes, and no older one after it", function* () {
    const sql = yield* HomeSql
    const id = Id.UserId.make("usr_00000000000000000000000001")
    yield* Users.create({ id, email: "ana@example.org", name: "Ana", operator: false, created_at: at })
    yield* sql`INSERT INTO user_two_factors (id, user_id, secret, backup_codes) VALUES ('f', ${id}, 's', 'b')`
    const accepted = yield* onAll(SecondFactors.acceptStep("f", 7), PARALLEL)
    assert.strictEqual(accepted.filter(Boolean).length, 1)
    assert.deepStrictEqual(
      [yield* SecondFactors.acceptStep("f", 6), yield* SecondFactors.acceptStep("f", 8)],
      [false, true],
    )
  })

  // threat: passkeys
  it.effect(
    "use each count of a passkey once, on all nodes together, and zero of those that do not count",
    function* () {
      const sql = yield* HomeSql
      const id = Id.UserId.make("usr_00000000000000000000000002")
      yield* Users.create({ id, email: "bob@example.org", name: "Bob", operator: false, created_at: at })
      for (const name of ["counts", "counts-not"])
        yield* sql`INSERT INTO user_passkeys (id, user_id, public_key, credential_id, counter, device_type, backed_up)
          VALUES (${name}, ${id}, 'k', ${name}, 0, 'singleDevice', false)`
      const accepted = yield* onAll(SecondFactors.acceptCounter("counts", 7), PARALLEL)
      assert.strictEqual(accepted.filter(Boolean).length, 1)
      assert.isFalse(yield* SecondFactors.acceptCounter("counts", 0))
      assert.isTrue(yield* SecondFactors.acceptCounter("counts-not", 0))
      assert.isFalse(yield* SecondFactors.acceptCounter("nobody's", 1))
    },
  )
})
