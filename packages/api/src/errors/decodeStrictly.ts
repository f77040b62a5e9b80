import { Effect, Schema } from "effect"
import * as Excess from "./Excess.ts"
import * as Violations from "./Violations.ts"

/** Reports all violations; refuses an unknown field, because it is probably a misspelled one. */
const STRICT = { errors: "all", onExcessProperty: "error", reportInput: true } as const

/**
 * Returns a decoder of what a client sent, or of its violations. Numbers are checked before elements are decoded, so an
 * invalid value takes no longer than a valid one; a large one in a turn of the event loop of its own. `otherwise` is the advice for an unknown field that is near to no known
 * one.
 */
export const decodeStrictly = <A, R>(schema: Schema.Codec<A, unknown, R>, otherwise?: string) => {
  const decode = Schema.decodeUnknownEffect(schema, STRICT)
  return (sent: unknown): Effect.Effect<A, Violations.Violations, R> => {
    const { details, isLarge, more, value } = Excess.bound(schema, sent)
    const excess: Violations.Violations = { details, unknown: undefined, more }
    const decoding = isLarge ? Effect.andThen(Effect.yieldNow, decode(value)) : decode(value)
    return Effect.matchEffect(decoding, {
      onFailure: ({ issue }) => Effect.fail(Violations.join([Violations.fromIssue(issue, otherwise), excess])),
      onSuccess: (decoded) => (Violations.isNone(excess) ? Effect.succeed(decoded) : Effect.fail(excess)),
    })
  }
}
