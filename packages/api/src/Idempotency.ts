import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

export const MAX_KEY_CHARS = 255

const Key = Schema.String.check(
  Schema.isPattern(new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_CHARS}}$`, "u"), {
    message: `must be 1 to ${MAX_KEY_CHARS} printable characters`,
  }),
).annotate({
  description:
    "Makes a retry safe: for 24 hours the same key on the same route answers as the first time, with `Idempotent-Replayed: true`. Another body under it is 422 `idempotency_key_reused`.",
  examples: ["order-7041-receipt"],
})

/** On any POST. */
export const headers = { "idempotency-key": Schema.optionalKey(Key) }
export interface Headers {
  readonly "idempotency-key"?: string
}

/** What a POST answers: a replayed answer says that it is one. */
export const replayable = <S extends Schema.Top>(success: S) =>
  HttpApiSchema.WithHeaders(success, {
    "idempotent-replayed": Schema.optionalKey(
      Schema.Literal("true").annotate({ description: "Present when this is the kept answer to an earlier request" }),
    ),
  })
