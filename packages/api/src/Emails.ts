import * as Id from "@waybill/domain/Id"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as ApiError from "./ApiError.ts"
import { Authorization, Bucket } from "./Authorization.ts"
import { Batch, BatchAnswer } from "./Batch.ts"
import { EmailMessage, ScheduledAt } from "./EmailMessage.ts"
import { EmailRecord } from "./EmailRecord.ts"
import { about } from "./Endpoint.ts"
import * as Idempotency from "./Idempotency.ts"
import { Validation } from "./Validation.ts"

/** What a send answers: these three fields and no others, for scheduled mail and replays too. */
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
      headers,
      payload: EmailMessage,
      success: Idempotency.replayable(Acknowledgement),
      error: ApiError.Unprocessable,
    })
      .annotateMerge(
        about(
          "Send an email",
          "email:send",
          "Accepts a message and queues it. The answer comes when it is durably accepted; what became of it is in the logs and webhooks.",
        ),
      )
      .annotate(Bucket, "send"),
    HttpApiEndpoint.post("sendBatch", "/email/send/batch", {
      headers,
      payload: Batch,
      success: Idempotency.replayable(BatchAnswer),
      error: ApiError.Unprocessable,
    })
      .annotateMerge(
        about(
          "Send up to 100 emails",
          "email:send",
          "Counts as one request and as many emails. All or nothing, unless `mode` is `permissive`: then each index gets an acknowledgement or an error.",
        ),
      )
      .annotate(Bucket, "send"),
    HttpApiEndpoint.post("cancel", "/email/:id/cancel", {
      params,
      headers,
      success: Idempotency.replayable(EmailRecord),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Cancel an email",
        "email:send",
        "While it is queued; else 422 `not_cancelable`, also while it is being handed over. Canceled mail is given back to the monthly volume. A key without `email:logs:read` is not shown what the message says and to whom: those fields are empty.",
      ),
    ),
    HttpApiEndpoint.patch("reschedule", "/email/:id", {
      params,
      payload: Schema.Struct({ scheduled_at: ScheduledAt }),
      success: EmailRecord,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Reschedule an email",
        "email:send",
        "While it is queued; else 422 `not_cancelable`, also while it is being handed over. A key without `email:logs:read` is not shown what the message says and to whom: those fields are empty.",
      ),
    ),
    HttpApiEndpoint.post("resend", "/email/:id/resend", {
      params,
      headers,
      success: Idempotency.replayable(Acknowledgement),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Send an email again",
        "email:send",
        "Queues a copy, with an id of its own, for every recipient that the message has not reached, while its content is still kept.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Emails", description: "Sending, and what can be done while mail waits." }),
  ) {}
