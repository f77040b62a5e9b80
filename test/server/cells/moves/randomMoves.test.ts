import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as PositionNumbers from "@waybill/store/cells/PositionNumbers"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Sql } from "@waybill/store/postgres/Sql"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as MovedTables from "@waybill/store/moves/MovedTables"
import * as Cells from "@waybill/store/routing/Cells"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Cause, Duration, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import * as CellServers from "../../../support/cells/servers.ts"
import { dice } from "../../../support/dice.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

/** Seed of the moves; a failure prints it. `random` chooses one. */
const { WAYBILL_FUZZ_SEED = "20261121", WAYBILL_MOVE_ROUNDS = "2" } = process.env
const SEED = WAYBILL_FUZZ_SEED === "random" ? Date.now() % 1_000_000_007 : Number(WAYBILL_FUZZ_SEED)
const ROUNDS = Number(WAYBILL_MOVE_ROUNDS)
const TIMEOUT = { timeout: 300_000 + ROUNDS * 200_000 }
/** The first two are on the first server. */
const CELLS = ["public", "cell_b", "cell_c", "cell_d"]
/** Longer than a busy machine takes for the last rows of an account. */
const LONGEST_WAIT = Duration.minutes(2)
/** Events by which one server is ahead of the others, as one that has had more mail. */
const AHEAD = 10_000
/** Pauses of each account after a mail. */
const MAIL_EVERY = [100, 200, 400, 800].map(Duration.millis)
/** Pause of a consumer after a page. */
const READ_EVERY = Duration.millis(100)
const LARGEST_PAGE = 7
/** Lines that a mover reports, of which each may be its last. */
const LINES = 4
const KILLED = "the mover was killed"

type Random = ReturnType<typeof dice>

interface Seen {
  readonly event_id: string
  readonly position: bigint
}

/** An account that sends all the while, and a consumer that reads its feed with a cursor, in pages of random size. */
const actorIn = Effect.fnUntraced(function* (nth: number, { below }: Random) {
  const [cell = "", mailEvery = READ_EVERY] = [CELLS[nth], MAIL_EVERY[nth]]
  const sender = yield* senderIn(cell, `sender${nth}.test`)
  const { account_id } = sender
  const { feed } = yield* EventStore
  const sent: Array<Effect.Success<ReturnType<typeof World.send>>> = []
  const seen: Array<Seen> = []
  let isOver = false
  let after = 0n
  const send = Effect.map(
    Effect.exit(World.send(sender)),
    (exit) => void (Exit.isSuccess(exit) && sent.push(exit.value)),
  )
  const read = Effect.gen(function* () {
    const page = yield* feed({ account_id, after, limit: 1 + below(LARGEST_PAGE) })
    seen.push(...page.events.map(({ event_id, position }) => ({ event_id, position })))
    after = page.upTo
    return page
  })
  const repeat = <R>(work: Effect.Effect<unknown, unknown, R>, pause: Duration.Duration) =>
    Effect.forkScoped(Effect.repeat(Effect.andThen(Effect.ignore(work), Effect.sleep(pause)), { until: () => isOver }))
  const fibers = [yield* repeat(send, mailEvery), yield* repeat(read, READ_EVERY)]
  const stop = Effect.andThen(
    Effect.sync(() => void (isOver = true)),
    Fiber.joinAll(fibers),
  )
  const readOn = Effect.repeat(read, { until: ({ events, more }) => events.length === 0 && !more })
  return { account_id, name: `account ${nth + 1}`, cell, sent, seen, stop, readOn }
})

type Actor = Effect.Success<ReturnType<typeof actorIn>>

interface Plan {
  readonly actor: Actor
  readonly to: string
  /** Line at which the mover dies. */
  readonly dies: number | undefined
  readonly isGivenUp: boolean
}

/** Draws moves of some accounts. Two of them change places if they are in different cells. */
const draw = ({ below, chance, pick }: Random, actors: ReadonlyArray<Actor>): ReadonlyArray<Plan> => {
  const [first, second] = [pick(actors), pick(actors)]
  return actors
    .filter((actor) => actor === first || actor === second || chance(0.6))
    .map((actor) => {
      const opposite = actor === first ? second.cell : first.cell
      const others = CELLS.filter((cell) => cell !== actor.cell)
      const to = (actor === first || actor === second) && opposite !== actor.cell ? opposite : pick(others)
      return { actor, to, dies: chance(0.5) ? 1 + below(LINES) : undefined, isGivenUp: chance(0.4) }
    })
}

const nameOf = ({ actor, dies, isGivenUp, to }: Plan) =>
  `${actor.name}: ${actor.cell} to ${to}` +
  (dies === undefined ? "" : `, dies at line ${dies}, ${isGivenUp ? "is given up" : "is continued"}`)

/** Runs a command again that could not reach a server of a busy machine. */
const UNREACHED = { while: (error: unknown) => error instanceof StoreUnavailable, times: 5 }

/** Moves an account as the command does, with connections of its own. */
const moveBy = (url: Redacted.Redacted, { actor, to }: Plan, dies?: number) => {
  let line = 0
  const report = () => Effect.suspend(() => (++line === dies ? Effect.die(KILLED) : Effect.void))
  return AccountMove.move(actor.account_id, to, { longestWait: LONGEST_WAIT, report }).pipe(
    Effect.provide(Layer.fresh(World.services(url, 2))),
    Effect.retry(UNREACHED),
  )
}

/** Runs a move to its end; returns the account in the cell in which it is then. */
const run = Effect.fnUntraced(function* (url: Redacted.Redacted, plan: Plan) {
  const { actor, dies, isGivenUp, to } = plan
  const exit = yield* Effect.exit(moveBy(url, plan, dies))
  if (Exit.isSuccess(exit)) return { ...actor, cell: to }
  if (dies === undefined || !Cause.pretty(exit.cause).includes(KILLED)) return yield* Effect.failCause(exit.cause)
  if (isGivenUp) {
    const given = AccountMove.giveUp(actor.account_id).pipe(
      Effect.provide(Layer.fresh(World.services(url, 2))),
      Effect.retry(UNREACHED),
    )
    const result = yield* Effect.exit(given)
    if (Exit.isSuccess(result)) return actor
    // It is in its new cell.
    assert.include(Cause.pretty(result.cause), "has moved to")
  }
  yield* moveBy(url, plan)
  return { ...actor, cell: to }
})

/** Tables of a cell that have rows of an account. */
const tablesWith = (cell: string, account_id: string) =>
  inCell(
    cell,
    Effect.gen(function* () {
      const sql = yield* Sql
      const schema = yield* Cells.schemaOf(cell)
      const found: Array<string> = []
      for (const table of yield* MovedTables.list(sql, schema)) {
        const isOf = MovedTables.isOf(sql, table, "t", [account_id])
        const rows = yield* sql`SELECT FROM ${sql(`${schema}.${table.name}`)} t WHERE ${isOf} LIMIT 1`
        if (rows.length > 0) found.push(table.name)
      }
      return found
    }),
  )

/** The log of an account, in the order of the cell in which it is. */
const logOf = ({ account_id, cell }: Actor) =>
  inCell(
    cell,
    Effect.flatMap(
      Sql,
      (sql) => sql<Seen>`
      SELECT event_id, position FROM events WHERE account_id = ${account_id} ORDER BY position`,
    ),
  )

/** Checks that an account has its rows in its cell alone, and that its consumer has seen its log, in which each mail is delivered once. */
const check = Effect.fnUntraced(function* (actor: Actor) {
  const { account_id, cell, name, seen, sent } = actor
  yield* actor.stop
  yield* Effect.forEach(sent, (ref) => World.settled(ref), { concurrency: 10 })
  yield* actor.readOn
  assert.deepStrictEqual(seen, yield* logOf(actor), `what the consumer of ${name} saw, and its log`)
  for (const ref of sent) assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"], name)
  assert.strictEqual(yield* (yield* Cells.Cells).of(account_id), cell, name)
  for (const other of CELLS.filter((other) => other !== cell))
    assert.deepStrictEqual(yield* tablesWith(other, account_id), [], `tables of ${other} with rows of ${name}`)
})

/** Checks the counts of each cell, and its tree, which followers make of its log. */
const checkFollowers = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE, WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }
  const verified = yield* CommandLine.typeWith(env, "projections", "verify", "email_stats", "--json")
  assert.isTrue(Exit.isSuccess(verified.exit), `${verified.output}\n${verified.errors}`)
  for (const cell of CELLS) assert.deepStrictEqual((yield* inCell(cell, TreeAudit.audit())).differences, [], cell)
})

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("accounts that move at random", (it) => {
  it.effect(
    "are in one cell, deliver each mail once, and lose, repeat and reorder nothing for their consumers",
    function* () {
      const { url } = yield* Database.Fresh
      yield* CellSchema.make("cell_b")
      for (const name of ["cell_c", "cell_d"]) yield* ServerCell.make(name, (yield* CellServers.make).url())
      const sql = yield* Sql
      yield* inCell(
        "cell_c",
        sql`SELECT setval('event_position', last_value + ${AHEAD * PositionNumbers.STEP}, is_called) FROM event_position`,
      )
      const smtp = yield* SmtpServer.listen({ keep_bytes: false })
      yield* Layer.build(World.worker(url, { relay: World.relay(smtp) }))
      const random = dice(SEED)
      const drawn = [`WAYBILL_FUZZ_SEED=${SEED} WAYBILL_MOVE_ROUNDS=${ROUNDS}`]
      let actors = yield* Effect.forEach(CELLS, (_, nth) => actorIn(nth, dice(SEED + nth)))
      const test = Effect.gen(function* () {
        for (let round = 1; round <= ROUNDS; round++) {
          const plans = draw(random, actors)
          drawn.push(...plans.map((plan) => `round ${round}: ${nameOf(plan)}`))
          const moved = yield* Effect.forEach(plans, (plan) => run(url, plan), { concurrency: "unbounded" })
          actors = actors.map((actor) => moved.find(({ name }) => name === actor.name) ?? actor)
        }
        yield* (yield* Cells.Cells).refresh
        for (const actor of actors) yield* check(actor)
        assert.deepStrictEqual([...new Set(smtp.counts.values())], [1])
        yield* checkFollowers
      })
      yield* Effect.onError(test, () => Effect.sync(() => console.error(drawn.join("\n"))))
    },
    TIMEOUT,
  )
})
