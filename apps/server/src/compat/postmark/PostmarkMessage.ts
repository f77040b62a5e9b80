import * as Checks from "@waybill/api/schemas/Checks"
import { CopiesAlone, MAX_COPIES, MAX_REPLY_TO } from "@waybill/api/schemas/EmailMessage"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import { MAX_ATTACHMENTS } from "@waybill/domain/email/Content"
import * as Header from "@waybill/domain/email/Header"
import * as Labels from "@waybill/domain/email/Labels"
import type { Detail } from "@waybill/domain/values/Refusal"
import { Effect, Schema } from "effect"
import * as Words from "../../webhookFormats/PostmarkWords.ts"
import * as Fields from "../lenient/Fields.ts"
import * as OwnHeaders from "../lenient/OwnHeaders.ts"
import { shownIn } from "../lenient/shownIn.ts"
import * as Pairs from "../lenient/Pairs.ts"
import * as AddressList from "./AddressList.ts"
import { inCaseOf } from "../lenient/inCaseOf.ts"

const Attachment = Schema.Struct({
  /** Absent for a file without a name. */
  Name: Schema.optional(Schema.String),
  /** Absent for an empty file. */
  Content: Schema.optional(Fields.FileContent),
  ContentType: Schema.optional(Schema.String),
  ContentID: Schema.optional(Schema.String),
  /** The size follows from the content. */
  ContentLength: Schema.optional(Schema.Number),
  Disposition: Schema.optional(Schema.Literals(["attachment", "inline"])),
})

/** Which links are tracked, in any case. */
const LinkTracking = Schema.String.check(
  Schema.isPattern(/^(?:None|HtmlAndText|HtmlOnly|TextOnly)$/iu, {
    message: "must be one of None, HtmlAndText, HtmlOnly or TextOnly",
  }),
)

const CustomHeader = Schema.Struct({ Name: Schema.String, Value: Schema.optional(Fields.Text) })

/** A message as Postmark's API takes it. Fields that Waybill has no meaning for are refused by name. */
export const Message = Schema.Struct({
  From: Schema.String,
  To: Schema.optional(Schema.String),
  Cc: Schema.optional(Schema.String),
  Bcc: Schema.optional(Schema.String),
  ReplyTo: Schema.optional(Schema.String),
  Subject: Schema.optional(Fields.Text),
  HtmlBody: Schema.optional(Schema.String),
  TextBody: Schema.optional(Schema.String),
  Tag: Schema.optional(Fields.Text),
  Metadata: Schema.optional(Pairs.schema(Labels.MAX_METADATA, "pairs")),
  Headers: Schema.optional(Schema.Array(CustomHeader).check(Checks.items(0, Header.MAX_HEADERS, "headers"))),
  TrackOpens: Schema.optional(Schema.Boolean),
  TrackLinks: Schema.optional(LinkTracking),
  Attachments: Schema.optional(Schema.Array(Attachment).check(Checks.items(0, MAX_ATTACHMENTS, "attachments"))),
  MessageStream: Schema.optional(Schema.String),
})
export type Message = typeof Message.Type

const { HtmlBody: _, Subject: __, TextBody: ___, ...unwritten } = Message.fields

/** A message that is made of a template. Styles are not moved into elements, which `InlineCss` asks for. */
export const TemplatedMessage = Schema.Struct({
  ...unwritten,
  TemplateId: Schema.optional(Fields.Text),
  TemplateAlias: Schema.optional(Schema.String),
  TemplateModel: Schema.optional(Schema.Record(Schema.String, Schema.Json)),
  InlineCss: Schema.optional(Schema.Boolean),
})
export type TemplatedMessage = typeof TemplatedMessage.Type

const message = inCaseOf({ fields: { ...Message.fields, ...TemplatedMessage.fields } })
const lists = { Headers: inCaseOf(CustomHeader), Attachments: inCaseOf(Attachment) }

/** Puts the names of fields in Postmark's case, because it takes them in any. */
export const inCase = (body: unknown): unknown => {
  const named = message(body)
  if (typeof named !== "object" || named === null) return named
  const { Attachments, Headers } = named as { readonly Attachments?: unknown; readonly Headers?: unknown }
  return {
    ...named,
    ...(Array.isArray(Headers) ? { Headers: Headers.map(lists.Headers) } : {}),
    ...(Array.isArray(Attachments) ? { Attachments: Attachments.map(lists.Attachments) } : {}),
  }
}

/** Messages of one batch of Postmark, which is several of ours. */
export const MAX_MESSAGES = 500

/** Messages of a batch, each of which is decoded by itself. */
export const Batch = Schema.Array(Message).check(Checks.items(0, MAX_MESSAGES, "messages"))

export const TemplatedBatch = Schema.Struct({
  Messages: Schema.Array(TemplatedMessage).check(Checks.items(0, MAX_MESSAGES, "messages")),
})

/** Returns what a message asks for and Waybill does not have, beyond what its schema refuses. */
export const problemsOf = (message: Message): ReadonlyArray<Detail> => [
  ...commonProblems(message),
  ...(message.HtmlBody === undefined && message.TextBody === undefined
    ? [{ path: "TextBody", message: "or `HtmlBody` is required, or both" }]
    : []),
]

/** A message of a template names it, once. */
export const templatedProblems = (message: TemplatedMessage): ReadonlyArray<Detail> => [
  ...commonProblems(message),
  ...((message.TemplateId === undefined) === (message.TemplateAlias === undefined)
    ? [{ path: "TemplateId", message: "or `TemplateAlias` is required, and only one of them" }]
    : []),
]

/** Postmark takes a message with `Cc` or `Bcc` alone. */
export const takesCopiesAlone = Effect.provideService(CopiesAlone, true)

const commonProblems = ({
  Attachments,
  Bcc,
  Cc,
  Headers,
  MessageStream,
  To,
}: Pick<Message, "Attachments" | "Bcc" | "Cc" | "Headers" | "MessageStream" | "To">): ReadonlyArray<Detail> => {
  const names = new Set<string>()
  const isNew = (name: string) => names.size < names.add(name.toLowerCase()).size
  return [
    ...([To, Cc, Bcc].every((list = "") => AddressList.split(list, 1).length === 0)
      ? [{ path: "To", message: "or `Cc` or `Bcc` is required" }]
      : []),
    ...((MessageStream ?? Words.STREAM) === Words.STREAM
      ? []
      : [
          {
            path: "MessageStream",
            message: `must be \`${Words.STREAM}\` or left out: Waybill has no message streams`,
          },
        ]),
    ...(Headers ?? []).flatMap(({ Name }, nth) =>
      isNew(Name) || OwnHeaders.isOwn(Name)
        ? []
        : [{ path: `Headers[${nth}].Name`, message: "must not repeat a header" }],
    ),
    ...(Attachments ?? []).flatMap(({ ContentID, Disposition }, nth) =>
      Disposition === "inline" && !present(ContentID)
        ? [{ path: `Attachments[${nth}].ContentID`, message: "is required with the Disposition inline" }]
        : [],
    ),
  ]
}

const present = (text: string | null | undefined): text is string => typeof text === "string" && text !== ""

/**
 * Returns the body of our own send for a message. Absent fields are undefined, which JSON leaves out. Where nothing can be tracked,
 * as Postmark's clients ask by default, nothing is.
 */
export const toNative = (message: Message, tracks: boolean) => ({
  from: message.From,
  to: AddressList.split(message.To ?? "", Acceptance.MAX_TO),
  cc: AddressList.split(message.Cc ?? "", MAX_COPIES),
  bcc: AddressList.split(message.Bcc ?? "", MAX_COPIES),
  reply_to: AddressList.split(message.ReplyTo ?? "", MAX_REPLY_TO),
  subject: String(message.Subject ?? ""),
  html: message.HtmlBody ?? undefined,
  text: message.TextBody ?? undefined,
  headers: message.Headers
    ? OwnHeaders.drop(Object.fromEntries(message.Headers.map(({ Name, Value = "" }) => [Name, Value])), [
        message.ReplyTo ?? "",
      ])
    : undefined,
  ...labelsOf(message),
  tracking: tracks ? trackingOf(message) : undefined,
  attachments: filesOf(message),
})

const filesOf = ({ Attachments, HtmlBody = "" }: Message) => {
  const isShown = shownIn(Attachments === undefined ? "" : HtmlBody)
  return Attachments?.map(({ Content, ContentID, ContentType, Name = Fields.UNNAMED }) => ({
    filename: Name,
    content: Fields.base64Of(Content),
    content_type: present(ContentType) ? ContentType : undefined,
    // Postmark's client for PHP repeats the name of each file as its id, which says nothing unless the HTML shows the file.
    content_id:
      present(ContentID) && (ContentID !== Name || isShown(Name)) ? ContentID.replace(/^cid:/u, "") : undefined,
  }))
}

/** A tag that is too long for ours is kept with the metadata. */
const labelsOf = ({ Metadata, Tag = "" }: Message) => {
  const { metadata, tags } = Labels.divide(Tag === "" ? [] : [String(Tag)])
  const pairs = { ...metadata, ...Metadata }
  return {
    tags: tags.length === 0 ? undefined : tags,
    metadata: Object.keys(pairs).length === 0 ? undefined : Fields.strings(pairs),
  }
}

/** Omitted if neither is set, so that the domain's setting applies. Links of the text are never tracked. */
const trackingOf = ({ TrackLinks, TrackOpens }: Message) =>
  typeof TrackOpens !== "boolean" && !TrackLinks
    ? undefined
    : { opens: TrackOpens, clicks: TrackLinks ? /^html/iu.test(TrackLinks) : undefined }
