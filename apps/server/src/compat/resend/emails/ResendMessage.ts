import { MAX_BATCH } from "@waybill/api/schemas/send/Batch"
import * as Checks from "@waybill/api/schemas/Checks"
import { MAX_COPIES, MAX_REPLY_TO } from "@waybill/api/schemas/EmailMessage"
import { MAX_ATTACHMENTS } from "@waybill/domain/email/Content"
import * as Header from "@waybill/domain/email/Header"
import * as Labels from "@waybill/domain/email/Labels"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { DateTime, Effect, Schema, SchemaIssue } from "effect"
import * as chrono from "chrono-node"
import * as Fields from "../../lenient/Fields.ts"
import * as Native from "../../Native.ts"
import * as Pairs from "../../lenient/Pairs.ts"
import * as SenderTime from "./SenderTime.ts"
import * as Tags from "../../../webhookFormats/ResendTags.ts"

const oneOrMany = (maximum: number) =>
  Schema.Union([Schema.String, Schema.Array(Schema.String).check(Checks.items(0, maximum, "addresses"))])
const WORD = /^[\w-]*$/u
const word = Fields.Text.check(
  Fields.check((text) => Checks.sized(text, Tags.MAX_CHARS)),
  Fields.check((text) => (WORD.test(text) ? undefined : "must consist of letters, digits, underscores and hyphens")),
)
const name = word.check(Fields.check((text) => (text === "" ? "must not be empty" : undefined)))
const Tag = Schema.Struct({ name, value: Schema.optional(word) })

const Attachment = Schema.Struct({
  /** `false` leaves the name to the URL. */
  filename: Schema.optional(Schema.Union([Schema.String, Schema.Literal(false)])),
  content: Schema.optional(Fields.FileContent),
  /** A URL that the file is fetched from. */
  path: Schema.optional(Schema.String),
  content_type: Schema.optional(Schema.String),
  content_id: Schema.optional(Schema.String),
  /** Older names of the two. */
  contentType: Schema.optional(Schema.String),
  inline_content_id: Schema.optional(Schema.String),
  inlineContentId: Schema.optional(Schema.String),
  contentId: Schema.optional(Schema.String),
})
export type Attachment = typeof Attachment.Type

/** Named by id or alias. */
const Template = Schema.Struct({
  id: Schema.String,
  variables: Schema.optional(Schema.Record(Schema.String, Schema.Unknown)),
})

const MISSING = new SchemaIssue.MissingKey(undefined)

/** A message as Resend's API takes it. Fields that Waybill has no meaning for are refused by name. */
export const Message = Schema.Struct({
  /** A template can have it, as the subject. */
  from: Schema.optional(Schema.String),
  to: oneOrMany(MAX_COPIES),
  cc: Schema.optional(oneOrMany(MAX_COPIES)),
  bcc: Schema.optional(oneOrMany(MAX_COPIES)),
  reply_to: Schema.optional(oneOrMany(MAX_REPLY_TO)),
  subject: Schema.optional(Schema.String),
  html: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
  headers: Schema.optional(Pairs.schema(Header.MAX_HEADERS, "headers")),
  tags: Schema.optional(Schema.Array(Tag).check(Checks.items(0, Labels.MAX_METADATA, "tags"))),
  attachments: Schema.optional(Schema.Array(Attachment).check(Checks.items(0, MAX_ATTACHMENTS, "attachments"))),
  scheduled_at: Schema.optional(Schema.String),
  template: Schema.optional(Template),
}).check(
  Schema.makeFilter(({ from, subject, template }) =>
    template !== undefined
      ? true
      : [
          ...(from === undefined ? [{ path: ["from"], issue: MISSING }] : []),
          ...(subject === undefined ? [{ path: ["subject"], issue: MISSING }] : []),
        ],
  ),
)
export type Message = typeof Message.Type

/** Messages of a batch, each of which is decoded by itself. */
export const Batch = Schema.Array(Message).check(Checks.items(1, MAX_BATCH, "messages"))

/** Longer texts are not read as a time in words, because the library that reads them has no bound of its own. */
export const MAX_TIME_CHARS = 64

const ISO = /^\d{4}-\d{2}-\d{2}T/u

/** Returns the time that a text names: ISO 8601, or words such as "in 1 hour", read in UTC. */
export const scheduledAt = Effect.fnUntraced(function* (text: string, headers: Fields.Texts = {}) {
  if (ISO.test(text)) return text
  const now = new Date(yield* SenderTime.of(headers))
  const date = dateOf(text, now)
  if (date === undefined) return yield* Native.refuse("scheduled_at", NO_TIME)
  return Timestamp.fromDateTime(DateTime.makeUnsafe(date))
})

const NO_TIME = "must be one time and nothing else, such as 2027-01-31T09:00:00Z or in 1 hour"

/** The library finds a time within other words too, such as an unknown zone or a misspelt unit, which change its meaning. */
const dateOf = (text: string, now: Date): Date | undefined => {
  if (text.length > MAX_TIME_CHARS) return undefined
  const [first] = chrono.parse(text, { instant: now, timezone: 0 }, { forwardDate: true })
  const isWhole = first !== undefined && first.text === text.trim().replace(/[.!]$/u, "") && !first.end
  return isWhole ? first.date() : undefined
}
