import type { AccountId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Duration, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as EventFeed from "../../../apps/server/src/live/EventFeed.ts"
import * as FeedReaders from "../../../apps/server/src/live/FeedReaders.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import { largeRecipients } from "../../support/mail/largeMail.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"

const Feeds = EventFeed.EventFeed.layer.pipe(Layer.provideMerge(World.layer))
const NO_WAIT = Duration.zero
const LONG = Duration.seconds(15)
const VERY_LONG = Duration.minutes(10)

/** All pages of a stream, which is open while it is read. */
const streamOf = (
  feed: EventFeed.EventFeed["Service"],
  query: { readonly after: bigint; readonly account_id: string },
) => Stream.unwrap(feed.stream(query))

/** The store of another node on the same database. */
const otherNode = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  return Context.get(yield* Layer.build(Layer.fresh(World.services(url, 3))), EventStore)
})

const positionsInLog = Effect.fnUntraced(function* (account_id: AccountId) {
  const sql = yield* Sql
  const rows = yield* Effect.orDie(sql<{ readonly position: bigint }>`
    SELECT position FROM events WHERE account_id = ${account_id} ORDER BY position`)
  return rows.map(({ position }) => position)
})

layer(Feeds, { excludeTestServices: true })("event feed of an account", (it) => {
  it.effect("returns existing events at once, in pages", function* () {
    const feed = yield* EventFeed.EventFeed
    const account_id = id("AccountId")
    const emails = yield* Effect.forEach([1, 2, 3], () => Webhooks.acceptEmail(account_id))
    const first = yield* feed.next({ after: 0n, account_id, limit: 2 }, LONG)
    assert.deepStrictEqual(
      first.events.map(({ stream_id }) => stream_id as string),
      emails.slice(0, 2) as Array<string>,
    )
    const second = yield* feed.next({ after: first.upTo, account_id, limit: 2 }, LONG)
    assert.deepStrictEqual(
      second.events.map(({ stream_id }) => stream_id as string),
      emails.slice(2) as Array<string>,
    )
    const third = yield* feed.next({ after: second.upTo, account_id, limit: 2 }, NO_WAIT)
    assert.deepStrictEqual(third.events, [])
  })

  it.effect("ends a page with the event that reaches its bytes", function* () {
    const feed = yield* EventFeed.EventFeed
    const account_id = id("AccountId")
    for (const _ of [1, 2, 3]) yield* Webhooks.acceptEmail(account_id)
    const positions = yield* positionsInLog(account_id)
    const seen: Array<bigint> = []
    for (let page = yield* feed.next({ after: 0n, account_id, max_bytes: 1 }, NO_WAIT); ;) {
      seen.push(...page.events.map(({ position }) => position))
      assert.deepStrictEqual([page.events.length, page.more], [1, seen.length < positions.length])
      if (!page.more) break
      page = yield* feed.next({ after: page.upTo, account_id, max_bytes: 1 }, NO_WAIT)
    }
    assert.deepStrictEqual(seen, positions)
  })

  it.effect("is woken by another node's commits, and not by other accounts", function* () {
    const feed = yield* EventFeed.EventFeed
    const account_id = id("AccountId")
    const elsewhere = yield* otherNode
    const waiting = yield* Effect.forkChild(feed.next({ after: 0n, account_id }, VERY_LONG))
    yield* World.until(
      Effect.sync(() => feed.waiting()),
      (readers) => readers === 1,
    )
    yield* Webhooks.acceptEmail(id("AccountId"))
    yield* Effect.sleep(Duration.millis(300))
    assert.isUndefined(waiting.pollUnsafe())
    const email_id = yield* Effect.provideService(Webhooks.acceptEmail(account_id), EventStore, elsewhere)
    // Returns long before its wait is over, because it was woken.
    const page = yield* Effect.timeout(Fiber.join(waiting), Duration.divideUnsafe(VERY_LONG, 10))
    assert.deepStrictEqual(
      page.events.map(({ stream_id }) => stream_id as string),
      [email_id as string],
    )
    assert.strictEqual(feed.waiting(), 0)
  })

  it.effect("keeps waiting for the requested types, and ends empty after the wait", function* () {
    const feed = yield* EventFeed.EventFeed
    const account_id = id("AccountId")
    const query = { after: 0n, account_id, types: ["EmailOpened"] }
    const waiting = yield* Effect.forkChild(feed.next(query, LONG))
    const email_id = yield* Webhooks.acceptEmail(account_id)
    yield* Effect.sleep(Duration.millis(300))
    assert.isUndefined(waiting.pollUnsafe())
    yield* Webhooks.appendOpened(account_id, email_id)
    const page = yield* Fiber.join(waiting)
    assert.deepStrictEqual(
      page.events.map(({ type }) => type),
      ["EmailOpened"],
    )
    const empty = yield* feed.next({ ...query, after: page.upTo }, Duration.millis(200))
    assert.deepStrictEqual(empty.events, [])
    assert.isTrue(empty.upTo >= page.upTo)
  })

  it.effect("limits waiting readers per account, and answers further ones at once", function* () {
    const feed = yield* EventFeed.EventFeed
    const account_id = id("AccountId")
    const readers = yield* Effect.forEach(Array.from({ length: FeedReaders.MAX_WAITING_PER_ACCOUNT }), () =>
      Effect.forkChild(feed.next({ after: 0n, account_id }, LONG)),
    )
    yield* World.until(
      Effect.sync(() => feed.waiting()),
      (waiting) => waiting === readers.length,
    )
    const refused = yield* feed.next({ after: 0n, account_id }, LONG)
    assert.deepStrictEqual(refused.events, [])
    yield* Webhooks.acceptEmail(account_id)
    const pages = yield* Fiber.joinAll(readers)
    assert.isTrue(pages.every(({ events }) => events.length === 1))
    assert.strictEqual(feed.waiting(), 0)
  })

  it.effect("removes a reader that disconnects", function* () {
    const feed = yield* EventFeed.EventFeed
    const reader = yield* Effect.forkChild(feed.next({ after: 0n, account_id: id("AccountId") }, LONG))
    yield* World.until(
      Effect.sync(() => feed.waiting()),
      (waiting) => waiting === 1,
    )
    yield* Fiber.interrupt(reader)
    assert.strictEqual(feed.waiting(), 0)
  })

  it.effect("streams existing and new events from a position", function* () {
    const feed = yield* EventFeed.EventFeed
    const account_id = id("AccountId")
    yield* Webhooks.acceptEmail(account_id)
    const [first] = yield* positionsInLog(account_id)
    const seen = streamOf(feed, { after: first ?? 0n, account_id }).pipe(
      Stream.flatMap(({ events }) => Stream.fromIterable(events)),
      Stream.take(3),
      Stream.runCollect,
    )
    const reading = yield* Effect.forkChild(seen)
    for (let n = 0; n < 3; n++) yield* Webhooks.acceptEmail(account_id)
    const events = yield* Fiber.join(reading)
    assert.deepStrictEqual(
      events.map(({ position }) => position),
      (yield* positionsInLog(account_id)).slice(1),
    )
  })

  // threat: memory-budgets
  it.effect("streams large events in small steps, so that a stream that nobody reads holds little", function* () {
    const feed = yield* EventFeed.EventFeed
    const account_id = id("AccountId")
    for (let nth = 0; nth < 12; nth++) yield* Webhooks.acceptEmail(account_id, largeRecipients())
    const [first] = yield* Stream.runCollect(Stream.take(streamOf(feed, { after: 0n, account_id }), 1))
    const chars = first?.events.map(({ data }) => JSON.stringify(data).length) ?? []
    assert.isAtLeast(chars.length, 2)
    assert.isBelow(
      chars.reduce((sum, each) => sum + each, 0),
      2 * EventFeed.STREAM_PAGE_BYTES,
    )
    assert.isTrue(first?.more)
  })

  it.effect("ends streams and waits when its node stops", function* () {
    const scope = yield* Scope.make()
    const built = yield* Layer.buildWithScope(Layer.fresh(EventFeed.EventFeed.layer), scope)
    const feed = Context.get(built, EventFeed.EventFeed)
    const account_id = id("AccountId")
    const stream = yield* Effect.forkChild(Stream.runDrain(streamOf(feed, { after: 0n, account_id })))
    const reader = yield* Effect.forkChild(feed.next({ after: 0n, account_id }, LONG))
    yield* World.until(
      Effect.sync(() => feed.waiting()),
      (waiting) => waiting === 2,
    )
    yield* Scope.close(scope, Exit.void)
    yield* Fiber.join(stream)
    assert.deepStrictEqual((yield* Fiber.join(reader)).events, [])
  })

  it.effect("limits open streams per account, whether they are read or not", function* () {
    const feed = yield* EventFeed.EventFeed
    const open = feed.stream({ after: 0n, account_id: id("AccountId") })
    const refused = Effect.gen(function* () {
      for (let nth = 0; nth < EventFeed.MAX_STREAMS_PER_ACCOUNT; nth++) yield* open
      return yield* Effect.flip(open)
    })
    for (const _ of ["first", "after their scope has closed"])
      assert.strictEqual((yield* Effect.scoped(refused))._tag, "TooManyStreams")
  })
})

const WRITERS = 8
const WRITES = 40

layer(Feeds, { excludeTestServices: true })("readers with concurrent writers", (it) => {
  it.effect(
    "see every event once and in order, whatever commits late or not at all",
    function* () {
      const sql = yield* Sql
      const feed = yield* EventFeed.EventFeed
      const accounts = [id("AccountId"), id("AccountId"), id("AccountId")]
      const stores = [yield* EventStore, yield* otherNode, yield* otherNode]
      let writing = true

      const write = (writer: number) =>
        Effect.forEach(
          Array.from({ length: WRITES }, (_, n) => n),
          (n) =>
            Effect.gen(function* () {
              const account_id = accounts[(writer + n) % accounts.length] ?? id("AccountId")
              const email_id = yield* Webhooks.acceptEmail(account_id)
              if (n % 3 === 0) yield* Webhooks.appendOpened(account_id, email_id)
              // Gaps in the positions: allocated, held for a while, and never committed.
              if (n % 5 === 0) {
                yield* Effect.ignore(
                  sql.withTransaction(
                    Effect.andThen(sql`SELECT nextval('event_position'), pg_sleep(0.005)`, Effect.fail("rolled back")),
                  ),
                )
              }
            }),
          { discard: true },
        ).pipe(
          Effect.provideService(EventStore, stores[writer % stores.length] ?? (stores[0] as EventStore["Service"])),
        )

      const read = Effect.fnUntraced(function* (account_id: AccountId, limit: number) {
        const seen: Array<bigint> = []
        let after = 0n
        while (true) {
          const last = !writing
          const page = yield* feed.next({ after, account_id, limit }, last ? NO_WAIT : Duration.millis(200))
          seen.push(...page.events.map(({ position }) => position))
          after = page.upTo
          if (last && page.events.length === 0) return seen
        }
      })

      const readers = yield* Effect.forEach(accounts, (account_id) =>
        Effect.forEach([1, 3, 1000], (limit) => Effect.forkChild(read(account_id, limit))),
      )
      const streamed = yield* Effect.forEach(accounts, (account_id) =>
        Effect.gen(function* () {
          const seen: Array<bigint> = []
          const fiber = yield* streamOf(feed, { after: 0n, account_id }).pipe(
            Stream.runForEach(({ events }) =>
              Effect.sync(() => void seen.push(...events.map(({ position }) => position))),
            ),
            Effect.forkChild,
          )
          return { seen, fiber }
        }),
      )
      yield* Effect.forEach(
        Array.from({ length: WRITERS }, (_, n) => n),
        write,
        { concurrency: "unbounded", discard: true },
      )
      writing = false
      for (const [index, account_id] of accounts.entries()) {
        const log = yield* positionsInLog(account_id)
        assert.isAbove(log.length, (WRITERS * WRITES) / accounts.length - 5)
        for (const reader of readers[index] ?? []) assert.deepStrictEqual(yield* Fiber.join(reader), log)
        const stream = streamed[index]
        yield* World.until(
          Effect.sync(() => stream?.seen.length),
          (count) => (count ?? 0) >= log.length,
        )
        assert.deepStrictEqual(stream?.seen, log)
      }
      yield* Fiber.interruptAll(streamed.map(({ fiber }) => fiber))
    },
    60_000,
  )
})
