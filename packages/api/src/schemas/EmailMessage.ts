import * as Plan from "@waybill/domain/account/Plan"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Address from "@waybill/domain/values/Address"
import * as EmailEvent from "@waybill/domain/email/EmailEvent"
import { MAX_ATTACHMENTS } from "@waybill/domain/email/Content"
import * as Header from "@waybill/domain/email/Header"
import * as Labels from "@waybill/domain/email/Labels"
import * as Text from "@waybill/domain/values/Text"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Context, Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import * as Counts from "../errors/Counts.ts"
import * as Violations from "../errors/Violations.ts"
import { MessageHeaders } from "./MessageHeaders.ts"
import { nullIfAbsent } from "./nullIfAbsent.ts"
import { optional } from "./optional.ts"
import * as Checks from "./Checks.ts"

/** Above the recipient limit of every plan. A plan's own limit is checked later, as a 422. */
export const MAX_COPIES = 1_000
export const MAX_REPLY_TO = 50
export const MAX_FILENAME_CHARS = 255

/** One address on the wire. Its syntax is checked by parsing; OpenAPI shows that it is not empty. */
const AddressText = Schema.String.check(
  Schema.makeFilter<string>(() => true, { toJsonSchema: () => ({ minLength: 1 }) }),
)
const oneOrMany = (minimum: 0 | 1, maximum: number) =>
  Schema.Union([AddressText, Schema.Array(AddressText).check(Checks.items(minimum, maximum, "addresses", 0))])
type Mailboxes = ReadonlyArray<Address.Mailbox>

/** One address or several on the wire, always a list in memory. All invalid ones are reported. */
const mailboxes = <S extends Schema.Codec<string | ReadonlyArray<string> | null, unknown>>(
  wire: S,
  description: string,
  none: Effect.Effect<Mailboxes, SchemaIssue.Issue> = Effect.succeed([]),
) =>
  wire.annotate({ description, examples: [["ana@example.org", "Bo <bo@example.org>"]] }).pipe(
    Schema.decodeTo(
      Schema.Array(Schema.toType(Address.MailboxObject)),
      SchemaTransformation.transformEffect<Mailboxes, string | ReadonlyArray<string> | null>({
        decode: (value) => (Array.isArray(value) && value.length === 0 ? none : parseMailboxes(wire, value)),
        encode: (list) => Effect.succeed(list.map(Address.format)),
      }),
    ),
  )

const LIST_IN_STRING = 'has several addresses in one string; use an array: ["ana@example.org", "bo@example.org"]'
const LIST_IN_ITEM = "has several addresses in one string; make each an item of the array"

const parseMailboxes = (
  { ast }: Schema.Top,
  value: string | ReadonlyArray<string> | null,
): Effect.Effect<Mailboxes, SchemaIssue.Issue> => {
  const texts = value === null ? [] : typeof value === "string" ? [value] : value
  const parsed: Array<Address.Mailbox> = []
  const issues: Array<SchemaIssue.Issue> = []
  for (const [nth, text] of texts.entries()) {
    const mailbox = Address.parse(text)
    if (Result.isSuccess(mailbox)) parsed.push(mailbox.success)
    else {
      const severally = typeof value === "string" ? LIST_IN_STRING : LIST_IN_ITEM
      const issue = new SchemaIssue.InvalidValue({
        message: Address.isList(text) ? severally : mailbox.failure,
      })
      issues.push(typeof value === "string" ? issue : new SchemaIssue.Pointer([nth], issue))
    }
  }
  const first = issues[0]
  return first === undefined
    ? Effect.succeed(parsed)
    : Effect.fail(new SchemaIssue.Composite(ast, [first, ...issues.slice(1)]))
}

const optionalMailboxes = (maximum: number, description: string) =>
  nullIfAbsent(mailboxes(Schema.NullOr(oneOrMany(0, maximum)), description))

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/u
/** Returns what keeps a text from being base64, and where; undefined if nothing does. */
const base64Fault = (text: string): string | undefined => {
  if (text.length % 4 === 0 && BASE64.test(text)) return undefined
  const at = text.search(/[^A-Za-z0-9+/]/u)
  return at < 0 || /^={1,2}$/u.test(text.slice(at))
    ? `must be base64, padded with = to a multiple of 4 characters; it has ${text.length}`
    : `must be base64; character ${at + 1}, not counting line breaks, is ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))}`
}

/** Removes line breaks: most encoders for mail wrap base64 at 76 characters (RFC 2045 §6.8). */
const unwrap = (text: string): string => (text.includes("\n") ? text.replaceAll(/\r?\n/gu, "") : text)

/** Base64 on the wire, in one line or wrapped; in memory always one line. */
export const Base64 = Schema.String.annotate({
  description: "The bytes, in base64. Line breaks (LF or CRLF) are accepted",
  contentEncoding: "base64",
  examples: ["JVBERi0xLjQK"],
}).pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.makeFilter((text: string) => base64Fault(text) ?? true)),
    SchemaTransformation.transform<string, string>({ decode: unwrap, encode: (text) => text }),
  ),
)

/** RFC 6838 §4.2 names and simple parameters. Nothing in a match can end a line or a quoted string. */
const MEDIA_TYPE =
  /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/[A-Za-z0-9][\w!#$&^.+-]{0,126}(?: ?; ?[A-Za-z0-9-]{1,40}=(?:[\w!#$&^.+-]{1,80}|"[ !#-[\]-~]{0,80}"))*$/u
const MAX_MEDIA_TYPE_CHARS = 300
const CONTENT_ID = /^(?:[!-;=?-~]{1,200}|<[!-;=?-~]{1,200}>)$/u

export const Attachment = Schema.Struct({
  filename: Text.name(MAX_FILENAME_CHARS).annotate({
    examples: ["receipt.pdf"],
  }),
  content: Base64,
  content_type: optional(
    Schema.String.check(
      Schema.makeFilter(
        (text: string) =>
          (text.length <= MAX_MEDIA_TYPE_CHARS && MEDIA_TYPE.test(text)) ||
          "must be a media type, such as application/pdf",
      ),
    ),
    "Derived from the file name if absent",
  ),
  content_id: optional(
    Schema.String.check(
      Schema.isPattern(CONTENT_ID, {
        message: "must be 1 to 200 printable ASCII characters without spaces and angle brackets",
      }),
    ),
    "Embeds the file in the HTML, which refers to it as `cid:…`",
  ),
  // Absent unless set, so that requests from before this field keep their idempotency fingerprint.
  alternative: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Another form of the text, such as a meeting invitation, and no file" }),
  ),
}).annotate({ identifier: "Attachment" })
export type Attachment = typeof Attachment.Type

const tagProblem = (tag: string): string | undefined =>
  tag === "" ? "must not be empty" : (Checks.sized(tag, Labels.MAX_TAG_CHARS) ?? Text.nameProblem(tag))

const TAG_FORM = "a name with a value is `metadata`"

const tooManyPairs = (actual: number): string => Checks.counted(0, Labels.MAX_METADATA, "pairs", actual)

/** Replaces characters that could break a line in the error response. */
const printable = (name: string): string => name.slice(0, Labels.MAX_METADATA_NAME_CHARS).replaceAll(/[^!-~]/gu, "?")

const metadataProblems = (metadata: Labels.Metadata) => {
  const pairs = Object.entries(metadata)
  const issues = pairs.flatMap(([name, value]) => {
    const issue = Labels.metadataNameProblem(name) ?? Labels.metadataValueProblem(value)
    return issue === undefined ? [] : [{ path: [printable(name)], issue }]
  })
  return pairs.length > Labels.MAX_METADATA ? [{ path: [], issue: tooManyPairs(pairs.length) }, ...issues] : issues
}

const Metadata = Schema.Record(Schema.String, Schema.String)
  .check(
    Schema.makeFilter(metadataProblems, {
      ...Counts.annotation({ maximum: Labels.MAX_METADATA, message: tooManyPairs }),
      toJsonSchema: () => ({ maxProperties: Labels.MAX_METADATA }),
    }),
  )
  .annotate({ examples: [{ order: "7041" }] })

export const ScheduledAt = Timestamp.FromIso

const Tracking = Schema.Struct({
  opens: optional(Schema.Boolean, "Adds a 1×1 pixel at the end of the HTML"),
  clicks: optional(Schema.Boolean, "Replaces links in the HTML by redirects through this service"),
}).annotate({ identifier: "EmailTracking" })

/** `true`, or what to do with answers, on the wire; null in memory where it is off. */
const ReplyTrackingField = Schema.NullOr(
  Schema.Union([
    Schema.Boolean,
    Schema.Struct({
      forward: optional(Schema.Boolean, "Whether answers are sent on to `reply_to`, or else to `from`"),
    }).annotate({ identifier: "ReplyTracking" }),
  ]),
)
  .annotate({
    description:
      'Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`. `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it',
  })
  .pipe(
    Schema.decodeTo(
      Schema.NullOr(EmailEvent.ReplyTracking),
      SchemaTransformation.transform<typeof EmailEvent.ReplyTracking.Type | null, ReplyTrackingWire>({
        decode: (value) =>
          value === null || value === false ? null : { forward: value !== true && value.forward === true },
        encode: (value) => value,
      }),
    ),
  )
type ReplyTrackingWire = boolean | { readonly forward: boolean | null } | null

/** `Reply-To` may occur once in a message (RFC 5322 §3.6), and the `reply_to` field writes it too. */
const isReplyTo = (name: string): boolean => name.toLowerCase() === "reply-to"

/** Whether the recipients may all be in `cc` and `bcc`, as another service takes it. Its door sees that there are some. */
export const CopiesAlone = Context.Reference<boolean>("@waybill/api/schemas/EmailMessage/CopiesAlone", {
  defaultValue: () => false,
})

/** The mailboxes of an empty `to`, or its refusal. */
const nobody: Effect.Effect<Mailboxes, SchemaIssue.Issue> = Effect.flatMap(CopiesAlone, (allowed) =>
  allowed
    ? Effect.succeed([])
    : Effect.fail(new SchemaIssue.InvalidValue({ message: Checks.counted(1, Acceptance.MAX_TO, "addresses", 0) })),
)

const TOGETHER = `An email has at most as many recipients as the plan allows, in \`to\`, \`cc\` and \`bcc\` together: ${Object.values(
  Plan.TERMS,
)
  .map(({ max_recipients, name }) => `${max_recipients} (${name})`)
  .join(", ")}`

/** A message to send. Checks only what the request alone decides. */
const Message = Schema.Struct({
  from: Address.Mailbox.annotate({ description: "The domain must be a verified domain of the account" }),
  to: mailboxes(
    oneOrMany(1, Acceptance.MAX_TO),
    `1 to ${Acceptance.MAX_TO} addresses, \`a@b.c\` or \`Name <a@b.c>\`; a single one needs no array`,
    nobody,
  ),
  subject: Schema.String.check(Checks.chars(Header.MAX_SUBJECT_CHARS), Checks.oneLine).annotate({
    examples: ["Your receipt"],
  }),
  html: optional(Schema.String, "HTML body. Without `text`, a text part is derived from it"),
  text: optional(Schema.String, "Plain text body; recommended"),
  cc: optionalMailboxes(MAX_COPIES, `Visible to all recipients. ${TOGETHER}`),
  bcc: optionalMailboxes(MAX_COPIES, `Hidden from all recipients. ${TOGETHER}`),
  reply_to: optionalMailboxes(MAX_REPLY_TO, "Addresses for replies"),
  headers: optional(MessageHeaders, "Custom headers, except those that the service writes"),
  tags: optional(
    Schema.Array(Schema.String.annotate({ message: `must be a string; ${TAG_FORM}` }))
      .annotate({ message: `must be an array of strings; ${TAG_FORM}` })
      .check(Checks.texts(Labels.MAX_TAGS, "tags", tagProblem)),
    `Labels for filtering the logs; 1 to ${Labels.MAX_TAG_CHARS} characters each`,
  ),
  scheduled_at: optional(ScheduledAt, "When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z`"),
  attachments: optional(
    Schema.Array(Attachment).check(Checks.items(0, MAX_ATTACHMENTS, "attachments")),
    "Files, at most 20",
  ),
  list_unsubscribe: optional(
    Schema.Boolean,
    "Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by https",
  ),
  // Absent unless set, so that requests from before these fields keep their idempotency fingerprint.
  metadata: Schema.optionalKey(
    Schema.NullOr(Metadata).annotate({
      description: `Pairs for identifying the email, which recipients do not get: at most ${Labels.MAX_METADATA}, with names of 1 to ${Labels.MAX_METADATA_NAME_CHARS} characters and values of at most ${Labels.MAX_METADATA_VALUE_CHARS}. They are in the logs and the webhooks, and the logs find them with \`metadata.<name>=<value>\``,
    }),
  ),
  accept_suppressed: Schema.optionalKey(
    Schema.NullOr(Schema.Boolean).annotate({
      description:
        "Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one recipient, instead of 422 `all_recipients_suppressed`",
    }),
  ),
  reply_tracking: Schema.optionalKey(ReplyTrackingField),
  tracking: Schema.optionalKey(
    Schema.NullOr(Tracking).annotate({
      description: "Whether opens and clicks are tracked; the domain's setting applies to what is left out",
    }),
  ),
}).annotate(Violations.alsoKnown("template"))

const oneReplyTo = Schema.makeFilter<Pick<typeof Message.Type, "headers" | "reply_to" | "reply_tracking">>(
  ({ headers, reply_to, reply_tracking = null }) => {
    const field = reply_to.length > 0 ? "reply_to" : reply_tracking === null ? undefined : "reply_tracking"
    const duplicate = field === undefined ? undefined : Object.keys(headers ?? {}).find(isReplyTo)
    return duplicate === undefined || { path: ["headers", duplicate], issue: `cannot be combined with \`${field}\`` }
  },
)

export const EmailMessage = Message.check(oneReplyTo).annotate({ identifier: "EmailMessage" })
export type EmailMessage = typeof EmailMessage.Type

const { subject: _, to: __, ...fieldsOfReply } = Message.fields

/** An answer to a received mail, which says the rest. */
export const ReplyMessage = Schema.Struct(fieldsOfReply).check(oneReplyTo).annotate({ identifier: "InboundReply" })
export type ReplyMessage = typeof ReplyMessage.Type
