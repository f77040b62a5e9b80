import type { Aggregate, Decide } from "@waybill/domain/values/Aggregate"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { type Array, Result, Schema } from "effect"
import { assert } from "./effectTest.ts"

interface Tagged {
  readonly _tag: string
}

const fold = <State, Event extends Tagged>(
  aggregate: Aggregate<State, Event>,
  events: ReadonlyArray<Event>,
  from = aggregate.initial,
): State => events.reduce<State>((state, event) => aggregate.evolve(state, event), from)

/**
 * Tests a decider as a sentence: given this history, when that is decided, it appends these events or refuses with that
 * reason. Appended events must also survive encoding as JSON, as the log stores them.
 */
export const given = <State, Event extends Tagged>(
  aggregate: Aggregate<State, Event>,
  ...history: ReadonlyArray<Event>
) => {
  const before = fold(aggregate, history)
  return {
    state: before,
    when: <Error extends Refusal>(decide: Decide<State, Event, Error>) => {
      const verdict = decide(before)
      const events = Result.isSuccess(verdict) ? verdict.success : []
      return {
        appends: (...expected: Array.NonEmptyReadonlyArray<Event>) => {
          if (Result.isFailure(verdict)) assert.fail(`refused: ${verdict.failure.message}`)
          assert.deepStrictEqual(events, expected)
          assert.deepStrictEqual(throughJson(aggregate, events), expected)
        },
        /** Compares only the types of the events. */
        appendsOnly: (...tags: ReadonlyArray<Event["_tag"]>) => {
          if (Result.isFailure(verdict)) assert.fail(`refused: ${verdict.failure.message}`)
          assert.deepStrictEqual<ReadonlyArray<string>>(
            events.map(({ _tag }) => _tag),
            tags,
          )
          assert.deepStrictEqual(throughJson(aggregate, events), events)
        },
        refuses: (expected: Pick<Refusal, "status" | "reason"> & { readonly message?: string }): Error => {
          if (Result.isSuccess(verdict)) return assert.fail(`appended ${events.map(({ _tag }) => _tag).join(", ")}`)
          const { status, reason, message } = verdict.failure
          assert.deepStrictEqual({ status, reason }, { status: expected.status, reason: expected.reason })
          if (expected.message !== undefined) assert.strictEqual(message, expected.message)
          return verdict.failure
        },
        /** Folds the history with the decision's events, and passes the state on. */
        leads: (look: (after: State) => void) => {
          if (Result.isFailure(verdict)) assert.fail(`refused: ${verdict.failure.message}`)
          look(fold(aggregate, events, before))
        },
      }
    },
  }
}

const throughJson = <State, Event extends Tagged>(
  { Event }: Aggregate<State, Event>,
  events: ReadonlyArray<Event>,
): ReadonlyArray<Event> => {
  const codec = Schema.toCodecJson(Schema.Array(Event))
  const text = JSON.stringify(Schema.encodeSync(codec)(events))
  return Schema.decodeUnknownSync(codec)(JSON.parse(text))
}

/** Folds a history through decisions, none of which may refuse. */
export const happened = <State, Event extends Tagged>(
  aggregate: Aggregate<State, Event>,
  history: ReadonlyArray<Event>,
  ...decisions: ReadonlyArray<Decide<State, Event, Refusal>>
): ReadonlyArray<Event> => {
  const events = [...history]
  for (const decide of decisions) {
    const verdict = decide(fold(aggregate, events))
    if (Result.isFailure(verdict)) return assert.fail(`refused: ${verdict.failure.message}`)
    events.push(...verdict.success)
  }
  return events
}
