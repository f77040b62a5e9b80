import type * as Aggregate from "@waybill/domain/values/Aggregate"
import { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result } from "effect"
import type { AnyAggregate, AnyEvent } from "../log/RecordedEvents.ts"
import type { Commit, View, Work } from "./Commit.ts"

export interface TypedAggregate<State, Event extends AnyEvent> extends AnyAggregate {
  readonly initial: State
  evolve(state: State, event: Event): State
}

/** Returns the work of one decision about one stream. A decision that changes nothing is answered with the present state. */
export const workOnStream = <State, Event extends AnyEvent, E, A>(
  aggregate: TypedAggregate<State, Event>,
  id: string,
  decide: (now: Timestamp.Timestamp, view: View) => Aggregate.Decide<State, Event, E | NothingNew>,
  answer: (state: State, version: number, now: Timestamp.Timestamp) => A,
  options: Pick<Commit<A, E>, "needs"> & { readonly isNew?: true } = {},
): Work<A, Exclude<E, NothingNew>> => {
  return {
    streams: [{ aggregate, id, ...(options.isNew === true ? { isNew: true } : {}) }],
    ...(options.needs === undefined ? {} : { needs: options.needs }),
    decide: (view) => {
      const state = view.state(aggregate, id)
      const now = view.now
      const version = view.version(id)
      const decided = decide(now, view)(state)
      if (Result.isSuccess(decided)) {
        const events = decided.success
        const after = events.reduce<State>((before, event) => aggregate.evolve(before, event), state)
        return Result.succeed({
          append: [{ aggregate, id, events }],
          answer: answer(after, version + events.length, now),
        })
      }
      const refusal = decided.failure
      return refusal instanceof NothingNew
        ? Result.succeed({ append: [], answer: answer(state, version, now) })
        : Result.fail(refusal as Exclude<E, NothingNew>)
    },
  }
}
