import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import * as ApiError from "../../errors/ApiError.ts"
import { Sendable } from "./Sendable.ts"
import * as Checks from "../Checks.ts"
import { decodeStrictly } from "../../errors/decodeStrictly.ts"
import type * as Violations from "../../errors/Violations.ts"

export const MAX_BATCH = 100

/** A message of a batch, or the errors in it. In permissive mode one bad message does not fail the batch. */
export type DecodedMessage = Result.Result<Sendable, Malformed>

/**
 * A message that did not decode. It keeps the JSON, so that a different body under the same idempotency key is
 * detected.
 */
export interface Malformed {
  readonly violations: Violations.Violations
  readonly json: unknown
}

const decode = decodeStrictly(Sendable)
const encode = Schema.encodeEffect(Sendable)

/**
 * Accepts anything, so that one invalid message does not fail the decoding of the batch. OpenAPI shows the messages
 * instead (Document.ts).
 */
const Item = Schema.Unknown.pipe(
  Schema.decodeTo(
    Schema.declare((u): u is DecodedMessage => Result.isResult(u)),
    SchemaTransformation.transformEffect<DecodedMessage, unknown>({
      decode: (json) => Effect.result(Effect.mapError(decode(json), (violations): Malformed => ({ violations, json }))),
      encode: (decoded) =>
        Result.isSuccess(decoded)
          ? Effect.mapError(encode(decoded.success), (error) => error.issue)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: "is not a message" })),
    }),
  ),
)

const Mode = Schema.Literals(["all_or_nothing", "permissive"])

export const Batch = Schema.Struct({
  emails: Schema.Array(Item).check(Checks.items(1, MAX_BATCH, "messages")),
  mode: Schema.NullOr(Mode)
    .annotate({ description: "`all_or_nothing` by default; `permissive` accepts or refuses each message separately" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
}).annotate({ identifier: "Batch", message: 'must be an object with the messages in it: {"emails": […]}' })
export type Batch = typeof Batch.Type

/** One entry per index of the request: an acknowledgement, or the error of this message. */
export const BatchResult = Schema.Struct({
  index: Schema.Natural,
  id: Schema.NullOr(Id.EmailId),
  status: Schema.NullOr(Schema.Literal("queued")),
  created_at: Schema.NullOr(Timestamp.Timestamp),
  error: Schema.NullOr(ApiError.Body.fields.error),
}).annotate({ identifier: "BatchResult" })
export type BatchResult = typeof BatchResult.Type

export const BatchAnswer = Schema.Struct({
  object: Schema.Literal("batch"),
  data: Schema.Array(BatchResult),
}).annotate({ identifier: "BatchAnswer" })
export type BatchAnswer = typeof BatchAnswer.Type
