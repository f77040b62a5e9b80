import { EventStore } from "@waybill/store/commit/EventStore"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { lockReadModel, Replay } from "@waybill/store/rebuild/versions/Replay"
import * as RebuildMarkers from "@waybill/store/rebuild/RebuildMarkers"
import { Effect, Layer, Redacted } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { WaybillCommand } from "../../support/process/service.ts"
import { openedMail } from "../commit/commits.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { replayUrls } from "../../support/cells/testCell.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)
const MESSAGES = 300

layer(Store, { excludeTestServices: true })("running rebuilds", (it) => {
  it.effect(
    "are visible to other processes: their progress, an interruption, and their end",
    function* () {
      yield* openedMail(MESSAGES)
      assert.deepStrictEqual(yield* RebuildMarkers.inProgress(), [])
      const { url } = yield* Database.Fresh
      const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE }
      // Slices of 100 events, one per second.
      const elsewhere = new WaybillCommand(["projections", "rebuild", "email_log", "--throttle", "100"], env)
      const [seen] = yield* World.until(RebuildMarkers.inProgress(), (all) => (all[0]?.events ?? 0) > 0)
      assert.deepInclude(seen, {
        name: "email_log",
        version: 2,
        working: true,
        phase: "folding",
        total: MESSAGES * 2,
      })
      assert.isBelow(seen?.events ?? 0, MESSAGES * 2)
      assert.isAbove(seen?.slices_done ?? 0, 0)
      assert.isAtLeast(seen?.slices ?? 0, seen?.slices_done ?? 0)

      yield* Effect.promise(() => elsewhere.stop("SIGKILL"))
      const [left] = yield* World.until(RebuildMarkers.inProgress(), (all) => all[0]?.working === false)
      assert.deepInclude(left, { name: "email_log", version: 2, phase: "folding", total: MESSAGES * 2 })
      assert.isBelow(left?.events ?? 0, MESSAGES * 2)

      const phases = new Set<string>()
      const looking = Effect.map(RebuildMarkers.inProgress(), ([now]) => phases.add(`${now?.phase} ${now?.working}`))
      const replay = yield* Replay
      const report = () => Effect.orDie(Effect.asVoid(Effect.provideService(looking, Replay, replay)))
      yield* Rebuild.rebuild("email_log", { release: yield* releaseOf, report })
      assert.include([...phases], "indexing true")
      assert.deepStrictEqual(yield* RebuildMarkers.inProgress(), [])
    },
    120_000,
  )

  it.effect("include comparisons, which build nothing but hold the lock", function* () {
    const held = yield* Effect.scoped(Effect.andThen(lockReadModel("suppressions"), RebuildMarkers.inProgress()))
    assert.deepStrictEqual(
      held.map(({ name, phase, version, working }) => [name, phase, version, working]),
      [["suppressions", "comparing", null, true]],
    )
    yield* World.until(RebuildMarkers.inProgress(), (all) => all.length === 0)
  })
})

/** Only the same release resumes a run. */
const releaseOf = Effect.gen(function* () {
  const { sql } = yield* Replay
  const [row] = yield* Effect.orDie(sql<{ readonly release: string }>`
    SELECT release FROM projection_versions WHERE state = 'building'`)
  return row?.release ?? ""
})
