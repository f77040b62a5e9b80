import * as HeaderFields from "./HeaderFields.ts"
import * as StructuredValue from "./StructuredValue.ts"

/** Maximum nesting of parts; real mail is far below. */
export const MAX_DEPTH = 20
/** Maximum bytes of all parts' headers. */
export const MAX_HEADER_BYTES = 256 * 1024
/** Maximum number of parts; each costs memory, whatever its size. */
export const MAX_PARTS = 2_000

/** A part of a message, or the message itself. */
export interface Part {
  readonly parent: Part | undefined
  readonly children: ReadonlyArray<Part>
  readonly headers: ReadonlyArray<HeaderFields.Field>
  readonly type: StructuredValue.StructuredValue
  /** The subtype of a multipart, or undefined. */
  readonly multipart: string | undefined
  readonly disposition: StructuredValue.StructuredValue
  /** Transfer encoding in lower case; empty if there is none. */
  readonly encoding: string
  /** The body as it stands in the message; of a multipart, what stands before its first part. */
  readonly body: Buffer
}

interface OpenPart extends Part {
  readonly depth: number
  readonly children: Array<OpenPart>
  headers: ReadonlyArray<HeaderFields.Field>
  type: StructuredValue.StructuredValue
  multipart: string | undefined
  disposition: StructuredValue.StructuredValue
  encoding: string
  body: Buffer
}

/** A multipart that is not closed yet. */
interface OpenMultipart {
  readonly part: OpenPart
  readonly boundary: Buffer
}

interface BoundaryLine {
  readonly owner: OpenMultipart
  /** Whether it closes the multipart. */
  readonly isLast: boolean
  readonly start: number
  /** Where the next line begins. */
  readonly end: number
}

/** Thrown when a message has more than the reader takes. */
export class TooComplex extends Error {}

/** Reads the tree of a message (RFC 2046), in time linear in its bytes. */
export const read = (message: Buffer): Part => new TreeReader(message).read()

const CR = 0x0d
const LF = 0x0a
const DASH = 0x2d
const NOTHING = Buffer.alloc(0)

class TreeReader {
  readonly #message: Buffer
  /** From the outermost to the innermost. */
  readonly #open: Array<OpenMultipart> = []
  #at = 0
  #headerBytes = 0
  #parts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  read(): Part {
    const root = this.#begin(undefined)
    let boundary = this.#readPart(root)
    while (boundary !== undefined) {
      const { isLast, owner } = boundary
      this.#at = boundary.end
      while (this.#open.at(-1) !== owner) this.#open.pop()
      if (isLast) {
        this.#open.pop()
        // Lines behind the last boundary of a multipart are read by nobody.
        boundary = this.#nextBoundary(this.#at)
      } else boundary = this.#readPart(this.#begin(owner.part))
    }
    return root
  }

  #begin(parent: OpenPart | undefined): OpenPart {
    const depth = parent === undefined ? 0 : parent.depth + 1
    if (depth > MAX_DEPTH || ++this.#parts > MAX_PARTS) throw new TooComplex()
    const type = parent?.multipart === "digest" ? "message/rfc822" : "text/plain"
    const part: OpenPart = {
      parent,
      depth,
      children: [],
      headers: [],
      type: { value: type, params: new Map() },
      multipart: undefined,
      disposition: { value: "", params: new Map() },
      encoding: "",
      body: NOTHING,
    }
    parent?.children.push(part)
    return part
  }

  /** Reads a header and a body, and returns the boundary that ends them; undefined at the end of the message. */
  #readPart(part: OpenPart): BoundaryLine | undefined {
    const lines: Array<string> = []
    while (this.#at < this.#message.length) {
      const start = this.#at
      const boundary = this.#boundaryAt(start)
      if (boundary !== undefined) {
        describe(part, lines)
        return boundary
      }
      const end = this.#endOfLine(start)
      const endOfText = this.#endOfText(start, end)
      this.#at = end
      if (endOfText === start) {
        describe(part, lines)
        return this.#readBody(part)
      }
      this.#headerBytes += endOfText - start
      if (this.#headerBytes > MAX_HEADER_BYTES) throw new TooComplex()
      lines.push(this.#message.toString("utf8", start, endOfText))
    }
    describe(part, lines)
    return undefined
  }

  #readBody(part: OpenPart): BoundaryLine | undefined {
    const boundary = part.multipart === undefined ? "" : (part.type.params.get("boundary") ?? "")
    if (boundary !== "") this.#open.push({ part, boundary: Buffer.from(boundary) })
    const next = this.#nextBoundary(this.#at)
    part.body = this.#message.subarray(this.#at, next?.start)
    return next
  }

  #nextBoundary(from: number): BoundaryLine | undefined {
    if (this.#open.length === 0) return undefined
    const first = this.#boundaryAt(from)
    if (first !== undefined) return first
    for (let at = this.#message.indexOf("\n--", from); at !== -1; at = this.#message.indexOf("\n--", at + 1)) {
      const boundary = this.#boundaryAt(at + 1)
      if (boundary !== undefined) return boundary
    }
    return undefined
  }

  /** Returns the boundary on the line that begins here; of several open multiparts the innermost has it. */
  #boundaryAt(start: number): BoundaryLine | undefined {
    if (this.#message[start] !== DASH || this.#message[start + 1] !== DASH) return undefined
    for (let nth = this.#open.length - 1; nth >= 0; nth--) {
      const owner = this.#open[nth]
      if (owner === undefined || !this.#has(owner.boundary, start + 2)) continue
      const behind = start + 2 + owner.boundary.length
      const isLast = this.#message[behind] === DASH && this.#message[behind + 1] === DASH
      const end = this.#endOfLine(start)
      if (this.#isBlank(isLast ? behind + 2 : behind, this.#endOfText(start, end))) return { owner, isLast, start, end }
    }
    return undefined
  }

  #has(bytes: Buffer, at: number): boolean {
    for (let nth = 0; nth < bytes.length; nth++) if (this.#message[at + nth] !== bytes[nth]) return false
    return true
  }

  #isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (this.#message[at] !== 0x20 && this.#message[at] !== 0x09) return false
    return true
  }

  #endOfLine(start: number): number {
    const found = this.#message.indexOf(LF, start)
    return found === -1 ? this.#message.length : found + 1
  }

  /** Returns where a line ends without its line end; CRs before an LF belong to it. */
  #endOfText(start: number, end: number): number {
    let at = end
    while (at > start && (this.#message[at - 1] === LF || this.#message[at - 1] === CR)) at--
    return at
  }
}

/** Reads the header of a part. The first of several fields of one name counts. */
const describe = (part: OpenPart, lines: ReadonlyArray<string>): void => {
  part.headers = HeaderFields.read(lines)
  const type = HeaderFields.valueOf(part.headers, "content-type")
  if (type !== undefined) part.type = withKind(StructuredValue.parse(type))
  if (part.type.value.startsWith("multipart/")) part.multipart = part.type.value.slice("multipart/".length)
  part.disposition = StructuredValue.parse(HeaderFields.valueOf(part.headers, "content-disposition") ?? "")
  const encoding = HeaderFields.valueOf(part.headers, "content-transfer-encoding") ?? ""
  part.encoding = /[\w-]+/u.exec(StructuredValue.withoutComments(encoding).toLowerCase())?.[0] ?? ""
}

/** A type of text without a kind, or an empty one, means plain text (RFC 2045 §5.2). */
const withKind = (type: StructuredValue.StructuredValue): StructuredValue.StructuredValue =>
  /^(?:text\/?)?$/u.test(type.value) ? { ...type, value: "text/plain" } : type
