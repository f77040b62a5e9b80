import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, DateTime, Effect, Option, Schema } from "effect"
import { parseDate } from "chrono-node"
import * as RemoteFile from "../RemoteFile.ts"
import * as Tags from "./Tags.ts"

const OneOrMany = Schema.Union([Schema.String, Schema.Array(Schema.String)])
const word = Schema.String.check(
  Schema.isPattern(/^[\w-]*$/u, { message: "must consist of letters, digits, underscores and hyphens" }),
)
const Tag = Schema.Struct({ name: word, value: word })

const Attachment = Schema.Struct({
  /** `false` leaves the name to the URL. */
  filename: Schema.optional(Schema.Union([Schema.String, Schema.Literal(false)])),
  content: Schema.optional(Schema.String),
  /** A URL that the file is fetched from. */
  path: Schema.optional(Schema.String),
  content_type: Schema.optional(Schema.String),
  content_id: Schema.optional(Schema.String),
})

/** A message as Resend's API takes it. Fields that Waybill has no meaning for are refused by name. */
export const Message = Schema.Struct({
  from: Schema.String,
  to: OneOrMany,
  cc: Schema.optional(OneOrMany),
  bcc: Schema.optional(OneOrMany),
  reply_to: Schema.optional(OneOrMany),
  subject: Schema.String,
  html: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
  headers: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  tags: Schema.optional(Schema.Array(Tag)),
  attachments: Schema.optional(Schema.Array(Attachment)),
  scheduled_at: Schema.optional(Schema.String),
  /** The package sends null for a message without a topic. */
  topic_id: Schema.optional(Schema.Null),
})
export type Message = typeof Message.Type

/** Longer texts are not read as a time in words, because the library that reads them has no bound of its own. */
export const MAX_TIME_CHARS = 64

const ISO = /^\d{4}-\d{2}-\d{2}T/u

const refuse = (path: string, message: string) =>
  new RequestRefusal.InvalidRequest({ reason: "validation_failed", details: [{ path, message }] })

/** Returns the time that a text names: ISO 8601, or words such as "in 1 hour", read in UTC. */
export const scheduledAt = Effect.fnUntraced(function* (text: string) {
  if (ISO.test(text)) return text
  const now = new Date(yield* Clock.currentTimeMillis)
  const date =
    text.length > MAX_TIME_CHARS ? null : parseDate(text, { instant: now, timezone: 0 }, { forwardDate: true })
  if (date === null) return yield* refuse("scheduled_at", "must be a time, such as 2027-01-31T09:00:00Z or in 1 hour")
  return Timestamp.fromDateTime(DateTime.makeUnsafe(date))
})

const decode = Schema.decodeUnknownOption(Message, { onExcessProperty: "error" })

/** Returns the body of our own send for a message that needs no file to be fetched and no time to be read. */
export const plainToNative = (body: unknown): unknown => {
  const message = Option.getOrUndefined(decode(body))
  if (message === undefined || !ISO.test(message.scheduled_at ?? "0000-00-00T")) return undefined
  const { attachments = [], tags, topic_id: _, ...same } = message
  const files = attachments.map(({ filename, path, ...file }) => ({
    ...file,
    ...(filename === false ? {} : { filename }),
  }))
  if (attachments.some(({ content, filename, path }) => path !== undefined || !filename || content === undefined))
    return undefined
  return {
    ...same,
    ...(tags === undefined ? {} : { tags: tags.map(Tags.tagOf) }),
    ...(files.length === 0 ? {} : { attachments: files }),
  }
}

/** Returns the body of our own send for a message; fetches the attachments that it only names. */
export const toNative = Effect.fnUntraced(function* (message: Message, budget: RemoteFile.FetchBudget) {
  const { attachments, scheduled_at, tags, topic_id: _, ...same } = message
  return {
    ...same,
    ...(tags === undefined ? {} : { tags: tags.map(Tags.tagOf) }),
    ...(scheduled_at === undefined ? {} : { scheduled_at: yield* scheduledAt(scheduled_at) }),
    ...(attachments === undefined
      ? {}
      : {
          attachments: yield* Effect.forEach(attachments, (each, nth) => toFile(each, `attachments[${nth}]`, budget)),
        }),
  }
})

const toFile = Effect.fnUntraced(function* (
  { content, content_id, content_type, filename, path }: typeof Attachment.Type,
  field: string,
  budget: RemoteFile.FetchBudget,
) {
  if ((content === undefined) === (path === undefined))
    return yield* refuse(field, "must have either `content` or `path`")
  const source =
    path === undefined
      ? { content: content ?? "", type: undefined }
      : yield* RemoteFile.fetch(path, `${field}.path`, budget)
  const named = typeof filename === "string" ? filename : undefined
  const name = named ?? (path === undefined ? undefined : RemoteFile.nameOf(path))
  if (name === undefined) return yield* refuse(`${field}.filename`, "is required, because nothing else names the file")
  const type = content_type ?? source.type
  return {
    filename: name,
    content: source.content,
    ...(type === undefined ? {} : { content_type: type }),
    ...(content_id === undefined ? {} : { content_id }),
  }
})
