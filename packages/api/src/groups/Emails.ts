import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization, Bucket } from "../middleware/Authorization.ts"
import { Batch, BatchAnswer } from "../schemas/send/Batch.ts"
import { ScheduledAt } from "../schemas/EmailMessage.ts"
import { Sendable } from "../schemas/send/Sendable.ts"
import { EmailRecord, WithContent } from "../schemas/EmailRecord.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import * as Livemode from "../schemas/Livemode.ts"
import * as Receipt from "./history/Receipt.ts"
import { Validation } from "../middleware/Validation.ts"

/** The response to a send: exactly these three fields, for scheduled mail and replays too. */
export const Acknowledgement = Schema.Struct({
  id: Id.EmailId,
  status: Schema.Literal("queued"),
  created_at: Timestamp.Timestamp,
}).annotate({ identifier: "Acknowledgement" })
export type Acknowledgement = typeof Acknowledgement.Type

const params = { id: Id.EmailId }
const headers = Idempotency.headers

export class Emails extends HttpApiGroup.make("emails")
  .add(
    HttpApiEndpoint.post("send", "/email/send", {
      query: Livemode.query,
      headers,
      payload: Sendable,
      success: Idempotency.warning(Acknowledgement),
      error: ApiError.Unprocessable,
    })
      .annotateMerge(
        annotate(
          "Send an email",
          "email:send",
          "Accepts and queues a message. The response is sent once the message is stored durably; logs and webhooks report its delivery. A message without `html` and `text` is delivered empty, and so is a variable without a value in a template without a schema; the response has the header `Warning`.",
        ),
      )
      .annotate(Bucket, "send"),
    HttpApiEndpoint.post("sendBatch", "/email/send/batch", {
      query: Livemode.query,
      headers,
      payload: Batch,
      success: Idempotency.warning(BatchAnswer),
      error: ApiError.Unprocessable,
    })
      .annotateMerge(
        annotate(
          "Send a batch of emails",
          "email:send",
          "Counts as one request and as many emails. Accepts all messages or none, unless `mode` is `permissive`: then each index gets an acknowledgement or an error.",
        ),
      )
      .annotate(Bucket, "send"),
    HttpApiEndpoint.get("get", "/email/:id", {
      params,
      query: { ...Livemode.query, as_of: Schema.optionalKey(Timestamp.FromIso) },
      success: WithContent,
    }).annotateMerge(
      annotate(
        "Get an email with a sending key",
        ["email:logs:read", "email:send"],
        "The same as `GET /v1/email/logs/{id}`, also for a key without `email:logs:read`: it gets all of an email that it sent itself; of other mail, and of copies that a resend made, the fields for content and recipients are empty.",
      ),
    ),
    HttpApiEndpoint.get("receipt", "/email/:id/receipt", {
      params,
      query: { ...Livemode.query, redact: Schema.optionalKey(Receipt.Redacted) },
      success: Receipt.Receipt,
      error: ApiError.Unprocessable,
    }).annotateMerge(annotate("Get an email's receipt", "email:logs:read", Receipt.DESCRIPTION)),
    HttpApiEndpoint.post("cancel", "/email/:id/cancel", {
      params,
      query: Livemode.query,
      headers,
      success: Idempotency.replayable(EmailRecord),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Cancel an email",
        "email:send",
        "Possible while the email is queued; else, and during a delivery attempt, 422 `not_cancelable`. Canceled mail is refunded to the monthly quota, up to as much as the quota has. If nobody has received it, its content is removed within an hour. For a key without `email:logs:read`, the fields for content and recipients are empty.",
      ),
    ),
    HttpApiEndpoint.patch("reschedule", "/email/:id", {
      params,
      query: Livemode.query,
      payload: Schema.Struct({ scheduled_at: ScheduledAt }),
      success: EmailRecord,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Reschedule an email",
        "email:send",
        "Possible while the email is queued; else, and during a delivery attempt, 422 `not_cancelable`. For a key without `email:logs:read`, the fields for content and recipients are empty.",
      ),
    ),
    HttpApiEndpoint.post("resend", "/email/:id/resend", {
      params,
      query: Livemode.query,
      headers,
      success: Idempotency.warning(Acknowledgement),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Resend an email",
        "email:send",
        "Queues a copy with its own id for every recipient that the message did not reach and is no longer sent to: those that are bounced, failed, suppressed or canceled. Recipients that are queued or deferred are left out, because their delivery goes on. Possible while the content is kept.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Emails", description: "Send, cancel, reschedule and resend emails." }),
  ) {}
