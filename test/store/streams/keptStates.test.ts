import { assert, describe, it, layer } from "@effect/vitest"
import * as Account from "@waybill/domain/account/Account"
import type { Address } from "@waybill/domain/values/Address"
import * as Domain from "@waybill/domain/domain/Domain"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Team from "@waybill/domain/account/Team"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import { PgClient } from "@effect/sql-pg"
import * as Erase from "@waybill/store/erasure/Erase"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as StreamState from "@waybill/store/streams/StreamState"
import * as StreamStateCache from "@waybill/store/streams/StreamStateCache"
import * as Mask from "@waybill/store/erasure/Mask"
import type { AnyAggregate, AnyEvent, Read } from "@waybill/store/commit/RecordedEvents"
import { Context, Effect, HashMap, Layer, Result } from "effect"
import { dkimKey, domainName, NOW } from "../../domain/examples.ts"
import * as Database from "../../support/postgres/database.ts"
import { id, opened, queued } from "../../support/history.ts"
import { type Dice, dice, pick } from "../rebuild/replayHistories.ts"

const ROOMY: StreamStateCache.Limits = { history: 3, states: 100, chars: 100_000, stateChars: 100_000 }
const NARROW: StreamStateCache.Limits = { history: 2, states: 3, chars: 3_000, stateChars: 1_500 }

/** A store with connections and a memory of its own, as another node has. */
const node = Effect.fnUntraced(function* (keeping: StreamStateCache.Limits = ROOMY) {
  const database = yield* Database.Fresh
  const built = yield* Layer.build(
    EventStore.layer({ keeping }).pipe(Layer.provide(Layer.fresh(Database.layerOf(database)))),
  )
  return Context.get(built, EventStore)
})
type Store = EventStore["Service"]

interface Stream {
  readonly aggregate: AnyAggregate & { readonly initial: unknown }
  readonly id: string
  readonly next: (roll: Dice) => AnyEvent
}

/** Appends, and answers with what it saw before. */
const append = (store: Store, account_id: AccountId, { aggregate, id, next }: Stream, roll: Dice) =>
  store
    .transact({
      account_id,
      streams: [{ aggregate, id }],
      decide: (view) => {
        const events = Array.from({ length: 1 + Math.floor(roll() * 2) }, () => next(roll))
        const answer = { version: view.version(id), state: view.state(aggregate, id) }
        return Result.succeed({ append: [{ aggregate, id, events }], answer })
      },
    })
    .pipe(Effect.flatMap((done) => (done._tag === "Committed" ? Effect.succeed(done.answer) : Effect.die("replayed"))))

/** One stream of each kind, and two of some; what happens to them is whatever happens. */
const streamsOf = (account_id: AccountId): ReadonlyArray<Stream> => {
  const email = (email_id = id("EmailId")): Stream => ({
    aggregate: Email,
    id: email_id,
    next: (roll) => pick([queued(email_id), opened(), opened()], roll),
  })
  const domain = (name: string, domain_id = id("DomainId")): Stream => ({
    aggregate: Domain,
    id: domain_id,
    next: (roll) =>
      pick<Domain.Event>(
        [
          {
            _tag: "DomainAdded",
            domain_id,
            name: domainName(name),
            dkim: dkimKey(),
            transport: null,
            next_check_at: NOW,
            at: NOW,
          },
          { _tag: "DomainTrackingChanged", opens: roll() < 0.5, clicks: roll() < 0.5, at: NOW },
          { _tag: "DkimRotated", dkim: dkimKey(), next_check_at: NOW, at: NOW },
        ],
        roll,
      ),
  })
  const webhook_id = id("WebhookId")
  const members = [id("UserId"), id("UserId"), id("UserId")]
  const address = `${account_id}@example.org` as Address
  return [
    email(),
    email(),
    // An account has a name once.
    domain("acme.test"),
    domain("other.test"),
    {
      aggregate: Webhook,
      id: webhook_id,
      next: (roll) =>
        pick<Webhook.Event>(
          [
            {
              _tag: "WebhookCreated",
              webhook_id,
              url: "https://acme.test/hook" as Webhook.Settings["url"],
              events: ["*"],
              description: null,
              enabled: false,
              secret_ref: "signing:1",
              at: NOW,
            },
            {
              _tag: "WebhookUpdated",
              url: "https://acme.test/hook" as Webhook.Settings["url"],
              events: ["email.bounced"],
              description: `${roll()}`,
              at: NOW,
            },
          ],
          roll,
        ),
    },
    {
      aggregate: Team,
      id: Team.STREAM_ID,
      next: (roll) => {
        const user_id = pick(members, roll)
        const invited: Team.Event = {
          _tag: "MemberInvited",
          user_id,
          email: `${user_id}@example.org` as Address,
          name: `${roll()}`,
          role: "viewer",
          at: NOW,
        }
        return pick<Team.Event>([invited, { _tag: "MemberRemoved", user_id, at: NOW }], roll)
      },
    },
    {
      aggregate: Suppression,
      id: address,
      next: (roll) => {
        const suppression_id = id("SuppressionId")
        const added = { suppression_id, address, reason: "manual", email_id: null, at: NOW } as const
        return pick<Suppression.Event>(
          [
            { _tag: "SuppressionAdded", ...added },
            { _tag: "SuppressionRemoved", suppression_id, address, at: NOW },
          ],
          roll,
        )
      },
    },
    {
      aggregate: Account,
      id: account_id,
      next: (roll) =>
        pick<Account.Event>(
          [
            { _tag: "AccountCreated", account_id, name: `${roll()}`, plan: "free", at: NOW },
            { _tag: "RetentionChanged", content_days: Math.floor(roll() * 100), at: NOW },
          ],
          roll,
        ),
    },
  ]
}

/** What becomes of a log when nobody looks: its end is lost and goes on in another way, it is gone, or written anew. */
const happenings = (sql: PgClient.PgClient, account_id: AccountId, stream_id: string) => {
  const own = sql`account_id = ${account_id} AND stream_id = ${stream_id}`
  return [
    sql`DELETE FROM events WHERE ${own} AND version > (SELECT max(version) - 2 FROM events WHERE ${own})`,
    sql`DELETE FROM events WHERE ${own}`,
    // Only an early one says something else, but all are written.
    sql`
      UPDATE events SET data = CASE
        WHEN type = 'RetentionChanged' AND version < 6 THEN jsonb_set(data, '{content_days}', '7')
        WHEN type = 'MemberInvited' AND version < 6 THEN jsonb_set(data, '{name}', '"masked"')
        ELSE data END
      WHERE ${own}`,
  ]
}

const ROUNDS = 40
const AT_ONCE = 8

layer(Database.layerFresh, { excludeTestServices: true, timeout: "120 seconds" })("random histories", (it) => {
  for (const seed of [1, 2, 3])
    it.effect(`of seed ${seed} are decided about, on any node, by all that was in the log`, () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const roll = dice(seed)
        const nodes = [yield* node(), yield* node(), yield* node(NARROW)]
        const reader = yield* node()
        const account_id = id("AccountId")
        const streams = streamsOf(account_id)
        for (let round = 0; round < ROUNDS; round++) {
          const decided = yield* Effect.forEach(
            Array.from({ length: AT_ONCE }, () => [pick(nodes, roll), pick(streams, roll)] as const),
            ([store, stream]) =>
              Effect.map(append(store, account_id, stream, roll), (seen) => ({ stream, seen, by: store })),
            { concurrency: "unbounded" },
          )
          for (const { by, seen, stream } of decided) {
            const ref = { account_id, stream_id: stream.id }
            const { history, state } = yield* reader.load(stream.aggregate, ref)
            const before = history.slice(0, seen.version).map(({ event }) => event)
            assert.deepStrictEqual(
              seen.state,
              before.reduce((state, event) => stream.aggregate.evolve(state, event), stream.aggregate.initial),
            )
            assert.deepStrictEqual(yield* by.state(stream.aggregate, ref), state)
          }
          if (roll() < 0.5) yield* pick(happenings(sql, account_id, pick(streams, roll).id), roll)
        }
      }).pipe(Effect.scoped, Effect.orDie),
    )
})

const HERS = "eva@example.org" as Address
const ANAS = "ana@example.org" as Address
const STAND_IN = Mask.standIn(Uint8Array.of(1))

layer(Database.layerFresh, { excludeTestServices: true })("what was taken out of a history", (it) => {
  const setUp = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const store = yield* node()
    const account_id = id("AccountId")
    yield* store.commit(Account, { account_id, stream_id: account_id }, Account.create(NOW, account_id, "Acme", "free"))
    /** Tables of read models, and the log, that hold the address. */
    const holders = Effect.filter(["members", "email_log", "email_log_terms", "suppressions", "events"], (table) =>
      Effect.map(
        sql`SELECT 1 AS found FROM ${sql(table)} t WHERE account_id = ${account_id} AND strpos(t::text, ${HERS}) > 0`,
        (rows) => rows.length > 0,
      ),
    )
    return { sql, store, account_id, holders }
  })

  it.effect("does not come back with the team that a node knew", () =>
    Effect.gen(function* () {
      const { account_id, holders, store } = yield* setUp
      const ref = { account_id, stream_id: Team.STREAM_ID }
      const [ana, eva] = [id("UserId"), id("UserId")]
      const rename = (nth: number) => Team.changeRole(NOW, ana, nth % 2 === 0 ? "viewer" : "member")
      yield* store.commit(Team, ref, Team.invite(NOW, { user_id: ana, email: ANAS, name: "Ana", role: "member" }))
      yield* store.commit(Team, ref, Team.invite(NOW, { user_id: eva, email: HERS, name: "Eva", role: "viewer" }))
      yield* store.commit(Team, ref, Team.remove(NOW, eva))
      for (let nth = 0; nth < 4; nth++) yield* store.commit(Team, ref, rename(nth))
      assert.deepStrictEqual(yield* holders, ["members", "events"])
      yield* Erase.erase(HERS, STAND_IN)
      const team = yield* store.commit(Team, ref, rename(4))
      assert.deepStrictEqual(
        [...team.members, ...HashMap.values(team.former)].map(({ email }) => email),
        [ANAS, STAND_IN],
      )
      assert.deepStrictEqual(yield* holders, [])
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("does not come back with the mail that a node knew", () =>
    Effect.gen(function* () {
      const { account_id, holders, store } = yield* setUp
      const email_id = id("EmailId")
      const ref = { account_id, stream_id: email_id }
      const mail = queued(email_id, { to: [{ address: HERS }, { address: "ana@example.org" }] })
      yield* store.commit(Email, ref, () => Result.succeed([mail]))
      yield* store.commit(Email, ref, Email.recordDelivered(NOW, HERS, DeliveryOutcome.SILENCE))
      yield* store.commit(Email, ref, Email.recordDelivered(NOW, ANAS, DeliveryOutcome.SILENCE))
      for (let nth = 0; nth < 4; nth++) yield* store.commit(Email, ref, () => Result.succeed([opened()]))
      assert.deepStrictEqual(yield* holders, ["email_log", "email_log_terms", "events"])
      yield* Erase.erase(HERS, STAND_IN)
      const state = yield* store.commit(Email, ref, () => Result.succeed([opened()]))
      assert.deepStrictEqual(state._tag === "Message" && state.recipients.map(({ address }) => address), [
        STAND_IN,
        ANAS,
      ])
      assert.deepStrictEqual(yield* holders, [])
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("goes, too, where the history that tells of it is long", () =>
    Effect.gen(function* () {
      const { account_id, sql, store } = yield* setUp
      const ref = { account_id, stream_id: account_id }
      const many = Array.from({ length: StreamStateCache.MAX_HISTORY_IN_FLIGHT }, (_, nth): Account.Event => ({
        _tag: "RetentionChanged",
        content_days: nth,
        at: NOW,
      }))
      yield* store.commit(Account, ref, () => Result.succeed(many as [Account.Event]))
      const suppressed = { account_id, stream_id: Suppression.streamId(HERS) }
      yield* store.commit(Suppression, suppressed, Suppression.add(NOW, id("SuppressionId"), HERS, "manual", null))
      const { accounts } = yield* Erase.erase(HERS, STAND_IN)
      assert.deepStrictEqual(accounts.get(account_id), { streams: 1, events: 1 })
      const [row] = yield* sql`SELECT version FROM accounts WHERE account_id = ${account_id}`
      assert.deepStrictEqual(row, { version: StreamStateCache.MAX_HISTORY_IN_FLIGHT + 2 })
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("does not come back with the suppression that a node knew", () =>
    Effect.gen(function* () {
      const { account_id, holders, store } = yield* setUp
      const ref = { account_id, stream_id: Suppression.streamId(HERS) }
      for (let nth = 0; nth < 3; nth++) {
        yield* store.commit(Suppression, ref, Suppression.add(NOW, id("SuppressionId"), HERS, "manual", null))
        yield* store.commit(Suppression, ref, Suppression.remove(NOW))
      }
      yield* store.commit(Suppression, ref, Suppression.add(NOW, id("SuppressionId"), HERS, "manual", null))
      yield* Erase.erase(HERS, STAND_IN)
      const refused = yield* Effect.flip(store.commit(Suppression, ref, Suppression.remove(NOW)))
      assert.strictEqual(refused._tag, "SuppressionNotFound")
      assert.deepStrictEqual(yield* holders, [])
    }).pipe(Effect.scoped, Effect.orDie),
  )
})

describe("a history goes on from what is known of it", () => {
  const row = (event_id: string, xmin: string) => ({ event_id, xmin }) as unknown as Read
  const known: StreamState.Folded = { ...StreamState.unread(Email), version: 7, last: row("evt_7", "100") }

  it("where the last event that is known stands in the row in which it stood", () => {
    assert.isTrue(StreamState.goesOn(known, [row("evt_7", "100"), row("evt_8", "101")]))
    assert.isTrue(StreamState.goesOn(StreamState.unread(Email), []))
  })
  it("not where it is gone, or another stands there, as after a failover that gives transactions their numbers again", () => {
    assert.isFalse(StreamState.goesOn(known, []))
    assert.isFalse(StreamState.goesOn(known, [row("evt_8", "100")]))
  })
  it("not where it was written anew, as an erasure does", () => {
    assert.isFalse(StreamState.goesOn(known, [row("evt_7", "102")]))
  })
})

describe("kept states", () => {
  const folded = (version: number, chars: number): StreamState.Folded => ({
    aggregate: Email,
    version,
    // With its quotes as long as that.
    state: "x".repeat(chars - 2),
    last: { event_id: id("EventId"), xmin: "1" },
  })
  const read = (chars: number) => ({ data: { text: "x".repeat(chars - '{"text":""}'.length) } }) as unknown as Read
  const known = (kept: StreamStateCache.KeptStates, ...keys: ReadonlyArray<string>) =>
    keys.filter((key) => kept.find(key, Email) !== undefined)

  it("are those of long streams", () => {
    const kept = StreamStateCache.make({ history: 3, states: 9, chars: 900, stateChars: 900 })
    kept.keep("short", folded(3, 10))
    kept.keep("long", folded(4, 10))
    assert.deepStrictEqual(known(kept, "short", "long"), ["long"])
    assert.isUndefined(kept.find("long", Domain))
  })

  it("are so many, of which those go first that were asked for longest ago", () => {
    const kept = StreamStateCache.make({ history: 0, states: 3, chars: 900, stateChars: 900 })
    for (const key of ["a", "b", "c"]) kept.keep(key, folded(1, 10))
    kept.find("a", Email)
    kept.keep("d", folded(1, 10))
    assert.deepStrictEqual(known(kept, "a", "b", "c", "d"), ["a", "c", "d"])
  })

  it("are so long together, by what they were and all that has happened since", () => {
    const kept = StreamStateCache.make({ history: 0, states: 9, chars: 100, stateChars: 60 })
    for (const key of ["a", "b", "c"]) kept.keep(key, folded(1, 30))
    assert.deepStrictEqual(known(kept, "a", "b", "c"), ["a", "b", "c"])
    kept.goOn("c", folded(2, 30), [read(500), read(20)])
    assert.deepStrictEqual(known(kept, "a", "b", "c"), ["b", "c"])
    kept.goOn("c", folded(3, 30), [read(20), read(20)])
    assert.deepStrictEqual(known(kept, "a", "b", "c"), ["b"])
    kept.keep("d", folded(9, 61))
    kept.keep("e", folded(9, 60))
    assert.deepStrictEqual(known(kept, "b", "d", "e"), ["b", "e"])
  })

  it("are forgotten with their length", () => {
    const kept = StreamStateCache.make({ history: 0, states: 9, chars: 60, stateChars: 60 })
    kept.keep("a", folded(1, 60))
    kept.forget("a")
    kept.forget("a")
    kept.keep("b", folded(1, 30))
    kept.keep("b", folded(1, 30))
    kept.keep("c", folded(1, 30))
    assert.deepStrictEqual(known(kept, "a", "b", "c"), ["b", "c"])
  })
})
