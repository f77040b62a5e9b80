import { MAX_BATCH } from "@waybill/api/schemas/Batch"
import * as Checks from "@waybill/api/schemas/Checks"
import { MAX_COPIES, MAX_REPLY_TO } from "@waybill/api/schemas/EmailMessage"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import { MAX_ATTACHMENTS } from "@waybill/domain/email/Content"
import * as Header from "@waybill/domain/email/Header"
import { MAX_TAGS } from "@waybill/domain/email/Tag"
import type { Detail } from "@waybill/domain/values/Refusal"
import { Schema } from "effect"
import * as Pairs from "../Pairs.ts"
import * as AddressList from "./AddressList.ts"
import * as Refusals from "./Refusals.ts"

/** A field that Postmark's clients leave out or send as null. */
const field = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

const Attachment = Schema.Struct({
  Name: Schema.String,
  Content: Schema.String,
  ContentType: field(Schema.String),
  ContentID: field(Schema.String),
  /** The size follows from the content. */
  ContentLength: field(Schema.Number),
  Disposition: field(Schema.Literals(["attachment", "inline"])),
})

const LinkTracking = Schema.Literals(["None", "HtmlAndText", "HtmlOnly", "TextOnly"])

const CustomHeader = Schema.Struct({ Name: Schema.String, Value: Schema.String })

/** A message as Postmark's API takes it. Fields that Waybill has no meaning for are refused by name. */
export const Message = Schema.Struct({
  From: Schema.String,
  To: field(Schema.String),
  Cc: field(Schema.String),
  Bcc: field(Schema.String),
  ReplyTo: field(Schema.String),
  Subject: field(Schema.String),
  HtmlBody: field(Schema.String),
  TextBody: field(Schema.String),
  Tag: field(Schema.String),
  Metadata: field(Pairs.schema(MAX_TAGS, "pairs")),
  Headers: field(Schema.Array(CustomHeader).check(Checks.items(0, Header.MAX_HEADERS, "headers"))),
  TrackOpens: field(Schema.Boolean),
  TrackLinks: field(LinkTracking),
  Attachments: field(Schema.Array(Attachment).check(Checks.items(0, MAX_ATTACHMENTS, "attachments"))),
  MessageStream: field(Schema.String),
})
export type Message = typeof Message.Type

/** Messages of a batch, each of which is decoded by itself. */
export const Batch = Schema.Array(Message).check(Checks.items(0, MAX_BATCH, "messages"))

/** Returns what a message asks for and Waybill does not have, beyond what its schema refuses. */
export const problemsOf = ({ Attachments, Headers, MessageStream, TrackLinks }: Message): ReadonlyArray<Detail> => {
  const names = new Set<string>()
  const isNew = (name: string) => names.size < names.add(name.toLowerCase()).size
  return [
    ...((MessageStream ?? Refusals.STREAM) === Refusals.STREAM
      ? []
      : [
          {
            path: "MessageStream",
            message: `must be \`${Refusals.STREAM}\` or left out: Waybill has no message streams`,
          },
        ]),
    ...(TrackLinks === "TextOnly"
      ? [{ path: "TrackLinks", message: "cannot be TextOnly: Waybill tracks links of the HTML only" }]
      : []),
    ...(Headers ?? []).flatMap(({ Name }, nth) =>
      isNew(Name) ? [] : [{ path: `Headers[${nth}].Name`, message: "must not repeat a header" }],
    ),
    ...(Attachments ?? []).flatMap(({ ContentID, Disposition }, nth) =>
      Disposition === "inline" && !present(ContentID)
        ? [{ path: `Attachments[${nth}].ContentID`, message: "is required with the Disposition inline" }]
        : [],
    ),
  ]
}

const present = (text: string | null | undefined): text is string => typeof text === "string" && text !== ""

/** Returns the body of our own send for a message. Absent fields are undefined, which JSON leaves out. */
export const toNative = (message: Message) => ({
  from: message.From,
  to: AddressList.split(message.To ?? "", Acceptance.MAX_TO),
  cc: AddressList.split(message.Cc ?? "", MAX_COPIES),
  bcc: AddressList.split(message.Bcc ?? "", MAX_COPIES),
  reply_to: AddressList.split(message.ReplyTo ?? "", MAX_REPLY_TO),
  subject: message.Subject ?? "",
  html: message.HtmlBody ?? undefined,
  text: message.TextBody ?? undefined,
  headers: message.Headers ? Object.fromEntries(message.Headers.map(({ Name, Value }) => [Name, Value])) : undefined,
  tags: tagsOf(message).map(({ tag }) => tag),
  tracking: trackingOf(message),
  attachments: message.Attachments?.map(({ Content, ContentID, ContentType, Name }) => ({
    filename: Name,
    content: Content,
    content_type: present(ContentType) ? ContentType : undefined,
    content_id: present(ContentID) ? ContentID.replace(/^cid:/u, "") : undefined,
  })),
})

/** The tag comes first; each pair of the metadata follows as `name:value`. */
export const tagsOf = ({ Metadata, Tag }: Message) => [
  ...(present(Tag) ? [{ tag: Tag, path: "Tag" }] : []),
  ...Object.entries(Metadata ?? {}).map(([name, value]) => ({ tag: `${name}:${value}`, path: `Metadata.${name}` })),
]

/** Omitted if neither is set, so that the domain's setting applies. */
const trackingOf = ({ TrackLinks, TrackOpens }: Message) =>
  typeof TrackOpens !== "boolean" && !TrackLinks
    ? undefined
    : { opens: TrackOpens ?? undefined, clicks: TrackLinks ? TrackLinks !== "None" : undefined }

/** Returns Postmark's tag and metadata of a message that has our tags. */
export const labelsOf = (tags: ReadonlyArray<string>) => {
  const isPair = (tag: string) => tag.includes(":")
  const pairs = tags.filter(isPair).map((tag): [string, string] => {
    const colon = tag.indexOf(":")
    return [tag.slice(0, colon), tag.slice(colon + 1)]
  })
  return { Tag: tags.find((tag) => !isPair(tag)) ?? "", Metadata: Object.fromEntries(pairs) }
}
