import { Effect, Schema } from "effect"
import * as Excess from "./Excess.ts"
import * as Violations from "./Violations.ts"

/** Reports all violations; refuses an unknown field, because it is probably a misspelled one. */
const STRICT = { errors: "all", onExcessProperty: "error", reportInput: true } as const

/**
 * Returns a decoder of what a client sent, or of its violations. Numbers are checked before elements are decoded, so an
 * invalid value takes no longer than a valid one; a large one in a turn of the event loop of its own. `otherwise` is the
 * advice for an unknown field that is near to no known one.
 */
export const decodeStrictly = <A, R>(schema: Schema.Codec<A, unknown, R>, otherwise?: string) => {
  // Compiled, unlike one that looks for unknown fields or for all violations, which explains what this one refuses.
  const decode = Schema.decodeUnknownEffect(schema)
  const explain = Schema.decodeUnknownEffect(schema, STRICT)
  return (sent: unknown): Effect.Effect<A, Violations.Violations, R> => {
    const { details, isExceeded, isLarge, more, value } = Excess.bound(schema, sent)
    const excess: Violations.Violations = { details, unknown: undefined, more }
    const explained = () =>
      Effect.matchEffect(explain(value), {
        onFailure: ({ issue }) => Effect.fail(Violations.join([Violations.fromIssue(issue, otherwise), excess])),
        onSuccess: (decoded) => (Violations.isNone(excess) ? Effect.succeed(decoded) : Effect.fail(excess)),
      })
    const decoded = () => (isExceeded ? explained() : Effect.catch(decode(value), explained))
    // Decoders begin when they are called.
    return isLarge ? Effect.flatMap(Effect.yieldNow, decoded) : decoded()
  }
}
