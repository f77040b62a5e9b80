import { CurrentKey } from "@waybill/api/Authorization"
import type * as KeyLimits from "@waybill/domain/account/KeyLimits"
import type * as Aggregate from "@waybill/domain/stream/Aggregate"
import type { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type {
  IdempotencyKeyReused as IdempotencyKeyReusedInStore,
  LeaseLost,
  Commit,
  View,
} from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { Claim } from "@waybill/store/idempotency/Claim"
import type { AnyEvent } from "@waybill/store/commit/RecordedEvents"
import { Effect, Result } from "effect"

/** The work of a request in one transaction: streams to load, a decision, events to append. */
export type Work<A, E> = Omit<Commit<A, E>, "account_id" | "idempotency">

/** The store and account that a request commits to. */
export interface Target {
  readonly store: EventStore["Service"]
  readonly account_id: Claim["account_id"]
  /** The domain that the caller's key is bound to. */
  readonly domain: KeyLimits.BoundDomain
}

/** The target of the request in progress. */
export const currentTarget = Effect.gen(function* (): Effect.fn.Return<Target, never, EventStore | CurrentKey> {
  const { account_id, domain } = yield* CurrentKey
  return { store: yield* EventStore, account_id, domain }
})

/** Commits work that may be repeated without harm and needs no idempotency key, such as PATCH and DELETE. */
export const commit = <A, E>(work: Work<A, E>) => Effect.flatMap(currentTarget, (target) => commitTo(target, work))

export const commitTo = <A, E>({ account_id, store }: Target, work: Work<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.catch(store.transact<A, E>({ ...work, account_id }), withoutStoreErrors<E>), (committed) =>
    committed._tag === "Committed" ? Effect.succeed(committed.answer) : Effect.die("replayed without a claim"),
  )

/** Keeps the work's own errors; those of claims and leases cannot occur here and are bugs. */
export const withoutStoreErrors = <E>(error: E | IdempotencyKeyReusedInStore | LeaseLost): Effect.Effect<never, E> =>
  hasTag(error, "IdempotencyKeyReused") || hasTag(error, "LeaseLost") ? Effect.die(error) : Effect.fail(error as E)

export const hasTag = (error: unknown, tag: string): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === tag

interface Decider<State, Event extends AnyEvent> extends Aggregate.Aggregate<State, Event> {}

/** Returns the work of one decision about one stream. A decision that changes nothing is answered with the present state. */
export const onStream = <State, Event extends AnyEvent, E, A>(
  aggregate: Decider<State, Event>,
  id: string,
  decide: (now: Timestamp.Timestamp, view: View) => Aggregate.Decide<State, Event, E | NothingNew>,
  answer: (state: State, version: number, now: Timestamp.Timestamp) => A,
  options: Pick<Commit<A, E>, "needs"> & { readonly isNew?: true } = {},
): Work<A, Exclude<E, NothingNew>> => {
  const erased = aggregate as never
  return {
    streams: [{ aggregate: erased, id, ...(options.isNew === true ? { isNew: true } : {}) }],
    ...(options.needs === undefined ? {} : { needs: options.needs }),
    decide: (view) => {
      const state = view.state<State>(erased, id)
      const now = view.now as Timestamp.Timestamp
      const version = view.version(id)
      const decided = decide(now, view)(state)
      if (Result.isSuccess(decided)) {
        const events = decided.success
        const after = events.reduce<State>((before, event) => aggregate.evolve(before, event), state)
        return Result.succeed({
          append: [{ aggregate: erased, id, events }],
          answer: answer(after, version + events.length, now),
        })
      }
      const refusal = decided.failure
      return hasTag(refusal, "NothingNew")
        ? Result.succeed({ append: [], answer: answer(state, version, now) })
        : Result.fail(refusal as Exclude<E, NothingNew>)
    },
  }
}
