import { addressParser, type Attachment, decodeWords } from "postal-mime"
import * as EightBit from "../compose/EightBit.ts"
import * as HtmlReference from "../compose/HtmlReference.ts"
import * as LineEnds from "../compose/LineEnds.ts"
import * as MediaType from "../compose/MediaType.ts"
import type { Field, File, Mailbox, Submitted } from "../incoming/Submitted.ts"
import * as MimeReader from "./MimeReader.ts"

/** Lines that could open a part, boundaries included: each part costs memory, whatever its size. */
export const MAX_PARTS = 1000
/** A line costs memory however short it is, so many lines need bytes to be in. */
export const FREE_LINES = 20_000
export const BYTES_PER_LINE = 64
/** Addresses that one header may show; nobody reads more of them. */
export const MAX_ADDRESSES = 2000
/** Groups of addresses inside one another, which RFC 5322 does not know. Each level costs the parser one more reading. */
export const MAX_GROUP_DEPTH = 5
/** Places of the HTML that may show a file; one that is named behind them is attached. */
export const MAX_SHOWN = 10_000

/** Why a message is not read. */
export type Reason =
  | "too_many_lines"
  | "too_many_parts"
  | "too_complex"
  | "too_many_addresses"
  | "nested_groups"
  | "hollow"
  | "sealed"

/** Reads a message of RFC 5322 and MIME; what could cost more than it is worth is refused before it is parsed. */
export const readSubmitted = async (bytes: Uint8Array): Promise<Submitted | Reason> => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const reason = bomb(buffer)
  if (reason !== undefined) return reason
  const mail = await MimeReader.read(EightBit.inUtf8(buffer)).catch(() => undefined)
  if (mail === undefined) return "too_complex"
  if (SEALED.test(headerOf(mail, "content-type"))) return "sealed"
  // Nothing of it would be read, and an empty mail would go out.
  if (hasNoParts(mail.root) || mail.root.childNodes.some(isHollow)) return "hollow"
  if (mail.headers.some(({ key, value }) => SHOWN.has(key) && groupDepth(value) > MAX_GROUP_DEPTH))
    return "nested_groups"
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
    html: withoutLastBreak(mail.html),
    text: withoutLastBreak(mail.text),
    files: filesIn(mail),
  }
}

/** The parser ends every text with a line break, the one before a boundary included. */
const withoutLastBreak = (text: string | undefined): string | null => text?.replace(/\n$/u, "") ?? null

type Lists = [Array<Mailbox>, Array<Mailbox>, Array<Mailbox>, Array<Mailbox>]

/** Headers whose addresses are read. */
const SHOWN: ReadonlySet<string> = new Set(["from", "to", "cc", "reply-to"])
const READ: ReadonlySet<string> = new Set(["from", "to", "cc", "bcc", "reply-to", "subject"])
const SEALED = /^\s*(?:multipart\/(?:signed|encrypted)|application\/(?:x-)?pkcs7-mime)\b/iu

const LF = 0x0a

const bomb = (buffer: Buffer): "too_many_lines" | "too_many_parts" | undefined => {
  const most = FREE_LINES + buffer.length / BYTES_PER_LINE
  let lines = 0
  for (let at = buffer.indexOf(LF); at !== -1; at = buffer.indexOf(LF, at + 1))
    if (++lines > most) return "too_many_lines"
  let parts = 0
  for (let at = buffer.indexOf("\n--"); at !== -1; at = buffer.indexOf("\n--", at + 3))
    if (++parts > MAX_PARTS) return "too_many_parts"
  return undefined
}

const headerOf = (mail: MimeReader.Mail, name: string): string =>
  mail.headers.find(({ key }) => key === name)?.value ?? ""

/** How many groups are open at once, as the parser counts them: outside quotes, comments and angle brackets. */
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

/** The members of a group are shown like anybody else. A long name may be folded before a tab. */
const mailboxes = (mail: MimeReader.Mail, name: string): Array<Mailbox> =>
  mail.headers
    .filter(({ key }) => key === name)
    .flatMap(({ value }) => addressParser(value, { flatten: true }))
    .map((mailbox) => ({ address: mailbox.address ?? "", name: mailbox.name.replaceAll("\t", " ") }))

const filesIn = ({ attachments, html, root }: MimeReader.Mail): ReadonlyArray<File> => {
  const parts = partsIn(root)
  const shown = attachments.some(({ contentId }) => contentId !== undefined) ? shownIn(html ?? "") : new Set<string>()
  return attachments.flatMap((attachment) => (isForOthers(attachment) ? [] : [file(attachment, shown, parts)]))
}

/** Another form of what the texts say, for programs that know it. To all others it would be a file of no use. */
const isForOthers = ({ disposition, mimeType }: Attachment): boolean =>
  mimeType === "text/x-amp-html" && disposition !== "attachment"

/**
 * Many programs give each file an id. One that the HTML shows nowhere is a file like any other: standing behind the HTML,
 * it would be hidden from most readers.
 */
const file = (
  attachment: Attachment,
  shown: ReadonlySet<string>,
  parts: ReadonlyMap<unknown, MimeReader.Part>,
): File => {
  const { content, contentId, method, mimeType } = attachment
  const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content)
  const type = method !== undefined && METHOD.test(method) ? `${mimeType}; method=${method}` : mimeType
  const id = contentId?.trim().replace(/^<|>$/gu, "") ?? ""
  return {
    filename: attachment.filename ?? FALLBACK_NAMES.get(mimeType) ?? "attachment",
    bytes: CALENDARS.has(mimeType) ? LineEnds.inCrlf(bytes) : whole(bytes, parts.get(content)),
    contentType: MediaType.isMediaType(type) ? type : MediaType.UNKNOWN,
    contentId: shown.has(id) ? id : null,
  }
}

/** What HTML shows by its content id, as `src="cid:…"` or `url(cid:…)`, in whatever spelling. */
const shownIn = (html: string): ReadonlySet<string> => {
  const shown = new Set<string>()
  let looked = 0
  for (const [, written = ""] of html.matchAll(CID)) {
    if (++looked > MAX_SHOWN) break
    const id = HtmlReference.decode(written) ?? written
    shown.add(id).add(unescaped(id))
  }
  return shown
}

const CID = /\bcid:([^\s"'<>()\\]{1,1000})/giu

const unescaped = (id: string): string => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

const hasNoParts = ({ childNodes, contentType }: MimeReader.Part): boolean =>
  contentType.multipart !== false && childNodes.length === 0

/** A multipart inside another may be empty, as long as nothing stands in it. */
const isHollow = (part: MimeReader.Part): boolean =>
  hasNoParts(part) ? hasWords(part) : part.childNodes.some(isHollow)

const hasWords = ({ content }: MimeReader.Part): boolean =>
  content instanceof ArrayBuffer && new Uint8Array(content).some((byte) => byte > SPACE)
const SPACE = 0x20

/** By their bytes. */
const partsIn = (root: MimeReader.Part): ReadonlyMap<unknown, MimeReader.Part> => {
  const found = new Map<unknown, MimeReader.Part>()
  const add = (part: MimeReader.Part): void => {
    found.set(part.content, part)
    part.childNodes.forEach(add)
  }
  add(root)
  return found
}

/**
 * The parser ends all lines with LF, also the last, whose break belongs to the boundary after it, if there is one. In
 * quoted-printable an LF may have been written as one, and base64 has no lines of its own.
 */
const whole = (bytes: Uint8Array, part: MimeReader.Part | undefined): Uint8Array => {
  const encoding = part?.contentTransferEncoding.encoding
  if (encoding === undefined || encoding === "base64") return bytes
  const own = part?.parentNode !== undefined && bytes.at(-1) === LF ? bytes.subarray(0, -1) : bytes
  return encoding === "quoted-printable" ? own : LineEnds.inCrlf(own)
}

/** RFC 5545 §3.1 has their lines end in CRLF; the parser writes them anew. */
const CALENDARS: ReadonlySet<string> = new Set(["text/calendar", "application/ics"])
const METHOD = /^[A-Z-]{1,40}$/u

const FALLBACK_NAMES: ReadonlyMap<string, string> = new Map([
  ["message/rfc822", "message.eml"],
  ["text/calendar", "invite.ics"],
])
