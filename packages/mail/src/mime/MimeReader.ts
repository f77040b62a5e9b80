import PostalMime, { addressParser, type Attachment, decodeWords } from "postal-mime"
import { HTML_TEXT_LIMIT, textFromHtml } from "../compose/textFromHtml.ts"
import { isNamedFile } from "./isNamedFile.ts"
import { PartBody } from "./PartBody.ts"

/** Maximum nesting of parts; real mail is far below. */
export const MAX_DEPTH = 20
/** Maximum bytes of all parts' headers. */
export const MAX_HEADER_BYTES = 256 * 1024
/** Characters of a From header that are searched for the first address. */
const MAX_FROM_CHARS = 4096

/** A node of the parser's tree. */
export interface Part {
  readonly parentNode?: Part | undefined
  readonly childNodes: ReadonlyArray<Part>
  readonly content: unknown
  readonly contentType: { readonly multipart: string | false }
  readonly contentTransferEncoding: { readonly encoding: string }
}

/** The same with its headers. */
export interface Node extends Part {
  readonly parentNode?: Node | undefined
  readonly childNodes: ReadonlyArray<Node>
  readonly contentType: { readonly multipart: string | false; readonly parsed: StructuredValue }
  readonly contentDisposition: { readonly parsed: StructuredValue }
  readonly headers: ReadonlyArray<Field>
  /** The lines of its headers, each with those that continue it. */
  readonly rawHeaderLines: ReadonlyArray<{ readonly line: string }>
}

interface StructuredValue {
  /** In lower case. */
  readonly value: string
  readonly params: { readonly [name: string]: string | undefined }
}

interface OpenPart extends Node {
  readonly state: "header" | "body" | "finished"
  contentDecoder: unknown
}

export interface Field {
  readonly key: string
  readonly originalKey: string
  readonly value: string
}

interface Texts {
  readonly plain?: ReadonlyArray<{ readonly value: string }>
  readonly html?: ReadonlyArray<{ readonly value: string }>
}

export interface ParsedMail {
  readonly headers: ReadonlyArray<Field>
  /** First address of the From header. */
  readonly from: string | undefined
  readonly subject: string | undefined
  readonly inReplyTo: string | undefined
  readonly references: string | undefined
  readonly html: string | undefined
  readonly text: string | undefined
  readonly attachments: ReadonlyArray<Attachment>
  readonly root: Part
}

export interface MailTree extends ParsedMail {
  readonly root: Node
  /** The nodes of the attachments. */
  readonly nodes: ReadonlyMap<Attachment, Node>
}

export interface Options {
  /**
   * Whether content has every byte of a part: no line break of the boundary behind it, calendars as they are. Otherwise
   * it is as the parser has it.
   */
  readonly exact?: boolean
}

/** RFC 5545 §3.1 ends their lines with CRLF. */
export const CALENDARS: ReadonlySet<string> = new Set(["text/calendar", "application/ics"])

/**
 * Reads a message with the linear parts of postal-mime: headers, tree and character sets. Its other parts are not
 * called: its text from HTML is cubic in the length of a tag, each line of a body costs 13 µs, and it parses every
 * address header (decision 0023).
 */
export const read = (bytes: Uint8Array, { exact = false }: Options = {}): Promise<MailTree> =>
  new MimeReader(exact).read(bytes)

class MimeReader extends PostalMime {
  /** Members that the parser's types leave out. */
  declare private readonly root: OpenPart
  declare private readonly currentNode: OpenPart
  declare private readonly boundaries: ReadonlyArray<{ readonly value: Uint8Array }>
  declare private readonly textMap: ReadonlyMap<unknown, Texts>
  declare private readonly textTypes: ReadonlySet<"plain" | "html">
  declare private readonly attachments: ReadonlyArray<Attachment>
  declare private forceRfc822Attachments: boolean
  declare private readonly processLine: (line: Uint8Array, isFinal: boolean) => Promise<void>
  declare private readonly finalize: () => Promise<void>
  declare private readonly collectNode: (node: Part, alternative: false, related: false) => Promise<void>
  readonly #exact: boolean
  readonly #nodes = new Map<Attachment, Node>()

  constructor(exact: boolean) {
    super({ maxNestingDepth: MAX_DEPTH, maxHeadersSize: MAX_HEADER_BYTES })
    this.#exact = exact
  }

  async read(bytes: Uint8Array): Promise<MailTree> {
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let at = 0; at < message.length;) {
      at = this.#readBody(message, at)
      if (at === message.length) break
      const found = message.indexOf(LF, at)
      const end = found === -1 ? message.length : found + 1
      await this.processLine(message.subarray(at, endOfText(message, at, end)), false)
      at = end
    }
    await this.finalize()
    // A message inside a message is a file: its text is not this message's text.
    this.forceRfc822Attachments = true
    await this.collectNode(this.root, false, false)
    const { headers } = this.root
    return {
      headers,
      from: addressParser((valueOf(headers, "from") ?? "").slice(0, MAX_FROM_CHARS), { flatten: true })[0]?.address,
      subject: decoded(headers, "subject"),
      inReplyTo: decoded(headers, "in-reply-to"),
      references: decoded(headers, "references"),
      html: this.#html(),
      text: this.#text(),
      attachments: this.attachments,
      nodes: this.#nodes,
      root: this.root,
    }
  }

  /** A text with a name is a file, unless its place makes it a body. */
  protected isInlineTextNode(node: Node): boolean {
    return TEXTS.has(node.contentType.parsed.value) && !isNamedFile(node)
  }

  protected collectAttachment(node: Node, content: ArrayBuffer, ...others: ReadonlyArray<boolean>): void {
    PARSER.collectAttachment.call(this, node, content, ...others)
    const attachment = this.attachments.at(-1)
    if (attachment === undefined) return
    this.#nodes.set(attachment, node)
    if (this.#exact) attachment.content = content
  }

  /** Adds the lines up to the next that may be a boundary to the part that is open. Returns where that line begins. */
  #readBody(message: Buffer, from: number): number {
    const part = this.currentNode
    if (part.state === "header") return from
    const end = this.#nextBoundary(message, from)
    if (part.state === "body") {
      const body =
        part.contentDecoder instanceof PartBody
          ? part.contentDecoder
          : new PartBody(part.contentTransferEncoding.encoding, {
              // The line end of a text that is the whole message belongs to the end of DATA.
              dropsLastBreak: this.#exact && (part.parentNode !== undefined || this.isInlineTextNode(part)),
              keepsCrlf: this.#exact && CALENDARS.has(part.contentType.parsed.value),
            })
      part.contentDecoder = body
      body.add(message.subarray(from, end))
    }
    return end
  }

  #nextBoundary(message: Buffer, from: number): number {
    if (this.boundaries.length === 0) return message.length
    const isOne = (at: number) =>
      this.boundaries.some(({ value }) => message.subarray(at + 2, at + 2 + value.length).compare(value) === 0)
    if (message[from] === DASH && message[from + 1] === DASH && isOne(from)) return from
    for (let at = message.indexOf("\n--", from); at !== -1; at = message.indexOf("\n--", at + 1))
      if (isOne(at + 1)) return at + 1
    return message.length
  }

  #html(): string | undefined {
    if (!this.textTypes.has("html")) return undefined
    const parts = [...this.textMap.values()].flatMap(
      ({ html, plain = [] }) => html?.map(({ value }) => value) ?? plain.map(({ value }) => htmlFromText(value)),
    )
    return this.#joined(parts)
  }

  /** HTML without a text beside it becomes text; of all such parts together as much is read as of the HTML of a mail. */
  #text(): string | undefined {
    if (!this.textTypes.has("plain")) return undefined
    let left = HTML_TEXT_LIMIT
    const derived = (html: string): string => {
      if (left === 0) return ""
      const text = textFromHtml(html.slice(0, left + 1))
      left = Math.max(0, left - html.length)
      return text
    }
    const parts = [...this.textMap.values()].flatMap(
      ({ html = [], plain }) => plain?.map(({ value }) => value) ?? html.map(({ value }) => derived(value)),
    )
    return this.#joined(parts)
  }

  /** Joins texts with an empty line between them. Those of the parser end in a line break already. */
  #joined(parts: ReadonlyArray<string>): string | undefined {
    return parts.join(this.#exact ? "\n\n" : "\n") || undefined
  }
}

/** Methods that the parser's types leave out. */
const PARSER = PostalMime.prototype as unknown as {
  readonly collectAttachment: (node: Node, content: ArrayBuffer, ...others: ReadonlyArray<boolean>) => void
}

const TEXTS: ReadonlySet<string> = new Set(["text/plain", "text/html"])

const CR = 0x0d
const LF = 0x0a
const DASH = 0x2d

/** Where a line ends without its line end. */
const endOfText = (message: Buffer, start: number, end: number): number => {
  let at = end
  while (at > start && (message[at - 1] === LF || message[at - 1] === CR)) at--
  return at
}

const valueOf = (headers: ReadonlyArray<Field>, name: string): string | undefined =>
  headers.find(({ key }) => key === name)?.value

const decoded = (headers: ReadonlyArray<Field>, name: string): string | undefined => {
  const value = valueOf(headers, name)
  return value === undefined || value === "" ? undefined : decodeWords(value)
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
