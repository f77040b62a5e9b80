import { Effect, Schema } from "effect"
import PostalMime, { addressParser, type Attachment, decodeWords, type Email } from "postal-mime"
import * as EightBit from "./EightBit.ts"
import * as HtmlReference from "./HtmlReference.ts"
import * as MediaType from "./MediaType.ts"

/** Lines that could open a part, boundaries included: each part costs memory, whatever its size. */
export const MAX_PARTS = 1000
export const MAX_DEPTH = 20
/** Of all parts together. */
export const MAX_HEADER_BYTES = 256 * 1024
/** A line costs the parser some 13 µs however short it is, so many lines need bytes to be in. */
export const FREE_LINES = 20_000
export const BYTES_PER_LINE = 64
/** Addresses that one header may show; beyond it nobody reads them and parsing is all they cost. */
export const MAX_ADDRESSES = 2000
/** Places of the HTML that may show a file; one that is named behind them is attached. */
export const MAX_SHOWN = 10_000

/** One address of a header, both parts as they were written there. */
export interface Mailbox {
  readonly address: string
  readonly name: string
}

export interface File {
  readonly filename: string
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly contentId: string | null
}

/** A message as a mail program hands it in: what it shows and says, before any rule is applied to it. */
export interface Submitted {
  readonly from: ReadonlyArray<Mailbox>
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
  readonly replyTo: ReadonlyArray<Mailbox>
  /** The first, where there are more. */
  readonly subject: string
  readonly subjects: number
  /** In their order, repeated ones repeated, without those above. */
  readonly headers: ReadonlyArray<Field>
  readonly html: string | null
  readonly text: string | null
  readonly files: ReadonlyArray<File>
}

export interface Field {
  readonly name: string
  readonly value: string
}

const WORDS = {
  too_many_lines: "has more lines than this service reads",
  too_many_parts: `has more than ${MAX_PARTS} parts`,
  too_complex: `is nested deeper than ${MAX_DEPTH} parts or has more than ${MAX_HEADER_BYTES} bytes of headers`,
  too_many_addresses: `shows more than ${MAX_ADDRESSES} addresses`,
  hollow: "says that it has parts, and its boundary stands nowhere in it",
  sealed: "is signed or encrypted as a whole, and would not be so any more after this service has written it anew",
} as const

export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", {
  reason: Schema.Literals([
    "too_many_lines",
    "too_many_parts",
    "too_complex",
    "too_many_addresses",
    "hollow",
    "sealed",
  ]),
}) {
  override get message() {
    return `The message ${WORDS[this.reason]}`
  }
}

/** Reads a message of RFC 5322 and MIME; what could cost more than it is worth is refused before it is parsed. */
export const parse = Effect.fnUntraced(function* (bytes: Uint8Array): Effect.fn.Return<Submitted, Unreadable> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const reason = bomb(buffer)
  if (reason !== undefined) return yield* new Unreadable({ reason })
  const parser = new PostalMime({
    // A message inside a message is a file: its text is not this message's text.
    forceRfc822Attachments: true,
    maxNestingDepth: MAX_DEPTH,
    maxHeadersSize: MAX_HEADER_BYTES,
  })
  const email = yield* Effect.tryPromise({
    try: () => parser.parse(EightBit.inUtf8(buffer)),
    catch: () => new Unreadable({ reason: "too_complex" }),
  })
  const { root } = parser as unknown as { readonly root: Part }
  if (SEALED.test(headerOf(email, "content-type"))) return yield* new Unreadable({ reason: "sealed" })
  // Nothing of it would be read, and an empty mail would go out.
  if (hasNoParts(root) || root.childNodes.some(isHollow)) return yield* new Unreadable({ reason: "hollow" })
  const [from, to, cc, replyTo] = ["from", "to", "cc", "reply-to"].map((name) => mailboxes(email, name)) as Lists
  if (from.length + to.length + cc.length + replyTo.length > MAX_ADDRESSES)
    return yield* new Unreadable({ reason: "too_many_addresses" })
  return {
    from,
    to,
    cc,
    replyTo,
    subject: email.subject ?? "",
    subjects: email.headers.filter(({ key }) => key === "subject").length,
    headers: email.headers
      .filter(({ key }) => !READ.has(key))
      .map(({ originalKey, value }) => ({ name: originalKey, value: decodeWords(value) })),
    html: withoutLastBreak(email.html),
    text: withoutLastBreak(email.text),
    files: filesIn(email, root),
  }
})

/** The parser ends every text with a line break, the one before a boundary included. */
const withoutLastBreak = (text: string | undefined): string | null => text?.replace(/\n$/u, "") ?? null

type Lists = [Array<Mailbox>, Array<Mailbox>, Array<Mailbox>, Array<Mailbox>]

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

const headerOf = (email: Email, name: string): string => email.headers.find(({ key }) => key === name)?.value ?? ""

/** The members of a group are shown like anybody else. A long name may be folded before a tab. */
const mailboxes = (email: Email, name: string): Array<Mailbox> =>
  email.headers
    .filter(({ key }) => key === name)
    .flatMap(({ value }) => addressParser(value, { flatten: true }))
    .map((mailbox) => ({ address: mailbox.address ?? "", name: mailbox.name.replaceAll("\t", " ") }))

const filesIn = (email: Email, root: Part): ReadonlyArray<File> => {
  const parts = partsIn(root)
  const shown = email.attachments.some(({ contentId }) => contentId !== undefined)
    ? shownIn(email.html ?? "")
    : new Set<string>()
  return email.attachments.flatMap((attachment) => (isForOthers(attachment) ? [] : [file(attachment, shown, parts)]))
}

/** Another form of what the texts say, for programs that know it. To all others it would be a file of no use. */
const isForOthers = ({ disposition, mimeType }: Attachment): boolean =>
  mimeType === "text/x-amp-html" && disposition !== "attachment"

/**
 * Many programs give each file an id. One that the HTML shows nowhere is a file like any other: standing behind the HTML,
 * it would be hidden from most readers.
 */
const file = (attachment: Attachment, shown: ReadonlySet<string>, parts: ReadonlyMap<unknown, Part>): File => {
  const { content, contentId, method, mimeType } = attachment
  const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content)
  const type = method !== undefined && METHOD.test(method) ? `${mimeType}; method=${method}` : mimeType
  const id = contentId?.trim().replace(/^<|>$/gu, "") ?? ""
  return {
    filename: attachment.filename ?? FALLBACK_NAMES.get(mimeType) ?? "attachment",
    bytes: CALENDARS.has(mimeType) ? inCrlf(bytes) : whole(bytes, parts.get(content)),
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

/** Of the parser's own tree, which it keeps and does not show. */
interface Part {
  readonly parentNode?: Part | undefined
  readonly childNodes: ReadonlyArray<Part>
  readonly content: unknown
  readonly contentType: { readonly multipart: string | false }
  readonly contentTransferEncoding: { readonly encoding: string }
}

const hasNoParts = ({ childNodes, contentType }: Part): boolean =>
  contentType.multipart !== false && childNodes.length === 0

/** A multipart inside another may be empty, as long as nothing stands in it. */
const isHollow = (part: Part): boolean => (hasNoParts(part) ? hasWords(part) : part.childNodes.some(isHollow))

const hasWords = ({ content }: Part): boolean =>
  content instanceof ArrayBuffer && new Uint8Array(content).some((byte) => byte > SPACE)
const SPACE = 0x20

/** By their bytes. */
const partsIn = (root: Part): ReadonlyMap<unknown, Part> => {
  const found = new Map<unknown, Part>()
  const add = (part: Part): void => {
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
const whole = (bytes: Uint8Array, part: Part | undefined): Uint8Array => {
  const encoding = part?.contentTransferEncoding.encoding
  if (encoding === undefined || encoding === "base64") return bytes
  const own = part?.parentNode !== undefined && bytes.at(-1) === LF ? bytes.subarray(0, -1) : bytes
  return encoding === "quoted-printable" ? own : inCrlf(own)
}

const inCrlf = (bytes: Uint8Array): Uint8Array =>
  Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll("\n", "\r\n"), "latin1")

/** RFC 5545 §3.1 has their lines end in CRLF; the parser writes them anew. */
const CALENDARS: ReadonlySet<string> = new Set(["text/calendar", "application/ics"])
const METHOD = /^[A-Z-]{1,40}$/u

const FALLBACK_NAMES: ReadonlyMap<string, string> = new Map([
  ["message/rfc822", "message.eml"],
  ["text/calendar", "invite.ics"],
])
