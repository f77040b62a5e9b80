import { PgClient } from "@effect/sql-pg"
import * as Team from "@waybill/domain/account/Team"
import type { Address } from "@waybill/domain/values/Address"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Migrations from "@waybill/store/database/Migrations"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import { Effect, Layer } from "effect"
import { NOW } from "../../domain/values/examples.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { urlInTestCell } from "../../support/cells/testCell.ts"

const Rebuilding = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(urlInTestCell(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

const verified = Effect.map(Rebuild.verify("members", { release: "test" }), ({ differing_rows, rows }) => ({
  differing_rows,
  rows,
}))

layer(Rebuilding, { excludeTestServices: true })("a database of an earlier release", (it) => {
  it.effect("has members that match the log once it is migrated", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { url } = yield* Database.Fresh
      const { commit } = yield* EventStore
      for (const _ of ["one team", "another"]) {
        const ref = { account_id: id("AccountId"), stream_id: Team.STREAM_ID }
        const [joined, changed, removed, linked, returned] = [1, 2, 3, 4, 5].map(() => id("UserId"))
        assert(joined && changed && removed && linked && returned)
        const invite = (user_id: typeof joined) =>
          Team.invite(NOW, { user_id, email: `${user_id}@acme.test` as Address, name: "", role: "member" })
        for (const user_id of [joined, changed, removed, linked, returned]) yield* commit(Team, ref, invite(user_id))
        yield* commit(Team, ref, Team.join(NOW, joined))
        yield* commit(Team, ref, Team.changeRole(NOW, changed, "viewer"))
        yield* commit(Team, ref, Team.remove(NOW, removed))
        yield* commit(Team, ref, Team.remove(NOW, returned))
        yield* commit(Team, ref, invite(returned))
        yield* commit(Team, ref, Team.makeLink(NOW, linked))
      }
      // Earlier releases wrote all rows of a team with each of its events.
      yield* sql`UPDATE members m SET version = (SELECT max(version) FROM events e WHERE e.account_id = m.account_id)`
      yield* sql`DELETE FROM schema_migrations WHERE name = '0053_member_versions.sql'`
      assert.deepStrictEqual(yield* verified, { differing_rows: 10, rows: 10 })
      yield* Migrations.migrate(url)
      assert.deepStrictEqual(yield* verified, { differing_rows: 0, rows: 10 })
    }).pipe(Effect.orDie),
  )
})
