import * as Address from "@waybill/domain/values/Address"
import * as Header from "@waybill/domain/email/Header"
import type { EmailId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result } from "effect"
import { textFromHtml } from "./textFromHtml.ts"
import * as MediaType from "./MediaType.ts"
import * as Message from "./Message.ts"
import * as MimeBody from "./MimeBody.ts"
import * as MimeHeader from "./MimeHeader.ts"
import * as TrackedHtml from "./TrackedHtml.ts"

export interface Composed {
  readonly bytes: Uint8Array
  readonly messageId: string
  /** Every recipient, each once. */
  readonly envelope: { readonly from: Address.Address; readonly to: ReadonlyArray<Address.Address> }
  /**
   * True when an address in a header is not ASCII: the next server must offer SMTPUTF8 (RFC 6531), or delivery fails.
   */
  readonly smtpUtf8: boolean
}

/** Returns the Message-ID, `id@domain of the sender`, without angle brackets. */
export const messageId = (id: EmailId, from: Address.Address): string => `${id}${from.slice(from.lastIndexOf("@"))}`

/** Parts derived from a message's HTML before it is composed, for callers that derive them on another thread. */
export interface Derived {
  /** Text part of a message that has none of its own; empty for a message with HTML only. */
  readonly text?: string | undefined
  readonly edits?: TrackedHtml.HtmlEdits | undefined
}

/** Composes the MIME message. Pure and total: the same message gives the same bytes, so a retry sends the same mail. */
export const compose = (
  message: Message.Message,
  derived: Derived = {},
): Result.Result<Composed, Message.NotComposable> => {
  const problem = Message.check(message)
  if (problem !== undefined) return Result.fail(problem)
  const { bcc = [], cc = [], from, replyTo = [], to } = message
  const recipients = [...new Set([...to, ...cc, ...bcc].map((mailbox) => mailbox.address))]
  const custom = Message.customHeaders(message)
  const id = messageId(message.id, message.from.address)

  const head = [
    `Date: ${date(message.createdAt)}`,
    MimeHeader.mailboxes("From", [from]),
    ...(replyTo.length > 0 ? [MimeHeader.mailboxes("Reply-To", replyTo)] : []),
    to.length > 0 ? MimeHeader.mailboxes("To", to) : NOBODY,
    ...(cc.length > 0 ? [MimeHeader.mailboxes("Cc", cc)] : []),
    MimeHeader.text("Subject", message.subject),
    `Message-ID: <${id}>`,
    ...unsubscribe(message, custom),
    ...custom.map(([name, value]) => customHeader(name, value)),
    ...ownHeaders(message, custom),
    "MIME-Version: 1.0",
  ].join("\r\n")
  const chunks: Array<string | Buffer> = [head, "\r\n"]
  const entity = message.attachments?.find(({ isEntity }) => isEntity === true)
  if (entity === undefined) write(body(message, derived), chunks)
  const last = entity === undefined ? (chunks.at(-1) ?? "") : Buffer.from(entity.content)
  const end = endsInBreak(last) ? "" : "\r\n"
  const headers = [from, ...to, ...cc, ...replyTo, ...custom.flatMap(([name, value]) => senderOf(name, value))]
  return Result.succeed({
    bytes:
      entity === undefined
        ? concat([...chunks, end])
        : Buffer.concat([concat(chunks), entity.content, Buffer.from(end)]),
    messageId: id,
    envelope: { from: from.address, to: recipients },
    smtpUtf8: headers.some((mailbox) => isUtf8(mailbox.address)),
  })
}

const ownHeaders = (
  { ownHeaders = [] }: Message.Message,
  custom: ReadonlyArray<readonly [name: string, value: string]>,
): ReadonlyArray<string> =>
  ownHeaders
    .filter(([name]) => !custom.some(([other]) => other.toLowerCase() === name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}`)

/** An empty group (RFC 5322 §3.4): an empty To is not valid, and filters distrust mail without one. */
const NOBODY = "To: undisclosed-recipients:;"

/**
 * Returns the mailboxes of a Sender header, whose name may be encoded; empty for mail written before Sender was
 * checked.
 */
const senderOf = (name: string, value: string): ReadonlyArray<Address.Mailbox> => {
  const parsed = name.toLowerCase() === Header.SENDER ? Address.parse(value) : undefined
  return parsed !== undefined && Result.isSuccess(parsed) ? [parsed.success] : []
}

const customHeader = (name: string, value: string): string => {
  const sender = senderOf(name, value)
  return sender.length > 0 ? MimeHeader.mailboxes(name, sender) : MimeHeader.custom(name, value)
}

type Part =
  | { readonly _tag: "Leaf"; readonly headers: string; readonly body: MimeBody.EncodedBody }
  | {
      readonly _tag: "Multipart"
      readonly type: string
      readonly boundary: string
      readonly parts: ReadonlyArray<Part>
    }

const body = (message: Message.Message, derived: Derived): Part => {
  const stem = `=_${message.id}`
  const all = message.attachments ?? []
  const forms = all.filter((file) => file.isAlternative === true)
  const attachments = forms.length === 0 ? all : all.filter((file) => !forms.includes(file))
  // A content id is useful only to HTML. Without HTML the file is an ordinary attachment.
  const inline = message.html === undefined ? [] : attachments.filter((file) => file.contentId !== undefined)
  const attached = attachments.filter((file) => !inline.includes(file))
  const text = message.text ?? derived.text ?? (message.html === undefined ? "" : textFromHtml(message.html))

  const texts: Array<Part> = []
  // An empty text beside HTML is how a customer asks for no text part.
  if (text !== "" || message.html === undefined) texts.push(textPart("plain", text, stem))
  if (message.html !== undefined) {
    texts.push(
      multipart(`related; type="text/html"`, `${stem}_rel`, [
        textPart("html", tracked(message, message.html, derived.edits), stem),
        ...inline.map((file) => filePart(file, "inline", stem)),
      ]),
    )
  }
  texts.push(...forms.map(formPart))
  return multipart("mixed", `${stem}_mix`, [
    multipart("alternative", `${stem}_alt`, texts),
    ...attached.map((file) => filePart(file, "attachment", stem)),
  ])
}

/**
 * Returns the HTML with tracked links. The text part is derived from the original HTML and keeps the original links.
 */
const tracked = (message: Message.Message, html: string, edits?: TrackedHtml.HtmlEdits): string => {
  const { tracking } = message
  return tracking === undefined
    ? html
    : TrackedHtml.write(html, edits ?? TrackedHtml.find(linksIn(message, html, tracking)), tracking)
}

/** Returns the places of trackable links in a message's HTML. */
export const linksIn = (
  { headers = {}, unsubscribeUrl }: Message.Message,
  html: string,
  { click }: TrackedHtml.Addresses,
): Parameters<typeof TrackedHtml.find>[0] => {
  const own = Object.entries(headers).flatMap(([name, value]) =>
    name.toLowerCase() === "list-unsubscribe" ? Array.from(value.matchAll(/<([^<>]+)>/gu), ([, url = ""]) => url) : [],
  )
  return {
    html,
    own: new Set(unsubscribeUrl === undefined ? own : [...own, unsubscribeUrl]),
    links: click !== undefined,
  }
}

/** Returns a multipart; a multipart with a single part is that part. */
const multipart = (type: string, boundary: string, parts: ReadonlyArray<Part>): Part => {
  const [only, ...others] = parts
  return only !== undefined && others.length === 0 ? only : { _tag: "Multipart", type, boundary, parts }
}

const textPart = (subtype: "plain" | "html", text: string, stem: string): Part => ({
  _tag: "Leaf",
  headers: `Content-Type: text/${subtype}; charset=utf-8`,
  body: MimeBody.encodeText(text, stem),
})

/** A form of the text that only some programs read: the last one, which they prefer (RFC 2046 §5.1.4). */
const formPart = (file: Message.Attachment): Part => ({
  _tag: "Leaf",
  headers: `Content-Type: ${MediaType.withoutName(file.contentType ?? MediaType.fromFilename(file.filename))}`,
  body: { encoding: "base64", content: MimeBody.base64Lines(file.content) },
})

const filePart = (file: Message.Attachment, disposition: "inline" | "attachment", stem: string): Part => {
  const declared = MediaType.withoutName(file.contentType ?? MediaType.fromFilename(file.filename))
  const message = /^message\//i.test(declared) ? MimeBody.sevenBitMessage(file.content, stem) : undefined
  // Content that may not be encoded, yet needs encoding, is sent as application/octet-stream under its name.
  const type = /^(?:multipart|message)\//i.test(declared) && message === undefined ? MediaType.UNKNOWN : declared
  const contentId = file.contentId === undefined ? "" : `\r\nContent-ID: <${Message.bareContentId(file.contentId)}>`
  return {
    _tag: "Leaf",
    headers:
      `Content-Type: ${type}${MimeHeader.legacyName(file.filename)}\r\n` +
      `Content-Disposition: ${disposition}${MimeHeader.parameter("filename", file.filename)}${contentId}`,
    body:
      message === undefined
        ? { encoding: "base64", content: MimeBody.base64Lines(file.content) }
        : { encoding: "7bit", content: message },
  }
}

const write = (part: Part, chunks: Array<string | Buffer>): void => {
  if (part._tag === "Leaf") {
    chunks.push(part.headers, `\r\nContent-Transfer-Encoding: ${part.body.encoding}\r\n\r\n`, part.body.content)
    return
  }
  chunks.push(`Content-Type: multipart/${part.type};\r\n boundary="${part.boundary}"\r\n`)
  for (const child of part.parts) {
    chunks.push(`\r\n--${part.boundary}\r\n`)
    write(child, chunks)
  }
  chunks.push(`\r\n--${part.boundary}--`)
}

/** Domains are A-labels here, so only a local part can hold other characters. */
const isUtf8 = (address: Address.Address): boolean => !/^\p{ASCII}*$/u.test(address)

const endsInBreak = (chunk: string | Buffer): boolean =>
  typeof chunk === "string" ? chunk.endsWith("\r\n") : chunk.at(-1) === 10 && chunk.at(-2) === 13

/** A chunk up to this size joins the text around it, since one conversion costs less than many buffers. */
const SMALL_CHUNK_BYTES = 64 * 1024

/** Concatenates the chunks. Only addresses may hold more than ASCII. */
const concat = (chunks: ReadonlyArray<string | Buffer>): Uint8Array => {
  const buffers: Array<Buffer> = []
  let text = ""
  for (const chunk of chunks) {
    const isSmall = typeof chunk === "string" || chunk.length <= SMALL_CHUNK_BYTES
    if (isSmall) text += typeof chunk === "string" ? chunk : chunk.toString("latin1")
    if (isSmall && text.length <= SMALL_CHUNK_BYTES) continue
    buffers.push(Buffer.from(text))
    text = ""
    if (!isSmall) buffers.push(chunk)
  }
  const rest = Buffer.from(text)
  return buffers.length === 0 ? rest : Buffer.concat([...buffers, rest])
}

const unsubscribe = (
  { unsubscribeUrl }: Message.Message,
  custom: ReadonlyArray<readonly [string, string]>,
): Array<string> =>
  // A List-Unsubscribe header set by the customer takes precedence.
  unsubscribeUrl === undefined || custom.some(([name]) => name.toLowerCase() === "list-unsubscribe")
    ? []
    : [
        MimeHeader.fold("List-Unsubscribe", `<${unsubscribeUrl}>`),
        ...(custom.some(([name]) => name.toLowerCase() === "list-unsubscribe-post")
          ? []
          : ["List-Unsubscribe-Post: List-Unsubscribe=One-Click"]),
      ]

/** Formats a Date header in UTC (RFC 5322 §3.3). */
export const date = (at: Timestamp.Timestamp): string => new Date(at).toUTCString().replace("GMT", "+0000")
