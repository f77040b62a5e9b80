import type { Array, Result, Schema } from "effect"

/**
 * The shape of a decider. A domain module exports these four names, so the module itself is the value that is
 * passed: `store.commit(Email, id, Email.cancel(now))`.
 */
export interface Aggregate<State, Event extends { readonly _tag: string }> {
  /** The kind of stream, as it stands in URLs, tables and screens: "email", "domain". */
  readonly stream: string
  readonly Event: Schema.Codec<Event, unknown>
  readonly initial: State
  readonly evolve: (state: State, event: Event) => State
}

/** A decision looks at the state and says what happened, or refuses. It never reads a clock or a random source. */
export type Decide<State, Event, Error = never> = (
  state: State,
) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>

export const fold = <State, Event extends { readonly _tag: string }>(
  aggregate: Aggregate<State, Event>,
  events: Iterable<Event>,
  from: State = aggregate.initial,
): State => {
  let state = from
  for (const event of events) state = aggregate.evolve(state, event)
  return state
}
