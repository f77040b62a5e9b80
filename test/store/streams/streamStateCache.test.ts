import * as Account from "@waybill/domain/account/Account"
import type { Address } from "@waybill/domain/values/Address"
import * as Domain from "@waybill/domain/domain/Domain"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { AccountId } from "@waybill/domain/values/Id"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Team from "@waybill/domain/account/Team"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import type * as WebhookState from "@waybill/domain/webhook/WebhookState"
import * as Erase from "@waybill/store/erasure/Erase"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as StreamStateCache from "@waybill/store/streams/StreamStateCache"
import * as Mask from "@waybill/store/erasure/Mask"
import type { AnyAggregate, AnyEvent } from "@waybill/store/log/RecordedEvents"
import { Context, Effect, Layer, Result } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { dkimKey, domainName, NOW } from "../../domain/values/examples.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id, opened, queued } from "../../support/history.ts"
import { type RandomNumbers, randomNumbers, pick } from "../rebuild/randomHistories.ts"

const WIDE: StreamStateCache.Limits = { streamEvents: 3, states: 100, chars: 100_000, stateChars: 100_000 }
const NARROW: StreamStateCache.Limits = { streamEvents: 2, states: 3, chars: 3_000, stateChars: 1_500 }

/** An event store with connections and a cache of its own, like that of another node. */
const node = Effect.fnUntraced(function* (cacheLimits: StreamStateCache.Limits = WIDE) {
  const database = yield* Database.Fresh
  const built = yield* Layer.build(
    EventStore.layer({ cacheLimits }).pipe(Layer.provide(Layer.fresh(Database.layerOf(database)))),
  )
  return Context.get(built, EventStore)
})
type Store = EventStore["Service"]

interface Stream {
  readonly aggregate: AnyAggregate & { readonly initial: unknown }
  readonly id: string
  readonly next: (roll: RandomNumbers) => AnyEvent
}

/** Appends random events and returns the version and the state that the decision saw. */
const append = (store: Store, account_id: AccountId, { aggregate, id, next }: Stream, roll: RandomNumbers) =>
  store.transact({
    account_id,
    streams: [{ aggregate, id }],
    decide: (view) => {
      const events = Array.from({ length: 1 + Math.floor(roll() * 2) }, () => next(roll))
      const answer = { version: view.version(id), state: view.state(aggregate, id) }
      return Result.succeed({ append: [{ aggregate, id, events }], answer })
    },
  })

/** One or two streams of each kind with random events. */
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
    // Two names, because domain names are unique in an account.
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
              url: "https://acme.test/hook" as WebhookState.WebhookSettings["url"],
              events: ["*"],
              description: null,
              format: "waybill",
              svix_headers: false,
              enabled: false,
              secret_ref: "signing:1",
              at: NOW,
            },
            {
              _tag: "WebhookUpdated",
              url: "https://acme.test/hook" as WebhookState.WebhookSettings["url"],
              events: ["email.bounced"],
              description: `${roll()}`,
              format: "waybill",
              svix_headers: false,
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

/** Changes of the log that no node notices: the end of a stream is lost, the whole stream is lost, its rows are rewritten. */
const hiddenChanges = (sql: Sql, account_id: AccountId, stream_id: string) => {
  const own = sql`account_id = ${account_id} AND stream_id = ${stream_id}`
  return [
    sql`DELETE FROM events WHERE ${own} AND version > (SELECT max(version) - 2 FROM events WHERE ${own})`,
    sql`DELETE FROM events WHERE ${own}`,
    // Changes an early event, but rewrites all rows, as an erasure does.
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
    it.effect(`of seed ${seed}: every node decides from all events of the log`, () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const roll = randomNumbers(seed)
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
          if (roll() < 0.5) yield* pick(hiddenChanges(sql, account_id, pick(streams, roll).id), roll)
        }
      }).pipe(Effect.scoped, Effect.orDie),
    )
})

const EVA = "eva@example.org" as Address
const ANA = "ana@example.org" as Address
const STAND_IN = Mask.replacement(Uint8Array.of(1))

layer(Database.layerFresh, { excludeTestServices: true })("an erased address", (it) => {
  const setUp = Effect.gen(function* () {
    const sql = yield* Sql
    const store = yield* node()
    const account_id = id("AccountId")
    yield* store.commit(Account, { account_id, stream_id: account_id }, Account.create(NOW, account_id, "Acme", "free"))
    /** Tables of read models, and the log, that hold the address. */
    const holders = Effect.filter(["members", "email_log", "email_log_terms", "suppressions", "events"], (table) =>
      Effect.map(
        sql`SELECT 1 AS found FROM ${sql(table)} t WHERE account_id::text IN (${account_id}, id_key(${account_id})::text)
          AND (strpos(t::text, ${EVA}) > 0 OR strpos(t::text, term_key('to:' || ${EVA})::text) > 0)`,
        (rows) => rows.length > 0,
      ),
    )
    return { sql, store, account_id, holders }
  })

  // threat: erased-people
  it.effect("does not come back with a team that a node has cached", () =>
    Effect.gen(function* () {
      const { account_id, holders, store } = yield* setUp
      const ref = { account_id, stream_id: Team.STREAM_ID }
      const [ana, eva] = [id("UserId"), id("UserId")]
      const rename = (nth: number) => Team.changeRole(NOW, ana, nth % 2 === 0 ? "viewer" : "member")
      yield* store.commit(Team, ref, Team.invite(NOW, { user_id: ana, email: ANA, name: "Ana", role: "member" }))
      yield* store.commit(Team, ref, Team.invite(NOW, { user_id: eva, email: EVA, name: "Eva", role: "viewer" }))
      yield* store.commit(Team, ref, Team.remove(NOW, eva))
      for (let nth = 0; nth < 4; nth++) yield* store.commit(Team, ref, rename(nth))
      assert.deepStrictEqual(yield* holders, ["members", "events"])
      yield* Erase.erase(EVA, STAND_IN)
      const team = yield* store.commit(Team, ref, rename(4))
      assert.deepStrictEqual(
        [...team.members, ...team.former].map(({ email }) => email),
        [ANA, STAND_IN],
      )
      assert.deepStrictEqual(yield* holders, [])
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("does not come back with an email that a node has cached", () =>
    Effect.gen(function* () {
      const { account_id, holders, store } = yield* setUp
      const email_id = id("EmailId")
      const ref = { account_id, stream_id: email_id }
      const mail = queued(email_id, { to: [{ address: EVA }, { address: "ana@example.org" }] })
      yield* store.commit(Email, ref, () => Result.succeed([mail]))
      yield* store.commit(Email, ref, EmailReport.recordDelivered(NOW, EVA, DeliveryOutcome.NO_RESPONSE))
      yield* store.commit(Email, ref, EmailReport.recordDelivered(NOW, ANA, DeliveryOutcome.NO_RESPONSE))
      for (let nth = 0; nth < 4; nth++) yield* store.commit(Email, ref, () => Result.succeed([opened()]))
      const held = yield* holders
      assert.include(held, "events")
      // By the hash of the address, in the row of the log or among the further recipients.
      assert.isTrue(held.includes("email_log") !== held.includes("email_log_terms"))
      yield* Erase.erase(EVA, STAND_IN)
      const state = yield* store.commit(Email, ref, () => Result.succeed([opened()]))
      assert.deepStrictEqual(state._tag === "Message" && state.recipients.map(({ address }) => address), [
        STAND_IN,
        ANA,
      ])
      assert.deepStrictEqual(yield* holders, [])
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("is erased when the stream of its account is long", () =>
    Effect.gen(function* () {
      const { account_id, sql, store } = yield* setUp
      const ref = { account_id, stream_id: account_id }
      const many = Array.from({ length: StreamStateCache.MAX_STREAM_EVENTS_IN_BATCH }, (_, nth): Account.Event => ({
        _tag: "RetentionChanged",
        content_days: nth,
        at: NOW,
      }))
      yield* store.commit(Account, ref, () => Result.succeed(many as [Account.Event]))
      const suppressed = { account_id, stream_id: Suppression.streamId(EVA) }
      yield* store.commit(Suppression, suppressed, Suppression.add(NOW, id("SuppressionId"), EVA, "manual", null))
      const { accounts } = yield* Erase.erase(EVA, STAND_IN)
      assert.deepStrictEqual(accounts.get(account_id), { streams: 1, events: 1 })
      const [row] = yield* sql`SELECT version FROM accounts WHERE account_id = ${account_id}`
      assert.deepStrictEqual(row, { version: StreamStateCache.MAX_STREAM_EVENTS_IN_BATCH + 2 })
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("does not come back with a suppression that a node has cached", () =>
    Effect.gen(function* () {
      const { account_id, holders, store } = yield* setUp
      const ref = { account_id, stream_id: Suppression.streamId(EVA) }
      for (let nth = 0; nth < 3; nth++) {
        yield* store.commit(Suppression, ref, Suppression.add(NOW, id("SuppressionId"), EVA, "manual", null))
        yield* store.commit(Suppression, ref, Suppression.remove(NOW))
      }
      yield* store.commit(Suppression, ref, Suppression.add(NOW, id("SuppressionId"), EVA, "manual", null))
      yield* Erase.erase(EVA, STAND_IN)
      const refused = yield* Effect.flip(store.commit(Suppression, ref, Suppression.remove(NOW)))
      assert.strictEqual(refused._tag, "SuppressionNotFound")
      assert.deepStrictEqual(yield* holders, [])
    }).pipe(Effect.scoped, Effect.orDie),
  )
})
