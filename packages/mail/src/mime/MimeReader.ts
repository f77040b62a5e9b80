import { addressParser, decodeWords } from "postal-mime"
import { HTML_TEXT_LIMIT, textFromHtml } from "../compose/textFromHtml.ts"
import * as Charsets from "./Charsets.ts"
import { flowedText } from "./flowedText.ts"
import * as HeaderFields from "./HeaderFields.ts"
import { isNamedFile } from "./isNamedFile.ts"
import * as MimeTree from "./MimeTree.ts"
import * as PartBody from "./PartBody.ts"

/** Characters of a From header that are searched for the first address. */
const MAX_FROM_CHARS = 4096

/** A part that is no text of the message. */
export interface File {
  readonly part: MimeTree.Part
  readonly filename: string | null
  readonly mimeType: string
  /** With its angle brackets. */
  readonly contentId: string | undefined
  readonly content: Uint8Array
}

export interface Mail {
  readonly headers: ReadonlyArray<HeaderFields.Field>
  /** First address of the From header. */
  readonly from: string | undefined
  readonly subject: string | undefined
  readonly inReplyTo: string | undefined
  readonly references: string | undefined
  readonly html: string | undefined
  readonly text: string | undefined
  readonly files: ReadonlyArray<File>
  readonly root: MimeTree.Part
}

export interface Options {
  /**
   * Whether content has every byte of a part: no line break of the boundary behind it, calendars as they are. Otherwise
   * each text ends in a line break.
   */
  readonly exact?: boolean
}

/** RFC 5545 §3.1 ends their lines with CRLF. */
export const CALENDARS: ReadonlySet<string> = new Set(["text/calendar", "application/ics"])
const TEXTS: ReadonlySet<string> = new Set(["text/plain", "text/html"])

/** Reads a message in time linear in its bytes. Throws `TooComplex` if it has more parts or headers than are taken. */
export const read = (bytes: Uint8Array, { exact = false }: Options = {}): Mail => {
  const root = MimeTree.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const collector = new Collector(exact)
  collector.add(root, undefined, true)
  const { headers } = root
  return {
    headers,
    from: addressParser((HeaderFields.valueOf(headers, "from") ?? "").slice(0, MAX_FROM_CHARS), { flatten: true })[0]
      ?.address,
    subject: decoded(headers, "subject"),
    inReplyTo: decoded(headers, "in-reply-to"),
    references: decoded(headers, "references"),
    html: collector.html(),
    text: collector.text(),
    files: collector.files,
    root,
  }
}

/** Reads a message, or returns undefined if it is too complex. */
export const readIfSimple = (bytes: Uint8Array, options?: Options): Mail | undefined => {
  try {
    return read(bytes, options)
  } catch (error) {
    if (error instanceof MimeTree.TooComplex) return undefined
    throw error
  }
}

const decoded = (headers: ReadonlyArray<HeaderFields.Field>, name: string): string | undefined => {
  const value = HeaderFields.valueOf(headers, name)
  return value === undefined || value === "" ? undefined : decodeWords(value)
}

/** The texts of one part, or of all alternatives of a text. */
interface Texts {
  readonly plain: Array<string>
  readonly html: Array<string>
}

/** Sorts the parts of a message into its texts and its files. A message inside it is a file. */
class Collector {
  readonly files: Array<File> = []
  readonly #texts = new Map<MimeTree.Part, Texts>()
  readonly #exact: boolean

  constructor(exact: boolean) {
    this.#exact = exact
  }

  /** Adds a part and those inside it. Alternatives of a text are kept together. */
  add(part: MimeTree.Part, alternative: MimeTree.Part | undefined, isFirst: boolean): void {
    const inside = part.multipart === "alternative" ? part : alternative
    for (const [nth, child] of part.children.entries()) this.add(child, inside, nth === 0)
    if (part.multipart !== undefined) return
    const isText = TEXTS.has(part.type.value) && !isNamedFile(part, isFirst)
    const content = PartBody.decode(part.body, part.encoding, {
      // The line end of a text that is the whole message belongs to the end of DATA.
      dropsLastBreak: this.#exact && (part.parent !== undefined || isText),
      keepsCrlf: this.#exact && CALENDARS.has(part.type.value),
      isWhole: this.#exact && part.type.value === "message/rfc822",
    })
    if (!isText) return void this.files.push(fileOf(part, this.#exact ? content : withOneBreak(part, content)))
    const texts = this.#texts.get(alternative ?? part) ?? { plain: [], html: [] }
    this.#texts.set(alternative ?? part, texts)
    texts[part.type.value === "text/html" ? "html" : "plain"].push(textOf(part, content))
  }

  html(): string | undefined {
    const all = [...this.#texts.values()]
    if (all.every(({ html }) => html.length === 0)) return undefined
    return this.#joined(all.flatMap(({ html, plain }) => (html.length > 0 ? html : plain.map(htmlFromText))))
  }

  /** HTML without a text beside it becomes text; of all such parts together as much is read as of the HTML of a mail. */
  text(): string | undefined {
    const all = [...this.#texts.values()]
    if (all.every(({ plain }) => plain.length === 0)) return undefined
    let left = HTML_TEXT_LIMIT
    const derived = (html: string): string => {
      if (left === 0) return ""
      const text = textFromHtml(html.slice(0, left + 1))
      left = Math.max(0, left - html.length)
      return text
    }
    return this.#joined(all.flatMap(({ html, plain }) => (plain.length > 0 ? plain : html.map(derived))))
  }

  /** Joins texts with an empty line between them. Those that are not exact end in a line break already. */
  #joined(parts: ReadonlyArray<string>): string | undefined {
    return parts.join(this.#exact ? "\n\n" : "\n") || undefined
  }
}

const fileOf = (part: MimeTree.Part, content: Uint8Array): File => {
  const name = part.disposition.params.get("filename") || part.type.params.get("name")
  return {
    part,
    filename: name ? decodeWords(name) : null,
    mimeType: part.type.value,
    contentId: HeaderFields.valueOf(part.headers, "content-id") || undefined,
    content,
  }
}

const textOf = ({ type }: MimeTree.Part, content: Uint8Array): string => {
  const text = Charsets.decode(content, type.params.get("charset") ?? "")
  if (type.params.get("format")?.toLowerCase() !== "flowed") return text
  return flowedText(text, type.params.get("delsp")?.toLowerCase() === "yes")
}

/** Returns a calendar in UTF-8 that ends in one line break, and any other content as it is. */
const withOneBreak = (part: MimeTree.Part, content: Uint8Array): Uint8Array => {
  if (!CALENDARS.has(part.type.value)) return content
  const text = textOf(part, content).replaceAll("\r\n", "\n")
  let end = text.length
  while (text[end - 1] === "\n") end--
  return Buffer.from(`${text.slice(0, end)}\n`)
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "<br>",
}

const htmlFromText = (text: string): string =>
  `<div>${text.trim().replaceAll(/[&<>"\n]/gu, (character) => ESCAPES[character] ?? character)}</div>`
