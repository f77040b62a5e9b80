import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Id from "@waybill/domain/values/Id"
import * as Forward from "@waybill/domain/inbound/Forward"
import * as State from "@waybill/domain/inbound/InboundState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Acknowledgement } from "./Emails.ts"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization, Bucket } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Checks from "../schemas/Checks.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import * as EmailMessage from "../schemas/EmailMessage.ts"
import * as EmailSearch from "../schemas/EmailSearch.ts"
import { optional } from "../schemas/optional.ts"
import * as Livemode from "../schemas/Livemode.ts"
import * as Page from "../schemas/Page.ts"
import * as Receipt from "./history/Receipt.ts"
import { Validation } from "../middleware/Validation.ts"

const Person = Schema.Struct({
  address: Schema.String,
  name: Schema.NullOr(Schema.String),
}).annotate({ identifier: "InboundPerson" })
const People = Schema.Array(Person)

const Envelope = Schema.Struct({
  from: Schema.String.annotate({ description: "The return path; empty for a bounce" }),
  to: Schema.Array(Address.Address),
  remote_ip: Schema.NullOr(Schema.String),
  helo: Schema.NullOr(Schema.String),
  tls: Schema.NullOr(Schema.String).annotate({ examples: ["TLSv1.3"] }),
}).annotate({ identifier: "InboundEnvelope" })

const Authentication = Schema.Struct({
  spf: State.SenderResult,
  dkim: Schema.Array(Schema.Struct({ domain: Schema.String, result: State.SenderResult })),
  dmarc: State.SenderResult,
  arc: State.SenderResult,
}).annotate({ identifier: "InboundAuthentication" })

const Attachment = Schema.Struct({
  id: Schema.String.annotate({ examples: ["att_1"] }),
  filename: Schema.String,
  content_type: Schema.String,
  size_bytes: Schema.Natural,
  content_id: Schema.NullOr(Schema.String),
  disposition: Schema.Literals(["attachment", "inline"]),
  url: Schema.String.annotate({ description: "Downloads the file without a key, until `expires_at`" }),
  expires_at: Timestamp.Timestamp,
}).annotate({ identifier: "InboundAttachment" })

const ofForward = {
  email_id: Schema.NullOr(Id.EmailId).annotate({ description: "The email that a forward is" }),
  reason: Schema.NullOr(Schema.String).annotate({
    description:
      "Why a forward did not go to all of its addresses: `loop`, `automatic`, or the reason for which the email was refused",
  }),
}

const Applied = Schema.Struct({
  id: Id.InboundRouteId,
  action: State.Applied.fields.action,
  result: Schema.String.annotate({
    description:
      "For a webhook `pending`, `delivered`, `failed`, or `none` if there is no webhook to call; for a forward `pending`, or the worst status of its recipients, such as `delivered` or `bounced`, `removed` once its email is no longer in the log, and `failed` if nothing was sent; otherwise `rejected`, `dropped` or `stored`. New values may appear",
  }),
  ...ofForward,
}).annotate({ identifier: "InboundRouteApplied" })

const Forwarded = Schema.Struct({
  result: Schema.String.annotate({
    description: "`pending`, the worst status of its recipients, or `removed` once its email is no longer in the log",
  }),
  ...ofForward,
}).annotate({ identifier: "InboundForwarded" })

const fields = {
  object: Schema.Literal("inbound_email"),
  id: Id.InboundId,
  status: State.InboundStatus.annotate({
    description: "`rejected`: a route refused it while its server waited; `dropped`: a route accepted it in silence",
  }),
  livemode: Livemode.field("False for a mail that was only made up for a test"),
  created_at: Timestamp.Timestamp,
  email_id: Schema.NullOr(Id.EmailId).annotate({ description: "The sent email that this one answers" }),
  thread_id: Id.ThreadId,
  envelope: Envelope,
  from: Schema.NullOr(Person),
  to: People,
  cc: People,
  reply_to: People,
  subject: Schema.NullOr(Schema.String),
  date: Schema.NullOr(Timestamp.Timestamp),
  message_id: Schema.NullOr(Schema.String),
  in_reply_to: Schema.NullOr(Schema.String),
  references: Schema.Array(Schema.String),
  automatic: Schema.NullOr(State.Automatic).annotate({
    description: "The kind of program that wrote the mail; `null` for a person",
  }),
  domain: DomainName.DomainName,
  mailbox_hash: Schema.NullOr(Schema.String).annotate({
    description: "The text after the plus sign in the first recipient, as `42` in support+42@acme.test",
  }),
  auth: Authentication,
  verdict: State.SenderVerdict.annotate({
    description: "The finding of DMARC: it passed, it failed, or there was none",
  }),
  routes: Schema.Array(Applied).annotate({ description: "The routes that applied, in order; empty if none did" }),
  replies: Schema.Array(Id.EmailId).annotate({ description: "Emails that answer it, oldest first" }),
  forwards: Schema.Array(Forwarded).annotate({
    description: "Forwards that no route asked for, by a request or by `reply_tracking`, oldest first",
  }),
  size_bytes: Schema.Natural,
  complete: Schema.Boolean.annotate({
    description: "False if the mail has more parts or headers than are read; `raw` has all of it",
  }),
  attachments: Schema.Array(Attachment),
}

/** A received mail without its texts. */
export const InboundEmail = Schema.Struct(fields).annotate({ identifier: "InboundEmail" })
export type InboundEmail = typeof InboundEmail.Type

const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })
export const InboundWhole = Schema.Struct({
  ...fields,
  headers: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })),
  text: text("The text as it was written; `null` if there is none, or the content is no longer kept"),
  html: text("The HTML as it was written. Strangers write it: show it only in a frame without scripts"),
  stripped_text: text("The text without what it quotes and without the signature"),
}).annotate({ identifier: "InboundEmailWhole" })

export const Removed = Schema.Struct({
  object: Schema.Literal("inbound_email"),
  id: Id.InboundId,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "InboundEmailDeleted" })

const Entry = Schema.Struct({
  direction: Schema.Literals(["sent", "received"]),
  id: Schema.Union([Id.EmailId, Id.InboundId]),
  from: Schema.String,
  to: Schema.Array(Schema.String),
  subject: Schema.NullOr(Schema.String),
  status: Schema.String,
  created_at: Timestamp.Timestamp,
}).annotate({ identifier: "ThreadEntry" })
export type ThreadEntry = typeof Entry.Type

/** Most mails of a thread that are shown; a longer one shows its newest. */
export const MAX_THREAD = 200

export const ThreadRecord = Schema.Struct({
  object: Schema.Literal("thread"),
  id: Id.ThreadId,
  data: Schema.Array(Entry).annotate({ description: `Oldest first; the newest ${MAX_THREAD} of a longer thread` }),
}).annotate({ identifier: "Thread" })

/** Maximum recipients and files of a made-up mail. */
const MAX_RECIPIENTS = 100
const MAX_FILES = 20
const MAX_SUBJECT_CHARS = 998
const MAX_MESSAGE_ID_CHARS = 998

/** A mail that a test makes up: by its fields, or as the bytes of a whole one. */
const TestPayload = Schema.Struct({
  from: Schema.optionalKey(
    Address.Mailbox.annotate({
      description: "Sender, also the return path; that of the header if only `raw` is given",
    }),
  ),
  to: Schema.optionalKey(
    Schema.Union([
      Address.FromText,
      Schema.Array(Address.FromText).check(Checks.items(1, MAX_RECIPIENTS, "addresses")),
    ]).annotate({ description: "Recipients; those of the header if only `raw` is given" }),
  ),
  subject: optional(Schema.String.check(Checks.chars(MAX_SUBJECT_CHARS), Checks.oneLine), "Empty if absent"),
  text: optional(Schema.String, "The text"),
  html: optional(Schema.String, "The HTML"),
  in_reply_to: optional(
    Schema.String.check(Checks.chars(MAX_MESSAGE_ID_CHARS), Checks.oneLine),
    "Message-ID of the mail that this one answers, such as the `message_id` of an email",
  ),
  attachments: optional(
    Schema.Array(EmailMessage.Attachment).check(Checks.items(0, MAX_FILES, "attachments")),
    "Files",
  ),
  raw: optional(EmailMessage.Base64, "The whole mail in base64, instead of its fields"),
}).annotate({ identifier: "InboundTest" })
export type TestPayload = typeof TestPayload.Type

const Forwarding = Schema.Struct({
  to: Schema.Union([
    Address.FromText,
    Schema.Array(Address.FromText).check(Checks.items(1, Forward.MAX_TARGETS, "addresses")),
  ]).annotate({ description: `1 to ${Forward.MAX_TARGETS} addresses` }),
}).annotate({ identifier: "InboundForwarding" })
export type ForwardingPayload = typeof Forwarding.Type

const params = { id: Id.InboundId }
const MAX_FILTER_CHARS = 320
const filter = (description: string) =>
  Schema.optionalKey(Schema.String.annotate({ description }).check(Checks.chars(MAX_FILTER_CHARS, 1), Checks.oneLine))

const ListQuery = Schema.Struct({
  ...Livemode.query,
  limit: Page.limit(),
  after: Schema.optionalKey(Id.InboundId),
  before: Schema.optionalKey(Id.InboundId),
  to: Schema.optionalKey(Address.FromText),
  from: Schema.optionalKey(Address.FromText),
  subject: filter("Part of the subject, in any case"),
  q: Schema.optionalKey(EmailSearch.wordsIn("the subject, or the name or the address of the sender or of a recipient")),
  domain: Schema.optionalKey(DomainName.FromText),
  email_id: Schema.optionalKey(Id.EmailId),
  thread_id: Schema.optionalKey(Id.ThreadId),
  status: Schema.optionalKey(State.InboundStatus),
  verdict: Schema.optionalKey(State.SenderVerdict),
  created_after: Schema.optionalKey(Timestamp.FromIso),
  created_before: Schema.optionalKey(Timestamp.FromIso),
}).check(Page.oneDirection)

const bytes = (contentType: string, description: string) =>
  Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType })).annotate({ description })

export class Inbound extends HttpApiGroup.make("inbound")
  .add(
    HttpApiEndpoint.get("list", "/inbound", {
      query: ListQuery,
      success: Page.of(InboundEmail),
    }).annotateMerge(
      annotate(
        "List received emails",
        "inbound:read",
        "Newest first. With a filter, a page may hold fewer than `limit` and still have `has_more`.",
      ),
    ),
    HttpApiEndpoint.get("get", "/inbound/:id", {
      params,
      query: {
        ...Livemode.query,
        inline_images: Schema.optionalKey(
          Schema.Literals(["true", "false"]).annotate({
            description: "Whether the HTML has the images of the mail as `data:` URLs in place of `cid:`",
          }),
        ),
      },
      success: InboundWhole,
      error: ApiError.Unprocessable,
    }).annotateMerge(annotate("Get a received email", "inbound:read", "The record with its texts and headers.")),
    HttpApiEndpoint.get("raw", "/inbound/:id/raw", {
      params,
      query: Livemode.query,
      success: bytes("message/rfc822", "The mail as it came"),
    }).annotateMerge(annotate("Download a received email", "inbound:read", "The bytes as they came.")),
    HttpApiEndpoint.get("receipt", "/inbound/:id/receipt", {
      params,
      query: { ...Livemode.query, redact: Schema.optionalKey(Receipt.Redacted) },
      success: Receipt.Receipt,
      error: ApiError.Unprocessable,
    }).annotateMerge(annotate("Get a received email's receipt", "inbound:read", Receipt.DESCRIPTION)),
    HttpApiEndpoint.get("attachment", "/inbound/:id/attachments/:attachment", {
      params: { ...params, attachment: Schema.String },
      query: Livemode.query,
      success: bytes("application/octet-stream", "The bytes of the file"),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate("Download an attachment of a received email", "inbound:read", "The decoded bytes of the attachment."),
    ),
    HttpApiEndpoint.delete("remove", "/inbound/:id", {
      params,
      query: Livemode.query,
      success: Removed,
    }).annotateMerge(
      annotate(
        "Delete a received email",
        "inbound:write",
        "Deletes its content at once, and its record. The events stay in the history.",
      ),
    ),
    HttpApiEndpoint.post("replay", "/inbound/:id/replay", {
      params,
      query: Livemode.query,
      headers: Idempotency.headers,
      success: Idempotency.replayable(InboundEmail.pipe(HttpApiSchema.status(202))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Replay a received email",
        "inbound:write",
        "Applies the routes of now as if the mail had just come, and calls the webhooks again, with the same event id.",
      ),
    ),
    HttpApiEndpoint.post("reply", "/inbound/:id/reply", {
      params,
      query: Livemode.query,
      headers: Idempotency.headers,
      payload: EmailMessage.ReplyMessage,
      success: Idempotency.warning(Acknowledgement),
      error: ApiError.Unprocessable,
    })
      .annotateMerge(
        annotate(
          "Reply to a received email",
          "email:send",
          "Sends an email to `reply_to` of the mail, or its author, with its subject, `In-Reply-To` and `References`. It is accepted like every email.",
        ),
      )
      .annotate(Bucket, "send"),
    HttpApiEndpoint.post("forward", "/inbound/:id/forward", {
      params,
      query: Livemode.query,
      headers: Idempotency.headers,
      payload: Forwarding,
      success: Idempotency.replayable(Acknowledgement),
      error: ApiError.Unprocessable,
    })
      .annotateMerge(
        annotate(
          "Forward a received email",
          "email:send",
          "Sends the mail on as it came, sealed by ARC, with a return path of this service. It is accepted and counted like every email; an address where this installation receives it again is refused with 422 `forward_loop`.",
        ),
      )
      .annotate(Bucket, "send"),
    HttpApiEndpoint.get("thread", "/threads/:id", {
      params: { id: Id.ThreadId },
      query: Livemode.query,
      success: ThreadRecord,
    }).annotateMerge(
      annotate(
        "Get a thread",
        "inbound:read",
        "The conversation that a mail belongs to: the sent email that began it and the mail that came for it, in order.",
      ),
    ),
    HttpApiEndpoint.post("test", "/test/inbound", {
      query: Livemode.query,
      headers: Idempotency.headers,
      payload: TestPayload,
      success: Idempotency.replayable(InboundEmail.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Simulate a received email",
        "inbound:write",
        "For tests: records a mail as if it had come over SMTP, and calls webhooks. Give its fields, or all of it as `raw`.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Inbound",
      description: "Mail that came in for the domains of the account, and the threads that it belongs to.",
    }),
  ) {}
