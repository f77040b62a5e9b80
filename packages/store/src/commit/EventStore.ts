import type { Decide } from "@waybill/domain/values/Aggregate"
import type { NothingNew } from "@waybill/domain/values/Refusal"
import { Context, Effect, Exit, Layer, Schedule, type Scope } from "effect"
import * as Span from "@waybill/runtime/flow/Span"
import * as DirectoryPart from "./DirectoryPart.ts"
import * as RoutedClient from "../routing/RoutedClient.ts"
import { placeHere } from "../routing/TablePlace.ts"
import * as PerDatabase from "../routing/PerDatabase.ts"
import type { Availability } from "../availability/Availability.ts"
import { EventKinds, type EventKindsShape } from "../feed/EventKinds.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as PipelinedConnection from "../database/PipelinedConnection.ts"
import { Replica } from "../feed/Replica.ts"
import type * as BatchTables from "./BatchTables.ts"
import { readLongStream } from "./readLongStream.ts"
import type { StreamState } from "../streams/StreamState.ts"
import * as StreamStateCache from "../streams/StreamStateCache.ts"
import * as BatchAttempt from "./BatchAttempt.ts"
import {
  type AnyCommit,
  answerOf,
  type Commit,
  type CommitDeps,
  type CommitOutcome,
  type PendingCommit,
  type Transact,
} from "./Commit.ts"
import { type TypedAggregate, workOnStream } from "./workOnStream.ts"
import * as GroupCommit from "./GroupCommit.ts"
import type { Committed } from "../idempotency/IdempotencyRef.ts"
import type { FeedPage, FeedQuery } from "../feed/Feed.ts"
import type { LogStorage, LogTransaction } from "./LogStorage.ts"
import { Sql } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { StorageError } from "../postgres/StorageError.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import type { StreamRef } from "../log/StreamRef.ts"
import * as PostgresLogStorage from "./PostgresLogStorage.ts"
import { Provenance } from "../log/Provenance.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"

// A commit, in order:
// 1. `EventStore.layer` has a store for each database, and `ofAccounts` uses that of the account.
// 2. `GroupCommit` makes a batch of the commits that wait.
// 3. `CommitBatch` runs the batch in one transaction, and chooses the recovery from an error.
// 4. `PostgresLogStorage` begins it: locks the accounts, checks that they are still here.
// 5. `BatchAttempt` reads stored answers, streams and `Facts` in one round trip, then lets one commit after the other decide.
// 6. `BatchWrites` collects their events, and the rows that follow from them in each of the `BatchTables`.
// 7. `PostgresLogStorage` writes all of it in one round trip, with the COMMIT.
// 8. Each caller gets its own outcome. Reads of one stream (`load`, `state`) and of the log (`feed`) pass by all this.

export interface Loaded<State> {
  readonly state: State
  readonly version: number
  readonly history: ReadonlyArray<RecordedEvents.Recorded>
}

/** The event log: its readers, and the only way to append to it. A database that cannot be used, and a refusal, are errors. */
export class EventStore extends Context.Service<
  EventStore,
  {
    readonly load: <State, Event extends RecordedEvents.AnyEvent>(
      aggregate: TypedAggregate<State, Event>,
      ref: StreamRef,
    ) => Effect.Effect<Loaded<State>, StoreUnavailable>
    /** Returns the state of a stream without its history, which may be long. */
    readonly state: <State, Event extends RecordedEvents.AnyEvent>(
      aggregate: TypedAggregate<State, Event>,
      ref: StreamRef,
    ) => Effect.Effect<State, StoreUnavailable>
    /** Returns the state of a stream of large events for `known` of a commit, so that the batch reads only what is new. */
    readonly known: <State, Event extends RecordedEvents.AnyEvent>(
      aggregate: TypedAggregate<State, Event>,
      ref: StreamRef,
    ) => Effect.Effect<StreamState<State>, StoreUnavailable>
    /**
     * Commits one decision about one stream, as in `store.commit(Email, ref, Email.cancel(now))`; returns the new state, which
     * is the present one if nothing is new.
     */
    readonly commit: <State, Event extends RecordedEvents.AnyEvent, E>(
      aggregate: TypedAggregate<State, Event>,
      ref: StreamRef,
      decide: Decide<State, Event, E>,
    ) => Effect.Effect<State, Exclude<E, NothingNew> | StoreUnavailable>
    readonly transact: Transact
    /** Reads the log in order; no event is skipped or repeated. */
    readonly feed: (query: FeedQuery) => Effect.Effect<FeedPage, StoreUnavailable>
  }
>()("@waybill/store/commit/EventStore") {
  static readonly layer = (options: Options = {}) =>
    Layer.effect(
      EventStore,
      Effect.gen(function* () {
        const sql = yield* Sql
        const { noteCommit } = yield* Replica
        const stores = yield* PerDatabase.make(
          Effect.gen(function* () {
            const client = yield* RoutedClient.here(sql)
            const connection = yield* PipelinedConnection.make(
              client,
              PipelinedConnection.BY_KEY_NESTED_LOOPS,
              Epoch.enter,
            )
            const storage = PostgresLogStorage.make({
              sql: client,
              connection,
              ...(options.tables === undefined ? {} : { tables: options.tables }),
              onCommitted: noteCommit,
              directory: yield* DirectoryPart.make(client.driver, sql),
              place: yield* placeHere,
            })
            return yield* make(storage, options)
          }),
        )
        return ofAccounts(stores)
      }),
    )
}

/** Returns the two ways to commit: a decision about one stream is a commit of that stream alone. */
const committing = (transact: Transact): Pick<EventStore["Service"], "commit" | "transact"> => ({
  transact,
  commit: (aggregate, { account_id, stream_id }, decide) =>
    transact({
      account_id,
      ...workOnStream(
        aggregate,
        stream_id,
        () => decide,
        (state) => state,
      ),
    }),
})

/** Uses the store of the account that a call is about. */
const ofAccounts = (
  stores: PerDatabase.PerDatabase<EventStore["Service"], StoreUnavailable>,
): EventStore["Service"] => {
  const storeOf = stores.of
  return EventStore.of({
    load: (aggregate, ref) => Effect.flatMap(storeOf(ref.account_id), (store) => store.load(aggregate, ref)),
    state: (aggregate, ref) => Effect.flatMap(storeOf(ref.account_id), (store) => store.state(aggregate, ref)),
    known: (aggregate, ref) => Effect.flatMap(storeOf(ref.account_id), (store) => store.known(aggregate, ref)),
    ...committing(((commit: Commit<unknown, unknown>) =>
      Effect.flatMap(storeOf(commit.account_id), (store) => store.transact(commit))) as Transact),
    feed: (query) =>
      Effect.flatMap(query.account_id === undefined ? stores.here : storeOf(query.account_id), (store) =>
        store.feed(query),
      ),
  })
}

export interface Options {
  readonly tables?: typeof BatchTables.all
  readonly cacheLimits?: StreamStateCache.Limits
}

const READ_TRIES = 3
/** Events of half a megabyte each that are read in one step. */
const LARGE_EVENTS_PER_STEP = 16

/** Retries a read on another connection when its connection was lost. */
const retryRead = <A>(read: Effect.Effect<A, StorageError>): Effect.Effect<A, StoreUnavailable> =>
  read.pipe(
    Effect.retry({
      while: (error) => error._tag === "OutcomeUnknown" || error._tag === "TryAgain",
      schedule: Schedule.exponential("20 millis"),
      times: READ_TRIES,
    }),
    Effect.catch(SqlErrors.outcomeOf),
  )

export const makeDeps = (
  cacheLimits?: StreamStateCache.Limits,
  kinds: EventKindsShape = { isOpen: () => true },
): CommitDeps => ({
  kinds,
  cache: StreamStateCache.make(cacheLimits),
})

/**
 * Decides and writes one commit inside a transaction that its caller has begun, which must be exclusive to the account.
 * For work such as an erasure, whose other writes belong to the same transaction.
 */
export const appendInTransaction = Effect.fnUntraced(function* <A, E>(
  transaction: LogTransaction,
  commit: Commit<A, E>,
): Effect.fn.Return<A, E | StorageError, EventKinds> {
  const pending: PendingCommit = {
    commit: commit as Commit<unknown, unknown>,
    provenance: yield* Provenance,
    waitingSince: 0,
    complete: () => {},
    progress: { phase: "waiting" },
    // No batch follows for which the commit could be set aside: a long stream is read inside this transaction.
    wasSetAside: true,
  }
  const deps = makeDeps(undefined, yield* EventKinds)
  const { outcomes } = yield* BatchAttempt.attempt(deps, transaction, [pending])
  const outcome: CommitOutcome = outcomes.get(pending) ?? Exit.die(new Error("the commit has no outcome"))
  return yield* answerOf(outcome as Exit.Exit<Committed<A>, E>)
})

/** Makes the store of one database on its log. */
export const make = Effect.fnUntraced(function* (
  storage: LogStorage,
  options: Options,
): Effect.fn.Return<EventStore["Service"], StoreUnavailable, Availability | EventKinds | Scope.Scope> {
  const deps = makeDeps(options.cacheLimits, yield* EventKinds)
  const group = yield* GroupCommit.make({ storage, ...deps })
  return EventStore.of({
    load: Effect.fn("EventStore.load")(function* (aggregate, ref) {
      const streams = yield* retryRead(storage.readStreams([ref]))
      const rows: ReadonlyArray<RecordedEvents.Stored> = streams.values().next().value ?? []
      const history = rows.map((row) => RecordedEvents.decode(aggregate, row))
      return { state: RecordedEvents.fold(aggregate, history) as never, version: history.length, history }
    }),
    state: Effect.fn("EventStore.state")(function* (aggregate, ref) {
      return (yield* retryRead(readLongStream(deps, storage.readStreams, { ...ref, aggregate }))).state as never
    }),
    known: Effect.fn("EventStore.known")(function* (aggregate, ref) {
      const read = readLongStream(deps, storage.readStreams, { ...ref, aggregate }, LARGE_EVENTS_PER_STEP)
      return (yield* retryRead(read)) as StreamState<never>
    }),
    ...committing(((commit: AnyCommit<unknown, unknown>) => {
      const submitted: Effect.Effect<unknown, unknown> =
        commit.idempotency === undefined ? answerOf(group.submit(commit)) : group.submit(commit)
      return Span.around(submitted, "EventStore.transact")
    }) as Transact),
    feed: (query) => retryRead(storage.feed(query)),
  })
})
