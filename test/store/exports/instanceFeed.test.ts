import * as Suppression from "@waybill/domain/suppression/Suppression"
import type { Address } from "@waybill/domain/values/Address"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as FeedCursor from "@waybill/store/exports/FeedCursor"
import * as InstanceFeed from "@waybill/store/exports/InstanceFeed"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { Cells } from "@waybill/store/routing/Cells"
import * as CellStates from "@waybill/store/operations/CellStates"
import { Duration, Effect, Exit } from "effect"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import * as CellServers from "../../support/cells/servers.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { randomNumbers } from "../rebuild/randomHistories.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 300_000 }
const OPTIONS = { excludeTestServices: true, timeout: "240 seconds" } as const
const NOTICED = Duration.millis(100)
const ACCOUNTS = 5
const STEPS = 60
const MOVES = 12

/** Commits an event of an account, wherever it is. A move that is in its last step is waited for. */
const write = (account_id: AccountId, nth: number) =>
  Effect.gen(function* () {
    const { commit } = yield* EventStore
    const address = `a${nth}@example.org` as Address
    const add = Suppression.add(yield* NewIds.now, yield* NewIds.newId("SuppressionId"), address, "manual", null)
    const writing = commit(Suppression, { account_id, stream_id: Suppression.streamId(address) }, add)
    yield* World.until(Effect.exit(writing), Exit.isSuccess)
  })

/** A consumer that keeps nothing but the text of its cursor, and what it has seen. */
const consumer = (limit: () => number) => {
  const seen: Array<{ readonly account_id: string; readonly position: bigint }> = []
  let cursor = FeedCursor.toText(FeedCursor.START)
  const step = Effect.gen(function* () {
    const from = FeedCursor.fromText(cursor)
    assert(from !== undefined)
    const page = yield* InstanceFeed.read(from, limit())
    seen.push(...page.events)
    cursor = FeedCursor.toText(page.cursor)
    return page
  })
  return { seen, step, toEnd: Effect.repeat(step, { until: ({ more }) => !more }) }
}

/** A consumer of the feed of one account, which keeps its place only. */
const ownConsumer = (account_id: AccountId) => {
  const seen: Array<bigint> = []
  let after = 0n
  const step = Effect.gen(function* () {
    const { feed } = yield* EventStore
    // In the last step of a move, a read may be refused.
    const page = yield* Effect.exit(feed({ account_id, after }))
    if (Exit.isFailure(page)) return true
    seen.push(...page.value.events.map(({ position }) => position))
    after = page.value.upTo
    return page.value.more
  })
  return { account_id, seen, step, toEnd: Effect.repeat(step, { until: (more) => !more }) }
}

const logOf = Effect.fnUntraced(function* (account_id: string) {
  const { feed } = yield* EventStore
  return (yield* feed({ account_id, after: 0n })).events.map(({ position }) => position)
})

for (const seed of [1, 2])
  layer(World.layer, OPTIONS)("the feed of all accounts", (it) => {
    it.effect(
      `shows each event of each account once and in order while accounts move between servers and schemas (${seed})`,
      function* () {
        const random = randomNumbers(seed)
        const pick = <A>(items: ReadonlyArray<A>): A => items[Math.floor(random() * items.length)] as A
        const b = "cell_b"
        const schema = "cell_s"
        // Events of before there were several servers, with positions of every rest.
        const accounts: Array<AccountId> = []
        for (let nth = 0; nth < ACCOUNTS; nth++) accounts.push(yield* World.accountIn("public"))
        for (const [nth, account_id] of accounts.entries()) yield* write(account_id, -1 - nth)
        const early = consumer(() => 3)
        yield* early.step
        yield* ServerCell.make(b, (yield* CellServers.make).url())
        yield* CellSchema.make(schema)
        const c = "cell_c"
        const names = ["public", b, c, schema]
        const [eager, rare] = [consumer(() => 1 + Math.floor(random() * 20)), consumer(() => 4)]
        const own = accounts.map(ownConsumer)
        const steps = Effect.gen(function* () {
          for (let nth = 0; nth < STEPS; nth++) {
            yield* write(pick(accounts), nth)
            if (nth === STEPS / 2) yield* ServerCell.make(c, (yield* CellServers.make).url())
          }
        })
        const moves = Effect.gen(function* () {
          for (let nth = 0; nth < MOVES; nth++) {
            const account_id = pick(accounts)
            const { names: known, of } = yield* Cells
            const at = yield* of(account_id)
            const to = pick(names.filter((name) => name !== at))
            if (!(yield* known).includes(to)) continue
            // The schema and new cells take accounts at once, as their processes do.
            yield* AccountMove.move(account_id, to, { noticedAfter: NOTICED })
            if (nth % 3 === 0) yield* rare.step
          }
        })
        let isOver = false
        const ownPages = Effect.forEach(own, ({ step }) => step, { concurrency: "unbounded", discard: true })
        const pages = Effect.andThen(eager.step, ownPages)
        const reading = Effect.repeat(Effect.andThen(pages, Effect.sleep("20 millis")), { until: () => isOver })
        yield* Effect.all(
          [
            reading,
            Effect.ensuring(
              Effect.all([steps, moves], { concurrency: 2, discard: true }),
              Effect.sync(() => (isOver = true)),
            ),
          ],
          { concurrency: 2, discard: true },
        )
        for (const account_id of accounts) yield* write(account_id, STEPS)
        for (const { toEnd } of [early, eager, rare]) yield* toEnd
        for (const { toEnd } of own) yield* toEnd
        for (const { account_id, seen } of own) assert.deepStrictEqual(seen, yield* logOf(account_id))
        const late = consumer(() => 1_000)
        yield* late.toEnd
        for (const { seen } of [early, eager, rare, late])
          for (const account_id of accounts) {
            const own = seen.filter((each) => Livemode.liveAccountOf(each.account_id) === account_id)
            assert.deepStrictEqual(
              own.map(({ position }) => position),
              yield* logOf(account_id),
            )
          }
      },
      TIMEOUT,
    )
  })

layer(World.layer, OPTIONS)("the feed of all accounts", (it) => {
  it.effect(
    "waits for a server that is away, and goes on without it and after its cell is removed",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_x", server.url())
      const [here, there] = [yield* World.accountIn("public"), yield* World.accountIn("cell_x")]
      const reader = consumer(() => 10)
      yield* write(there, 1)
      yield* reader.toEnd
      yield* server.stop
      yield* write(here, 2)
      const page = yield* reader.toEnd
      assert.deepStrictEqual(page.missing, ["cell_x"])
      const seenOf = (account_id: string) =>
        reader.seen.filter((each) => each.account_id === account_id).map(({ position }) => position)
      assert.deepStrictEqual(seenOf(here), yield* logOf(here))
      yield* server.start
      yield* write(there, 3)
      yield* AccountMove.move(there, "public", { noticedAfter: NOTICED })
      yield* write(there, 4)
      yield* CellStates.set("cell_x", "full")
      assert.isTrue(yield* CellStates.removeEmpty("cell_x"))
      yield* reader.toEnd
      const late = consumer(() => 10)
      yield* late.toEnd
      for (const { seen } of [reader, late])
        assert.deepStrictEqual(
          seen.filter((each) => each.account_id === there).map(({ position }) => position),
          yield* logOf(there),
        )
    },
    TIMEOUT,
  )
})
