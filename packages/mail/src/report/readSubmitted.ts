import { valueOr } from "@waybill/runtime/flow/valueOr"
import { addressParser, decodeWords } from "postal-mime"
import * as EightBit from "../compose/EightBit.ts"
import * as HtmlReference from "../compose/HtmlReference.ts"
import * as LineEnds from "../compose/LineEnds.ts"
import * as MediaType from "../compose/MediaType.ts"
import type { Field, SubmittedFile, SubmittedMailbox, SubmittedMessage } from "./SubmittedMessage.ts"
import * as ProtectedEntity from "./ProtectedEntity.ts"
import * as Encodings from "../mime/Encodings.ts"
import * as MimeReader from "../mime/MimeReader.ts"
import type { Part } from "../mime/MimeTree.ts"

/** Maximum lines that could open a part, boundaries included; each part costs memory, whatever its size. */
export const MAX_PARTS = 1000
/** Lines allowed whatever their length; more lines need bytes, since each costs memory. */
export const FREE_LINES = 20_000
export const BYTES_PER_LINE = 64
/** Maximum addresses of one header. */
export const MAX_ADDRESSES = 2000
/** Maximum nesting of address groups, which RFC 5322 does not allow. Each level costs the parser another pass. */
export const MAX_GROUP_DEPTH = 5
/** Maximum uses of content ids in the HTML that are looked at; files used only after them are attached. */
export const MAX_CONTENT_ID_USES = 10_000

/** Why a message is not read. */
export type Reason =
  | "too_many_lines"
  | "too_many_parts"
  | "too_complex"
  | "too_many_addresses"
  | "nested_groups"
  | "empty_multipart"
  | "header_without_colon"
  | "long_line"
  | Encodings.Unknown

/** Reads a message of RFC 5322 and MIME; refuses anything too costly before it is parsed. */
export const readSubmitted = (bytes: Uint8Array): SubmittedMessage | Reason => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const reason = tooLarge(buffer)
  if (reason !== undefined) return reason
  const mail = MimeReader.readIfSimple(EightBit.inUtf8(buffer), { exact: true })
  if (mail === undefined) return "too_complex"
  // Such a line is text to some readers and a header to others: one of them would lose it.
  if (mail.headers.some(({ hasColon }) => !hasColon)) return "header_without_colon"
  // Nothing of it would be read, and an empty mail would be sent.
  if (hasNoParts(mail.root) || mail.root.children.some(hasEmptyMultipart)) return "empty_multipart"
  if (mail.headers.some(({ key, value }) => ADDRESS_HEADERS.has(key) && groupDepth(value) > MAX_GROUP_DEPTH))
    return "nested_groups"
  const files = protectedEntity(buffer, mail.root) ?? filesIn(mail)
  if (files === "long_line") return files
  const isProtected = files.some(({ isEntity }) => isEntity)
  // Nothing inside an entity that stays as it is has to be understood.
  const unknown = isProtected ? undefined : Encodings.findUnknown(mail)
  if (unknown !== undefined) return unknown
  const [from, to, cc, replyTo] = ["from", "to", "cc", "reply-to"].map((name) => mailboxes(mail, name)) as Lists
  if (from.length + to.length + cc.length + replyTo.length > MAX_ADDRESSES) return "too_many_addresses"
  return {
    from,
    to,
    cc,
    replyTo,
    subject: mail.subject ?? "",
    subjects: mail.headers.filter(({ key }) => key === "subject").length,
    headers: mail.headers
      .filter(({ key }) => !READ.has(key))
      .map(({ originalKey, value }): Field => ({ name: originalKey, value: decodeWords(value) })),
    html: isProtected ? null : (mail.html ?? null),
    text: isProtected ? null : (mail.text ?? null),
    files,
  }
}

type Lists = [Array<SubmittedMailbox>, Array<SubmittedMailbox>, Array<SubmittedMailbox>, Array<SubmittedMailbox>]

/** Headers whose addresses are read. */
const ADDRESS_HEADERS: ReadonlySet<string> = new Set(["from", "to", "cc", "reply-to"])
const READ: ReadonlySet<string> = new Set(["from", "to", "cc", "bcc", "reply-to", "subject"])

/** Returns a message that is signed or encrypted as a whole as one file; `undefined` for all others. */
const protectedEntity = (message: Buffer, { type }: Part): ReadonlyArray<SubmittedFile> | "long_line" | undefined => {
  const filename = ProtectedEntity.filenameOf(type.value)
  if (filename === undefined) return undefined
  const bytes = ProtectedEntity.read(message)
  if (ProtectedEntity.hasLongLine(bytes)) return "long_line"
  return [{ filename, bytes, contentType: type.value, contentId: null, isAlternative: false, isEntity: true }]
}

const LF = 0x0a

const tooLarge = (buffer: Buffer): "too_many_lines" | "too_many_parts" | undefined => {
  const most = FREE_LINES + buffer.length / BYTES_PER_LINE
  let lines = 0
  for (let at = buffer.indexOf(LF); at !== -1; at = buffer.indexOf(LF, at + 1))
    if (++lines > most) return "too_many_lines"
  let parts = 0
  for (let at = buffer.indexOf("\n--"); at !== -1; at = buffer.indexOf("\n--", at + 3))
    if (++parts > MAX_PARTS) return "too_many_parts"
  return undefined
}

/** Returns the depth of open groups as the parser counts it: outside quotes, comments and angle brackets. */
const groupDepth = (value: string): number => {
  let depth = 0
  let deepest = 0
  let end = ""
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? ""
    if (end !== "") {
      if (end === QUOTE && character === "\\") at++
      else if (character === end) end = ""
    } else if (character === QUOTE) end = QUOTE
    else if (character === "<") end = ">"
    else if (character === "(") end = ")"
    else if (character === ";") depth = 0
    else if (character === ":") deepest = Math.max(deepest, ++depth)
  }
  return deepest
}
const QUOTE = '"'

/** Returns the mailboxes, members of groups included. A long name may be folded before a tab. */
const mailboxes = (mail: MimeReader.Mail, name: string): Array<SubmittedMailbox> =>
  mail.headers
    .filter(({ key }) => key === name)
    .flatMap(({ value }) => addressParser(value, { flatten: true }))
    .map((mailbox) => ({ address: mailbox.address ?? "", name: mailbox.name.replaceAll("\t", " ") }))

const hasNoParts = ({ children, multipart }: Part): boolean => multipart !== undefined && children.length === 0

/** A multipart inside another may be empty, as long as it holds no text. */
const hasEmptyMultipart = (part: Part): boolean =>
  hasNoParts(part) ? part.body.some((byte) => byte > SPACE) : part.children.some(hasEmptyMultipart)
const SPACE = 0x20

const filesIn = ({ files, html }: MimeReader.Mail): ReadonlyArray<SubmittedFile> => {
  const shown = files.some(({ contentId }) => contentId !== undefined) ? contentIdsIn(html ?? "") : new Set<string>()
  return files.flatMap((each) => (isForOthers(each) ? [] : [file(each, shown)]))
}

/** An alternative of the text for programs that know its type; a useless file for all others. */
const isForOthers = ({ mimeType, part }: MimeReader.File): boolean =>
  mimeType === "text/x-amp-html" && part.disposition.value !== "attachment"

/** Whether a part is one form of the text among others. */
const isForm = ({ disposition, parent }: Part): boolean =>
  parent?.multipart === "alternative" && disposition.value !== "attachment"

/**
 * Many programs give each file a content id. One that the HTML never shows is an ordinary file: inside
 * multipart/related most readers would hide it.
 */
const file = ({ content, contentId, filename, mimeType, part }: MimeReader.File, shown: ReadonlySet<string>) => {
  const method = MimeReader.CALENDARS.has(mimeType) ? (part.type.params.get("method")?.toUpperCase().trim() ?? "") : ""
  const charset = part.type.params.get("charset")?.toLowerCase() ?? ""
  const type = [
    mimeType,
    ...(METHOD.test(method) ? [`method=${method}`] : []),
    ...(CHARSET.test(charset) && !IN_UTF8.has(charset) ? [`charset=${charset}`] : []),
  ].join("; ")
  const id = contentId?.trim().replace(/^<|>$/gu, "") ?? ""
  return {
    filename: filename ?? FALLBACK_NAMES.get(mimeType) ?? "attachment",
    bytes: originalBytes(content, part),
    contentType: MediaType.isMediaType(type) ? type : MediaType.UNKNOWN,
    contentId: shown.has(id) ? id : null,
    isAlternative: mimeType === "text/calendar" && isForm(part),
    isEntity: false,
  }
}

/** Returns the content ids that HTML shows, as `src="cid:…"` or `url(cid:…)`, in any spelling. */
const contentIdsIn = (html: string): ReadonlySet<string> => {
  const shown = new Set<string>()
  let uses = 0
  for (const [, raw = ""] of html.matchAll(CID)) {
    if (++uses > MAX_CONTENT_ID_USES) break
    const id = HtmlReference.decode(raw) ?? raw
    shown.add(id).add(unescaped(id))
  }
  return shown
}

const CID = /\bcid:([^\s"'<>()\\]{1,1000})/giu

const unescaped = (id: string): string => valueOr(() => decodeURIComponent(id), id)

/**
 * The reader ends the lines of unencoded parts with LF. In quoted-printable an LF may have been written as one, and
 * base64 has no lines of its own, and an attached mail was read with its own.
 */
const originalBytes = (bytes: Uint8Array, part: Part): Uint8Array =>
  Encodings.isEncoded(part) || part.type.value === "message/rfc822" ? bytes : LineEnds.inCrlf(bytes)

const METHOD = /^[A-Z-]{1,40}$/u
const CHARSET = /^[\w.:+-]{1,40}$/u
/** Charsets of which UTF-8 is a superset: whether the bytes are UTF-8 decides. */
const IN_UTF8: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", "ascii"])

const FALLBACK_NAMES: ReadonlyMap<string, string> = new Map([
  ["message/rfc822", "message.eml"],
  ["text/calendar", "invite.ics"],
])
