import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization } from "../../middleware/Authorization.ts"
import { annotate } from "../../middleware/annotate.ts"
import * as Checks from "../../schemas/Checks.ts"
import * as Livemode from "../../schemas/Livemode.ts"
import * as Page from "../../schemas/Page.ts"
import { Validation } from "../../middleware/Validation.ts"

export const MAX_PATH_FILTER_CHARS = 200
export const MAX_STATUS_FILTERS = 10

const STATUS = /^[1-5](?:xx|[0-9]{2})$/u

const Statuses = Checks.codeList(
  "statuses",
  MAX_STATUS_FILTERS,
  (text) => STATUS.test(text),
  "One or several statuses or classes of statuses, separated by commas",
  ["404", "4xx"],
)

const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"] as const

export const RequestRecord = Schema.Struct({
  object: Schema.Literal("request"),
  id: Id.RequestId.annotateKey({ description: "Also in `X-Request-Id` of the response" }),
  method: Schema.String.annotate({ examples: ["POST"] }),
  path: Schema.String.annotate({ examples: ["/v1/email/send"] }),
  query: Schema.NullOr(Schema.String).annotateKey({ description: "Query without its `?`, with secrets masked" }),
  status: Schema.NullOr(Schema.Int).annotateKey({ description: "`null` if the client left before the response" }),
  reason: Schema.NullOr(Schema.String).annotateKey({ description: "The `reason` of a refusal" }),
  api_key_id: Schema.NullOr(Id.ApiKeyId),
  user_id: Schema.NullOr(Id.UserId).annotateKey({ description: "User whose dashboard sent the request" }),
  address: Schema.String.annotate({ description: "IP address of the caller" }),
  duration_ms: Schema.Int.annotate({ description: "Time from the request to the end of the response" }),
  body_bytes: Schema.Int.annotate({ description: "Size of the body as it was sent" }),
  livemode: Livemode.field("False for a request with a test key, or about test mail in the dashboard"),
  created_at: Timestamp.Timestamp,
}).annotate({ identifier: "Request" })
export type RequestRecord = typeof RequestRecord.Type

export const RequestDetail = Schema.Struct({
  ...RequestRecord.fields,
  body: Schema.NullOr(Schema.String).annotateKey({
    description: "The first 16 KB of a JSON body, with secrets and the content of messages masked",
  }),
  answer: Schema.NullOr(Schema.String).annotateKey({
    description:
      "The first 4 KB of the answer to a request that changed something or was refused, with secrets masked; `null` for others",
  }),
  email_ids: Schema.Array(Id.EmailId).annotateKey({ description: "Messages that the request made" }),
}).annotate({ identifier: "RequestDetail" })
export type RequestDetail = typeof RequestDetail.Type

/** Counts of calls that the log does not hold, because its bounds were reached. */
export const NotKept = Schema.Struct({
  date: Schema.String.annotate({ description: "Day in UTC", examples: ["2026-11-28"] }),
  count: Schema.Int,
}).annotate({ identifier: "RequestsNotKept" })

const filter = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)

export class Requests extends HttpApiGroup.make("requests")
  .add(
    HttpApiEndpoint.get("list", "/requests", {
      query: {
        ...Livemode.query,
        limit: Page.limit(),
        after: filter(Id.RequestId),
        status: filter(Statuses),
        method: filter(Schema.Literals(METHODS)),
        path: filter(
          Schema.String.check(Checks.chars(MAX_PATH_FILTER_CHARS, 1), Checks.oneLine).annotate({
            description: "A path, or how paths begin",
            examples: ["/v1/email/send", "/v1/domains"],
          }),
        ),
        api_key_id: filter(Id.ApiKeyId),
        request_id: filter(Id.RequestId),
        recipient: filter(
          Address.FromText.annotate({
            description:
              "A recipient of refused requests: those with the address among their first 50 in `to`, `cc` and `bcc`, as far as the body was read",
          }),
        ),
        created_after: filter(Timestamp.FromIso),
        created_before: filter(Timestamp.FromIso),
      },
      success: Schema.Struct({
        ...Page.of(RequestRecord).fields,
        not_kept: Schema.Array(NotKept).annotateKey({
          description:
            "Days on which requests of the account (of the key, if it is bound to a domain) were counted and not kept, because they reached the bounds of the log; newest first",
        }),
      }),
    }).annotateMerge(
      annotate(
        "List requests",
        "email:logs:read",
        "API requests of the account, also refused ones, newest first. Requests appear about a second after their response and are kept for 7 days, unless the operator has set another period. Requests by which the dashboard reads are left out. Beyond what the log keeps of a key and an account in a minute and a day, requests are counted in `not_kept`. A key that is bound to a domain sees its own requests.",
      ),
    ),
    HttpApiEndpoint.get("get", "/requests/:id", {
      params: { id: Id.RequestId },
      query: Livemode.query,
      success: RequestDetail,
    }).annotateMerge(
      annotate(
        "Get a request",
        "email:logs:read",
        "The request with its masked body and answer, and the messages that it made.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Requests", description: "The log of API requests, for finding out what was sent." }),
  ) {}
