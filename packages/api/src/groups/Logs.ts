import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Labels from "@waybill/domain/email/Labels"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization, Bucket } from "../middleware/Authorization.ts"
import { EmailRecord, WithContent } from "../schemas/EmailRecord.ts"
import { annotate } from "../middleware/annotate.ts"
import * as EmailSearch from "../schemas/EmailSearch.ts"
import { EventRecord } from "../schemas/EventRecord.ts"
import * as Page from "../schemas/Page.ts"
import * as Livemode from "../schemas/Livemode.ts"
import * as Checks from "../schemas/Checks.ts"
import { Validation } from "../middleware/Validation.ts"

export const MAX_SUBJECT_FILTER_CHARS = 200
export const MAX_TAG_FILTERS = 5

/** Writes a pair as an item of the parameter `metadata`, which the query holds as `metadata.<name>=<value>`. */
export const pairText = (name: string, value: string): string => JSON.stringify([name, value])

const parsePairs = (texts: ReadonlyArray<string>): Result.Result<Labels.Metadata, string> => {
  const pairs: Array<readonly [name: string, value: string]> = []
  for (const text of texts) {
    const pair = pairIn(text)
    if (pair === undefined) return Result.fail("must be given as `metadata.<name>=<value>`")
    const problem = Labels.metadataNameProblem(pair[0]) ?? Labels.metadataValueProblem(pair[1])
    if (problem !== undefined) return Result.fail(problem)
    pairs.push(pair)
  }
  return Result.succeed(Object.fromEntries(pairs))
}

const Pair = Schema.Tuple([Schema.String, Schema.String])
const pairIn = (text: string) => Option.getOrUndefined(Schema.decodeOption(Schema.fromJsonString(Pair))(text))

const Metadata = Schema.Array(Schema.String)
  .check(Checks.items(1, Labels.MAX_METADATA_FILTERS, "pairs"))
  .pipe(
    Schema.decodeTo(
      Schema.Record(Schema.String, Schema.String),
      SchemaTransformation.transformEffect<Labels.Metadata, ReadonlyArray<string>>({
        decode: (texts) =>
          Result.match(parsePairs(texts), {
            onSuccess: (pairs) => Effect.succeed(pairs),
            onFailure: (message) => Effect.fail(new SchemaIssue.InvalidValue({ message })),
          }),
        encode: (pairs) => Effect.succeed(Object.entries(pairs).map(([name, value]) => pairText(name, value))),
      }),
    ),
  )

const SCHEDULED = "Emails that wait for their `scheduled_at`, and have it"

/** Statuses of a message to search for: its own, or scheduled. */
const SearchedStatus = Schema.Literals([...EmailStatus.ALL, "scheduled"])

const Statuses = Checks.commaList(
  SearchedStatus,
  `One or several of ${SearchedStatus.literals.join(", ")}, separated by commas. \`scheduled\` is queued with \`scheduled_at\` in the future`,
  ["delivered", "bounced,failed"],
)
const RecipientStatuses = Checks.commaList(
  EmailStatus.Status,
  `One or several of ${EmailStatus.ALL.join(", ")}, separated by commas. Emails match if any recipient has one of them, whatever the status of the email`,
  ["bounced", "bounced,complained"],
)

const ReplyCodes = Checks.codeList(
  "reply codes",
  ReplyCode.MAX_CODES,
  ReplyCode.isCode,
  "One or several SMTP reply codes from 400 to 599, or classes of them, separated by commas. Emails match if a recipient is bounced, failed or deferred and the last reply about it had one of them",
  ["550", "5xx"],
)

const Providers = Checks.commaList(
  Schema.Literals(MailboxProvider.ALL),
  `One or several of ${MailboxProvider.ALL.join(", ")}, separated by commas. Emails match if a recipient has a mailbox at one of these providers, by all of its domains: outlook is also hotmail.com and live.com`,
  ["gmail", "outlook,yahoo"],
)

const filter = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)

export const filters = {
  status: filter(Statuses),
  recipient_status: filter(RecipientStatuses),
  code: filter(ReplyCodes),
  provider: filter(Providers),
  to: filter(Address.FromText),
  from: filter(Address.FromText),
  subject: filter(Schema.String.check(Checks.chars(MAX_SUBJECT_FILTER_CHARS, 1), Checks.oneLine)),
  recipient: filter(
    Schema.String.annotate({
      description:
        "Part of the address of a recipient, in any case. `^` before it means where a word of the address begins, and `$` after it where one ends: `^ana` finds ana.silva@ and not tanaka@",
    }).check(Checks.chars(Address.MAX_ADDRESS_OCTETS, 1), Checks.oneLine),
  ),
  message_id: filter(EmailSearch.MessageId),
  api_key_id: filter(Id.ApiKeyId),
  metadata: filter(Metadata),
  template: filter(Id.TemplateId),
  tag: filter(Schema.Array(Schema.String.check(Checks.oneLine)).check(Checks.items(1, MAX_TAG_FILTERS, "tags"))),
  domain: filter(DomainName.FromText),
  created_after: filter(Timestamp.FromIso),
  created_before: filter(Timestamp.FromIso),
  scheduled_after: filter(Timestamp.FromIso.annotate({ description: `${SCHEDULED} at or after this time` })),
  scheduled_before: filter(Timestamp.FromIso.annotate({ description: `${SCHEDULED} before this time` })),
}

/** The filters and free words of a search as typed. */
export const TypedFilters = Schema.Struct({ ...filters, q: filter(EmailSearch.words) })

export const LogQuery = Schema.Struct({
  ...Livemode.query,
  limit: Page.limit(),
  after: filter(Id.EmailId),
  before: filter(Id.EmailId),
  ...filters,
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
