import { PgClient } from "@effect/sql-pg"
import type { Decide } from "@waybill/domain/stream/Aggregate"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Id from "@waybill/domain/values/Id"
import { Context, Effect, Layer, Result, Schedule, type Scope } from "effect"
import { type Consequences, live } from "./Consequences.ts"
import * as Epoch from "../postgres/Epoch.ts"
import type { Rules } from "./CommitBatch.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as IdBytes from "../postgres/IdBytes.ts"
import type { FeedPage, FeedQuery, Ledger, LedgerError, StreamRef } from "./LogStorage.ts"
import * as StreamStateCache from "../streams/StreamStateCache.ts"
import * as PipelinedConnection from "../postgres/PipelinedConnection.ts"
import * as LongStreams from "../streams/LongStreams.ts"
import * as MemoryLogStorage from "./MemoryLogStorage.ts"
import * as PostgresLogStorage from "./PostgresLogStorage.ts"
import { Replica } from "../postgres/Replica.ts"
import type { ReadModel } from "../readmodels/ReadModel.ts"
import { readModels } from "../readmodels/ReadModels.ts"
import { type AnyAggregate, type AnyEvent, decode, fold, type Recorded, type Stored } from "./RecordedEvents.ts"
import * as Span from "../postgres/Span.ts"
import type { Committed, IdempotencyKeyReused, LeaseLost, Unit } from "./Commit.ts"

interface TypedAggregate<State, Event extends AnyEvent> extends AnyAggregate {
  readonly initial: State
  evolve(state: State, event: Event): State
}

export interface Loaded<State> {
  readonly state: State
  readonly version: number
  readonly history: ReadonlyArray<Recorded>
}

/** Where facts are kept: the only way to append to the log. Trouble with the database is a defect, a refusal a value. */
export class EventStore extends Context.Service<
  EventStore,
  {
    readonly load: <State, Event extends AnyEvent>(
      aggregate: TypedAggregate<State, Event>,
      ref: StreamRef,
    ) => Effect.Effect<Loaded<State>>
    /** What a stream has come to, without its history, which may be long. */
    readonly state: <State, Event extends AnyEvent>(
      aggregate: TypedAggregate<State, Event>,
      ref: StreamRef,
    ) => Effect.Effect<State>
    /** One decision about one stream: `store.commit(Email, ref, Email.cancel(now))`. Answers with the new state. */
    readonly commit: <State, Event extends AnyEvent, E>(
      aggregate: TypedAggregate<State, Event>,
      ref: StreamRef,
      decide: Decide<State, Event, E>,
    ) => Effect.Effect<State, E>
    /** Several streams, facts of other streams, an idempotency key, content, leases: all or nothing. */
    readonly transact: <A, E>(unit: Unit<A, E>) => Effect.Effect<Committed<A>, E | IdempotencyKeyReused | LeaseLost>
    /** The log in order; never skips, never repeats. */
    readonly feed: (query: FeedQuery) => Effect.Effect<FeedPage>
  }
>()("@waybill/store/commit/EventStore") {
  static readonly layer = (options: Options = {}) =>
    Layer.effect(
      EventStore,
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { wrote } = yield* Replica
        const line = yield* PipelinedConnection.make(sql, PipelinedConnection.BY_KEY_ALONE, Epoch.enter)
        return yield* make(PostgresLogStorage.make(sql, line, options.readModels ?? readModels, wrote), options)
      }),
    )

  /** The same store over a log in memory, for tests that need no database. */
  static readonly layerMemory = (options: Options = {}) =>
    Layer.effect(
      EventStore,
      Effect.suspend(() => make(MemoryLogStorage.make(options.readModels ?? readModels), options)),
    )
}

export interface Options {
  readonly readModels?: ReadonlyArray<ReadModel>
  readonly consequences?: Consequences
  readonly keeping?: StreamStateCache.Limits
}

const READ_TRIES = 3

/** A read does no harm twice: a pooled connection that died meanwhile is none of the reader's business. */
const patiently = <A>(read: Effect.Effect<A, LedgerError>): Effect.Effect<A> =>
  read.pipe(
    Effect.retry({
      while: (error) => error._tag === "OutcomeUnknown" || error._tag === "TryAgain",
      schedule: Schedule.exponential("20 millis"),
      times: READ_TRIES,
    }),
    Effect.orDie,
  )

const shapes = { schemaVersion: DomainEvent.schemaVersion, upcast: DomainEvent.upcast }

export const rules = (consequences: Consequences, keeping?: StreamStateCache.Limits): Rules => ({
  shapes,
  consequences,
  kept: StreamStateCache.make(keeping),
  nextEventId: (epochMillis) => Id.make("EventId", epochMillis, IdBytes.next()),
  nextDeliveryId: (epochMillis) => Id.make("WebhookDeliveryId", epochMillis, IdBytes.next()),
})

const make = Effect.fnUntraced(function* (
  ledger: Ledger,
  options: Options,
): Effect.fn.Return<EventStore["Service"], never, Scope.Scope> {
  const own = rules(options.consequences ?? live, options.keeping)
  const group = yield* GroupCommit.make({ ledger, ...own })
  return EventStore.of({
    load: Effect.fn("EventStore.load")(function* (aggregate, ref) {
      const stored = yield* patiently(ledger.streams([ref]))
      const rows: ReadonlyArray<Stored> = stored.values().next().value ?? []
      const history = rows.map((row) => decode(aggregate, shapes, row))
      return { state: fold(aggregate, history) as never, version: history.length, history }
    }),
    state: Effect.fn("EventStore.state")(function* (aggregate, ref) {
      return (yield* patiently(LongStreams.read(own, ledger.streams, { ...ref, aggregate }))).state as never
    }),
    commit: (aggregate, ref, decide) =>
      group
        .submit({
          account_id: ref.account_id,
          streams: [{ aggregate, id: ref.stream_id }],
          decide: (view) => {
            const state = view.state(aggregate, ref.stream_id)
            return Result.map(decide(state), (events) => ({
              append: [{ aggregate, id: ref.stream_id, events }],
              answer: events.reduce((next, event) => aggregate.evolve(next, event), state),
            }))
          },
        })
        .pipe(
          Effect.flatMap((committed) =>
            committed._tag === "Committed" ? Effect.succeed(committed.answer) : Effect.die("replayed without a claim"),
          ),
          // A unit without a claim and without a lease is refused by its own decision only.
          Effect.mapError((refusal) => refusal as Exclude<typeof refusal, IdempotencyKeyReused | LeaseLost>),
          (committed) => Span.around(committed, "EventStore.commit"),
        ),
    transact: (unit) => Span.around(group.submit(unit), "EventStore.transact"),
    feed: (query) => patiently(ledger.feed(query)),
  })
})
