import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

export const MAX_KEY_CHARS = 255

const Key = Schema.String.check(
  Schema.isPattern(new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_CHARS}}$`, "u"), {
    message: `must be 1 to ${MAX_KEY_CHARS} printable characters`,
  }),
).annotate({
  description:
    "Makes retries safe: for 24 hours, the same key on the same route returns the first response, with `Idempotent-Replayed: true`. A different body with the same key is 422 `idempotency_key_reused`.",
  examples: ["order-7041-receipt"],
})

/** Request header of every POST. */
export const headers = { "idempotency-key": Schema.optionalKey(Key) }
export interface Headers {
  readonly "idempotency-key"?: string
}

const replayed = {
  "idempotent-replayed": Schema.optionalKey(
    Schema.Literal("true").annotate({ description: "Present if this is the stored response to an earlier request" }),
  ),
}

/** Adds the header that marks a replayed response. */
export const replayable = <S extends Schema.Top>(success: S) => HttpApiSchema.WithHeaders(success, replayed)

/** Like `replayable`, for a response that may warn of what it has accepted. */
export const warning = <S extends Schema.Top>(success: S) =>
  HttpApiSchema.WithHeaders(success, { ...replayed, warning: Schema.optionalKey(Schema.String) })
