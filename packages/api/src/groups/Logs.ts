import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization, Bucket } from "../middleware/Authorization.ts"
import { EmailRecord, WithContent } from "../schemas/EmailRecord.ts"
import { annotate } from "../middleware/annotate.ts"
import * as EmailSearch from "../schemas/EmailSearch.ts"
import { EventRecord } from "../schemas/EventRecord.ts"
import * as Page from "../schemas/Page.ts"
import * as Livemode from "../schemas/Livemode.ts"
import { Validation } from "../middleware/Validation.ts"

const filter = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)

/** The filters and free words of a search as typed. */
export const TypedFilters = Schema.Struct({ ...EmailSearch.filters, q: filter(EmailSearch.words) })

export const LogQuery = Schema.Struct({
  ...Livemode.query,
  limit: Page.limit(),
  after: filter(Id.EmailId),
  before: filter(Id.EmailId),
  ...EmailSearch.filters,
  q: filter(EmailSearch.Typed),
  count: filter(
    Schema.Literals(["true", "false"]).annotate({ description: "`true` counts the emails that match, in `total`" }),
  ),
}).check(Page.oneDirection)
export type LogQuery = typeof LogQuery.Type

const Total = Schema.Struct({
  count: Schema.Natural,
  is_exact: Schema.Boolean.annotate({ description: "If false, more than `count` emails match" }),
}).annotate({ identifier: "EmailTotal" })

const Emails = Schema.Struct({
  ...Page.of(EmailRecord).fields,
  total: Schema.NullOr(Total).annotateKey({
    description: "Number of emails that match, on all pages, exact up to 1,000; `null` without `count=true`",
  }),
})

const params = { id: Id.EmailId }

export class Logs extends HttpApiGroup.make("logs")
  .add(
    HttpApiEndpoint.get("list", "/email/logs", { query: LogQuery, success: Emails })
      .annotateMerge(
        annotate(
          "List emails",
          "email:logs:read",
          "Newest first. `next_cursor` is the `after` of the next page; `before` pages towards newer emails. Filters are fast on any number of messages. A page of large emails, or of a rare filter, may hold fewer than `limit` and still have `has_more`.",
        ),
      )
      .annotate(Bucket, "logs"),
    HttpApiEndpoint.get("get", "/email/logs/:id", {
      params,
      query: { ...Livemode.query, as_of: filter(Timestamp.FromIso) },
      success: WithContent,
    }).annotateMerge(
      annotate(
        "Get an email",
        "email:logs:read",
        "The record, and the content while it is kept. With `as_of`, the record as it was at that time; 404 if the message had not been accepted yet.",
      ),
    ),
    HttpApiEndpoint.get("events", "/email/logs/:id/events", {
      params,
      query: Livemode.query,
      success: Page.of(EventRecord),
    }).annotateMerge(
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
