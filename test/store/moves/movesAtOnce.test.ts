import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as MoveTurns from "@waybill/store/moves/MoveTurns"
import { Sql } from "@waybill/store/postgres/Sql"
import * as DirectoryRows from "@waybill/store/routing/directory/DirectoryRows"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { SqlConnection } from "effect/sql"
import { assert, it, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

/** The only process is the one that moves. */
const NOTICED = Duration.millis(100)
const TURN = "waiting for the last step of another move"
const LAST_ROWS = "waiting for the last rows"
const MOVED = "the account is in"

/**
 * Begins a move when another one begins its last step, which goes on when the later one waits for it or has ended. Returns the
 * beginnings of the lines that both report.
 */
const moveBeside = Effect.fnUntraced(function* (cells: readonly [string, string], later: readonly [string, string]) {
  const [first, second] = [yield* World.accountIn(cells[0]), yield* World.accountIn(later[0])]
  const lines: Array<string> = []
  const waits = yield* Deferred.make<void>()
  const note = (name: string, line: string) => {
    const known = [TURN, LAST_ROWS, MOVED].find((start) => line.startsWith(start))
    if (known !== undefined) lines.push(`${name}: ${known}`)
  }
  const reportSecond = (line: string) =>
    Effect.andThen(
      Effect.sync(() => note("second", line)),
      line.startsWith(TURN) ? Deferred.succeed(waits, undefined) : Effect.void,
    )
  const moveSecond = AccountMove.move(second, later[1], { noticedAfter: NOTICED, report: reportSecond })
  const begun = yield* Deferred.make<Fiber.Fiber<unknown, unknown>>()
  const context = yield* Effect.context<Effect.Services<typeof moveSecond>>()
  const reportFirst = (line: string) =>
    Effect.gen(function* () {
      note("first", line)
      if (!line.startsWith(LAST_ROWS)) return
      const fiber = yield* Effect.forkDetach(Effect.provideContext(moveSecond, context))
      yield* Deferred.succeed(begun, fiber)
      yield* Effect.race(Deferred.await(waits), Effect.asVoid(Fiber.await(fiber)))
    })
  yield* AccountMove.move(first, cells[1], { noticedAfter: NOTICED, report: reportFirst })
  yield* Fiber.join(yield* Deferred.await(begun))
  return lines
})

layer(World.layer, { excludeTestServices: true })("moves of accounts at the same time", (it) => {
  it.effect("let no requests wait for the last rows of another account", function* () {
    for (const cell of ["cell_b", "cell_c"]) yield* CellSchema.make(cell)
    for (const later of [
      ["cell_b", "public"],
      ["cell_c", "cell_b"],
      ["cell_b", "cell_c"],
    ] as const)
      assert.deepStrictEqual(
        yield* moveBeside(["public", "cell_b"], later),
        [`first: ${LAST_ROWS}`, `second: ${TURN}`, `first: ${MOVED}`, `second: ${LAST_ROWS}`, `second: ${MOVED}`],
        `${later[0]} to ${later[1]}`,
      )
  })

  it.effect("do not wait for each other if the accounts leave one cell for others", function* () {
    assert.deepStrictEqual(yield* moveBeside(["public", "cell_b"], ["public", "cell_c"]), [
      `first: ${LAST_ROWS}`,
      `second: ${LAST_ROWS}`,
      `second: ${MOVED}`,
      `first: ${MOVED}`,
    ])
    const sql = yield* Sql
    const held = sql`
      SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = ${DirectoryRows.TURNS}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    assert.deepStrictEqual(yield* held, [])
  })
})

it.effect("a move that waits for the last steps of others for too long is refused, and says why", function* () {
  const connection = { execute: () => Effect.succeed([{ is_done: false }]) } as unknown as SqlConnection.Connection
  const lines: Array<string> = []
  const report = (line: string) => Effect.sync(() => void lines.push(line))
  const taking = yield* Effect.forkChild(
    Effect.flip(Effect.scoped(MoveTurns.take(connection, "cell_b", "cell_c", report))),
  )
  yield* TestClock.adjust(MoveTurns.LONGEST_TURN)
  const refused = yield* Fiber.join(taking)
  assert.include(refused.message, "other moves from or to cell_b or cell_c were in their last step for 5 minutes")
  assert.deepStrictEqual(lines, [`${TURN} from or to cell_b or cell_c`])
})
