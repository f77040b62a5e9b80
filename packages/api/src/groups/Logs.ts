import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/domain/DomainName"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization, Bucket } from "../Authorization.ts"
import { EmailRecord, WithContent } from "../schemas/EmailRecord.ts"
import { annotate } from "../annotate.ts"
import { EventRecord } from "../schemas/EventRecord.ts"
import * as Page from "../schemas/Page.ts"
import * as Checks from "../schemas/Checks.ts"
import { Validation } from "../errors/Validation.ts"

export const MAX_SUBJECT_FILTER_CHARS = 200
export const MAX_TAG_FILTERS = 5

const isStatus = Schema.is(EmailStatus.Status)

/** One or several statuses, separated by commas. */
const Statuses = Schema.String.annotate({
  description: `One or several of ${EmailStatus.ALL.join(", ")}, separated by commas`,
  examples: ["delivered", "bounced,failed"],
}).pipe(
  Schema.decodeTo(
    Schema.Array(EmailStatus.Status),
    SchemaTransformation.transformEffect<ReadonlyArray<EmailStatus.Status>, string>({
      decode: (text) => {
        const words = text.split(",").map((word) => word.trim())
        const unknown = words.find((word) => !isStatus(word))
        return unknown === undefined
          ? Effect.succeed(words.filter(isStatus))
          : Effect.fail(
              new SchemaIssue.InvalidValue({ message: `takes one or several of ${EmailStatus.ALL.join(", ")}` }),
            )
      },
      encode: (statuses) => Effect.succeed(statuses.join(",")),
    }),
  ),
)

const filter = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)

export const LogQuery = Schema.Struct({
  limit: Page.limit(),
  status: filter(Statuses),
  after: filter(Id.EmailId),
  before: filter(Id.EmailId),
  to: filter(Address.FromText),
  from: filter(Address.FromText),
  subject: filter(Schema.String.check(Checks.chars(MAX_SUBJECT_FILTER_CHARS, 1), Checks.oneLine)),
  tag: filter(Schema.Array(Schema.String.check(Checks.oneLine)).check(Checks.items(1, MAX_TAG_FILTERS, "tags"))),
  domain: filter(DomainName.FromText),
  created_after: filter(Timestamp.FromIso),
  created_before: filter(Timestamp.FromIso),
}).check(
  Schema.makeFilter(
    ({ after, before }) =>
      after === undefined || before === undefined || { path: ["before"], issue: "cannot be combined with `after`" },
  ),
)
export type LogQuery = typeof LogQuery.Type

const params = { id: Id.EmailId }

export class Logs extends HttpApiGroup.make("logs")
  .add(
    HttpApiEndpoint.get("list", "/email/logs", { query: LogQuery, success: Page.of(EmailRecord) })
      .annotateMerge(
        annotate(
          "List emails",
          "email:logs:read",
          "Newest first. `next_cursor` is the `after` of the next page; `before` pages towards newer emails. Filters are fast on any number of messages.",
        ),
      )
      .annotate(Bucket, "logs"),
    HttpApiEndpoint.get("get", "/email/logs/:id", {
      params,
      query: { as_of: filter(Timestamp.FromIso) },
      success: WithContent,
    }).annotateMerge(
      annotate(
        "Get an email",
        "email:logs:read",
        "The record, and the content while it is kept. With `as_of`, the record as it was at that time; 404 if the message had not been accepted yet.",
      ),
    ),
    HttpApiEndpoint.get("events", "/email/logs/:id/events", { params, success: Page.of(EventRecord) }).annotateMerge(
      annotate(
        "Get an email's timeline",
        "email:logs:read",
        "All events of the message, oldest first, with server responses.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Logs", description: "Status and history of every message, per recipient." }),
  ) {}
