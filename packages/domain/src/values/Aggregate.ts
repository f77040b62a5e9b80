import type { Array, Result, Schema } from "effect"

/**
 * The interface of a decider. A domain module exports these four names, so the module itself is passed as the value:
 * `store.commit(Email, id, Email.cancel(now))`.
 */
export interface Aggregate<State, Event extends { readonly _tag: string }> {
  /** The kind of stream as used in URLs, tables and screens, such as "email" or "domain". */
  readonly stream: string
  readonly Event: Schema.Codec<Event, unknown>
  readonly initial: State
  readonly evolve: (state: State, event: Event) => State
}

/**
 * A decision: returns the events that follow from the state, or a refusal. It never reads a clock or a random source.
 */
export type Decide<State, Event, Error = never> = (
  state: State,
) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>
