import * as Id from "@waybill/domain/Id"
import type { Detail } from "@waybill/domain/Refusal"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import * as ApiError from "./ApiError.ts"
import { EmailMessage } from "./EmailMessage.ts"
import * as Rules from "./Rules.ts"
import * as Violations from "./Violations.ts"

export const MAX_BATCH = 100

/** A message of a batch, or what is wrong with it: one bad message is the batch's trouble only if the mode says so. */
export type Judged = Result.Result<EmailMessage, Malformed>

/** Kept as it came beside what is wrong with it, so that another request under the same idempotency key is told apart. */
export interface Malformed {
  readonly details: ReadonlyArray<Detail>
  readonly json: unknown
}

const decode = Schema.decodeUnknownEffect(EmailMessage, { errors: "all" })
const encode = Schema.encodeEffect(EmailMessage)

/** In OpenAPI the items are EmailMessages (Document.ts); a schema that said so here would refuse them all together. */
const Item = Schema.Unknown.pipe(
  Schema.decodeTo(
    Schema.declare((u): u is Judged => Result.isResult(u)),
    SchemaTransformation.transformEffect<Judged, unknown>({
      decode: (json) =>
        Effect.result(
          Effect.mapError(decode(json), ({ issue }): Malformed => ({ details: Violations.fromIssue(issue), json })),
        ),
      encode: (judged) =>
        Result.isSuccess(judged)
          ? Effect.mapError(encode(judged.success), (error) => error.issue)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: "is not a message" })),
    }),
  ),
)

const Mode = Schema.Literals(["all_or_nothing", "permissive"])

export const Batch = Schema.Struct({
  emails: Schema.Array(Item).check(Rules.items(1, MAX_BATCH, "messages")),
  mode: Schema.NullOr(Mode)
    .annotate({ description: "`all_or_nothing` unless said otherwise; `permissive` answers each message by itself" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
}).annotate({ identifier: "Batch" })
export type Batch = typeof Batch.Type

/** One entry an index of the request: an acknowledgement, or why this message was refused. */
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
