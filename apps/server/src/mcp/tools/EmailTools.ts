import * as Checks from "@waybill/api/schemas/Checks"
import * as EmailSearch from "@waybill/api/schemas/EmailSearch"
import type { EmailLog, EmailLogWithContent, Event } from "@waybill/client/Waybill"
import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Id from "@waybill/domain/values/Id"
import { Effect, Schema } from "effect"
import { clipped, listed, MAX_BODY_CHARS } from "./ToolAnswer.ts"
import { ask, tool, untrusted } from "./Tool.ts"

const MAX_FOUND = 50
const DEFAULT_FOUND = 20
const MAX_EVENTS = 200
const DEFAULT_EVENTS = 100

export const atMost = (maximum: number, usual: number) =>
  Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum }, { message: `must be a whole number from 1 to ${maximum}` }),
    ).annotate({ description: `Maximum number of rows, 1 to ${maximum}; ${usual} by default` }),
  )

const filter = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)

const statuses = (description: string) =>
  filter(
    Schema.Array(EmailStatus.Status)
      .check(Checks.items(1, EmailStatus.ALL.length, "statuses"))
      .annotate({ description }),
  )

/** The filters of the API, some in a form that suits JSON. */
const FindInput = Schema.Struct({
  ...EmailSearch.filters,
  status: statuses("Emails with one of these statuses"),
  recipient_status: statuses("Emails of which a recipient has one of these statuses"),
  tag: filter(Schema.String.check(Checks.oneLine)),
  metadata: filter(
    Schema.Record(Schema.String, Schema.String).annotate({
      description: `Emails with all of these pairs, at most ${EmailFilter.MAX_PAIRS}`,
    }),
  ),
  limit: atMost(MAX_FOUND, DEFAULT_FOUND),
  after: filter(Id.EmailId.annotate({ description: "`next_cursor` of the answer before, for older emails" })),
})

const text = Schema.String
const texts = Schema.Array(text)
const { optional } = Schema

const FOUND = {
  id: Id.EmailId.pipe(Schema.toEncoded),
  status: EmailStatus.Status,
  recipient_counts: Schema.Record(text, Schema.Natural),
  domain: text,
  created_at: text,
  scheduled_at: optional(text),
  delivered_at: optional(text),
  next_attempt_at: optional(text),
  attempts: Schema.Natural,
  error: optional(Schema.Struct({ category: Schema.NullOr(text), code: Schema.NullOr(Schema.Int) })),
  untrusted: untrusted({
    from: text,
    to: texts,
    subject: text,
    tags: texts,
    metadata: optional(texts),
    error: optional(text),
  }),
}

/** Fields of an email in a list. */
const summaryOf = (email: EmailLog | EmailLogWithContent) => ({
  id: email.id,
  status: email.status,
  recipient_counts: email.recipient_counts,
  domain: email.domain,
  created_at: email.created_at,
  scheduled_at: email.scheduled_at ?? undefined,
  delivered_at: email.delivered_at ?? undefined,
  next_attempt_at: email.next_attempt_at ?? undefined,
  attempts: email.attempts,
  error: email.error === null ? undefined : { category: email.error.category, code: email.error.code },
  untrusted: {
    from: clipped(email.from),
    to: listed(email.to),
    subject: clipped(email.subject),
    tags: listed(email.tags),
    metadata: pairsOf(email.metadata),
    error: email.error?.message === null ? undefined : email.error?.message,
  },
})

/** Returns the first pairs of metadata, as a list; `undefined` if there are none. */
const pairsOf = (metadata: EmailLog["metadata"]) => {
  const pairs = Object.entries(metadata).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? undefined : listed(pairs)
}

const find = tool({
  name: "find_emails",
  title: "Find emails",
  description: "Lists sent emails that match all given filters, newest first, with status, recipients and subject.",
  input: FindInput,
  facts: { next_cursor: optional(text) },
  row: Schema.Struct(FOUND),
  run: (waybill, { after, limit = DEFAULT_FOUND, ...filters }) =>
    ask(() => waybill.logs.list({ ...filters, limit, after })).pipe(
      Effect.map((page) => ({
        summary:
          page.data.length === 0
            ? "No emails match."
            : `${page.data.length} email${page.data.length === 1 ? "" : "s"}${page.has_more ? "; there are more: call again with `after`" : ""}.`,
        facts: page.next_cursor === null ? {} : { next_cursor: page.next_cursor },
        rows: page.data.map(summaryOf),
      })),
    ),
})

const File = Schema.Struct({ filename: text, content_type: text, size_bytes: Schema.Natural })

const Content = Schema.Struct({
  has_html: Schema.Boolean,
  has_text: Schema.Boolean,
  untrusted: untrusted({ attachments: Schema.Array(File), text: optional(text), html: optional(text) }),
})

const Recipient = Schema.Struct({
  kind: Schema.Literals(["to", "cc", "bcc"]),
  status: text,
  attempts: Schema.Natural,
  last_event_at: Schema.NullOr(text),
  suppression: optional(text),
  category: optional(text),
  code: optional(Schema.Int),
  enhanced_code: optional(text),
  untrusted: untrusted({ address: text, server: optional(text), response: optional(text) }),
})

const get = tool({
  name: "get_email",
  title: "Get an email",
  description: "Shows one email and the state of each recipient. Its body is included only if `include_body` is true.",
  facts: {
    ...FOUND,
    size_bytes: Schema.Natural,
    opens: Schema.Natural,
    clicks: Schema.Natural,
    content: optional(Content),
  },
  row: Recipient,
  input: Schema.Struct({
    id: Id.EmailId,
    include_body: filter(
      Schema.Boolean.annotate({
        description: "Include the text and HTML. They may hold personal data, and links that sign somebody in",
      }),
    ),
  }),
  run: (waybill, { id, include_body = false }) =>
    ask(() => waybill.logs.get(id)).pipe(Effect.map((email) => recordOf(email, include_body))),
})

const recordOf = (email: EmailLogWithContent, withBody: boolean) => ({
  summary: `Email ${email.id} is ${email.status}.${
    email.content === null ? " Its content is no longer kept." : withBody ? "" : " Its body was not asked for."
  }`,
  facts: {
    ...summaryOf(email),
    size_bytes: email.size_bytes,
    opens: email.opens,
    clicks: email.clicks,
    ...(email.content === null ? {} : { content: contentOf(email.content, withBody) }),
  },
  rows: email.recipients.map(({ address, attempts, kind, last_event_at, smtp, status, suppression }) => ({
    kind,
    status,
    attempts,
    last_event_at,
    suppression: suppression ?? undefined,
    category: smtp?.category ?? undefined,
    code: smtp?.code ?? undefined,
    enhanced_code: smtp?.enhanced_code ?? undefined,
    untrusted: {
      address: clipped(address),
      ...(smtp === null ? {} : { server: smtp.mx ?? undefined, response: clipped(smtp.response ?? "") }),
    },
  })),
})

const contentOf = ({ attachments, html, text }: NonNullable<EmailLogWithContent["content"]>, withBody: boolean) => ({
  has_html: html !== null,
  has_text: text !== null,
  untrusted: {
    attachments: attachments.map(({ content_type, filename, size_bytes }) => ({
      filename: clipped(filename),
      content_type: clipped(content_type),
      size_bytes,
    })),
    ...(withBody ? { text: bodyOf(text), html: bodyOf(html) } : {}),
  },
})

const bodyOf = (text: string | null): string | undefined => (text === null ? undefined : clipped(text, MAX_BODY_CHARS))

/** Fields of an event's data that a timeline shows; the others are of no use here, or personal. */
const SHOWN = ["reason", "bounce_type", "category", "code", "enhanced_code", "attempt"] as const
const SHOWN_TIMES = ["next_attempt_at", "scheduled_at"] as const
const SHOWN_TEXTS = ["recipient", "response", "mx", "feedback_type"] as const

const timeline = tool({
  name: "get_timeline",
  title: "Get an email's timeline",
  description: "Lists the events of one email in order: accepted, attempts with the servers' replies, outcomes, opens.",
  input: Schema.Struct({ id: Id.EmailId, limit: atMost(MAX_EVENTS, DEFAULT_EVENTS) }),
  row: Schema.StructWithRest(
    Schema.Struct({
      at: text,
      type: text,
      by: text,
      untrusted: optional(Schema.Record(text, Schema.Unknown)),
    }),
    [Schema.Record(text, Schema.Unknown)],
  ),
  run: (waybill, { id, limit = DEFAULT_EVENTS }) =>
    ask(() => waybill.logs.events(id)).pipe(
      Effect.map(({ data }) => {
        const shown = data.slice(-limit)
        return {
          summary:
            shown.length < data.length
              ? `The last ${shown.length} of ${data.length} events of ${id}, oldest first.`
              : `${data.length} events of ${id}, oldest first.`,
          rows: shown.map(eventOf),
        }
      }),
    ),
})

const eventOf = ({ actor, data, occurred_at, type }: Event) => {
  const texts = textsOf(data, SHOWN_TEXTS)
  return {
    at: occurred_at,
    type,
    by: actor.type,
    ...textsOf(data, [...SHOWN, ...SHOWN_TIMES]),
    ...(Object.keys(texts).length === 0 ? {} : { untrusted: texts }),
  }
}

const textsOf = (data: Event["data"], names: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    names
      .map((name) => [name, data[name]] as const)
      .filter(([, value]) => typeof value === "string" || typeof value === "number")
      .map(([name, value]) => [name, typeof value === "string" ? clipped(value) : value]),
  )

export const all = [find, get, timeline]
