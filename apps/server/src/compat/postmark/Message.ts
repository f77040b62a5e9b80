import type { Detail } from "@waybill/domain/values/Refusal"
import { Schema } from "effect"
import type { Spelling } from "../Respelling.ts"
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
  Metadata: field(Schema.Record(Schema.String, Schema.String)),
  Headers: field(Schema.Array(Schema.Struct({ Name: Schema.String, Value: Schema.String }))),
  TrackOpens: field(Schema.Boolean),
  TrackLinks: field(LinkTracking),
  Attachments: field(Schema.Array(Attachment)),
  MessageStream: field(Schema.String),
})
export type Message = typeof Message.Type

/** Returns what a message asks for and Waybill does not have, beyond what its schema refuses. */
export const problemsOf = ({ Attachments, Headers, MessageStream, TrackLinks }: Message): ReadonlyArray<Detail> => {
  const names = (Headers ?? []).map(({ Name }) => Name.toLowerCase())
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
    ...names.flatMap((name, nth) =>
      names.indexOf(name) === nth ? [] : [{ path: `Headers[${nth}].Name`, message: "must not repeat a header" }],
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
  to: AddressList.split(message.To ?? ""),
  cc: AddressList.split(message.Cc ?? ""),
  bcc: AddressList.split(message.Bcc ?? ""),
  reply_to: AddressList.split(message.ReplyTo ?? ""),
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
const tagsOf = ({ Metadata, Tag }: Message) => [
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

const NAMES: Readonly<Record<string, string>> = {
  from: "From",
  to: "To",
  cc: "Cc",
  bcc: "Bcc",
  reply_to: "ReplyTo",
  subject: "Subject",
  html: "HtmlBody",
  text: "TextBody",
  headers: "Headers",
  tags: "Metadata",
  attachments: "Attachments",
  filename: "Name",
  content: "Content",
  content_type: "ContentType",
  content_id: "ContentID",
}

/** Fields whose addresses are in one text. */
const LISTS: Readonly<Record<string, (message: Message) => string | null | undefined>> = {
  to: ({ To }) => To,
  cc: ({ Cc }) => Cc,
  bcc: ({ Bcc }) => Bcc,
  reply_to: ({ ReplyTo }) => ReplyTo,
}

/** Returns how Postmark spells a field of the send that a message was translated to. Most messages need no spelling. */
export const spellingOf = (message: Message): Spelling => {
  let tags: ReturnType<typeof tagsOf> | undefined
  let headers: ReadonlyMap<string, number> | undefined
  return (path) => {
    const match = /^(\w+)(?:\[(\d+)\])?(?:\.(.+))?$/su.exec(path)
    if (match === null) return path
    const [, head = "", index, rest = ""] = match
    if (head === "tags" && index !== undefined) return (tags ??= tagsOf(message))[Number(index)]?.path ?? "Metadata"
    if (head === "tracking") return message.TrackOpens === true ? "TrackOpens" : "TrackLinks"
    if (head === "headers" && rest !== "") {
      headers ??= new Map((message.Headers ?? []).map(({ Name }, nth) => [Name, nth]))
      return `Headers[${headers.get(rest)}]`
    }
    const list = LISTS[head]?.(message)
    const position = index === undefined || (list && AddressList.split(list).length === 1) ? "" : `[${index}]`
    return `${NAMES[head] ?? head}${position}${rest === "" ? "" : `.${NAMES[rest] ?? rest}`}`
  }
}
