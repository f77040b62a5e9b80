import * as HtmlReference from "./HtmlReference.ts"
import * as HtmlTags from "./HtmlTags.ts"
import * as TrackedLink from "./TrackedLink.ts"

/** Maximum number of tracked links of a message; further links stay as they are, so that no body grows without end. */
export const MAX_TRACKED_LINKS = 200

/** A link with this attribute is not tracked; the attribute is removed. */
export const NO_TRACK = "data-waybill-no-track"

const HREF = "href"
const REQUESTED: ReadonlySet<string> = new Set([HREF, NO_TRACK])

/** Addresses that a tracked message links to. */
export interface Addresses {
  /** Address of the tracking pixel. */
  readonly open?: string | undefined
  /** Returns the redirecting address of a link. */
  readonly click?: ((url: string) => string) | undefined
}

/** An edit of the HTML at an offset. */
type Edit =
  | {
      readonly _tag: "Link"
      readonly start: number
      readonly end: number
      readonly isQuoted: boolean
      readonly url: string
    }
  | { readonly _tag: "Text"; readonly start: number; readonly end: number; readonly text: string }

/** Edits of a document that tracking needs, found without the keys that sign links. */
export interface HtmlEdits {
  readonly edits: ReadonlyArray<Edit>
  /** Offset of the tracking pixel; undefined when the document ends inside a tag or a comment. */
  readonly pixel: number | undefined
}

/** Finds the edits that `write` applies. Linear in the length of the document. */
export const find = (document: {
  readonly html: string
  /** Addresses of the message itself that programs follow. */
  readonly own: ReadonlySet<string>
  /** Whether links are tracked; if not, only the pixel's place is looked for. */
  readonly links: boolean
}): HtmlEdits => {
  const links = new Links(document.html, document.own)
  let body: number | undefined
  const tags = HtmlTags.tags(document.html, REQUESTED)
  let next = tags.next()
  for (; next.done !== true; next = tags.next()) {
    const { isClosing, name, start } = next.value
    if (isClosing && name === "body") body = start
    if (document.links && !isClosing && (name === "a" || name === "area")) links.track(next.value)
  }
  return { edits: links.edits, pixel: body ?? (next.value ? document.html.length : undefined) }
}

/**
 * Writes the HTML of a tracked message. Only the values of links change and only the pixel is added, before the end of the body,
 * where links may still follow; text, comments, styles and scripts stay as they are.
 */
export const write = (html: string, { edits: replacements, pixel }: HtmlEdits, { click, open }: Addresses): string => {
  const edits: Array<readonly [start: number, end: number, text: string]> = []
  for (const edit of replacements) {
    if (edit._tag === "Text") edits.push([edit.start, edit.end, edit.text])
    else if (click !== undefined) {
      const text = escaped(click(edit.url))
      edits.push([edit.start, edit.end, edit.isQuoted ? text : `"${text}"`])
    }
  }
  if (open !== undefined && pixel !== undefined) edits.push([pixel, pixel, pixelTag(open)])
  const pieces: Array<string> = []
  let at = 0
  for (const [start, end, text] of edits.toSorted(([a], [b]) => a - b)) {
    pieces.push(html.slice(at, start), text)
    at = end
  }
  pieces.push(html.slice(at))
  return pieces.join("")
}

class Links {
  readonly edits: Array<Edit> = []
  readonly #html: string
  readonly #own: ReadonlySet<string>
  #tracked = 0

  constructor(html: string, own: ReadonlySet<string>) {
    this.#html = html
    this.#own = own
  }

  track({ attributes }: HtmlTags.Tag): void {
    const optOut = attributes.find(({ name }) => name === NO_TRACK)
    if (optOut !== undefined) return this.#drop(optOut)
    const href = attributes.find(({ name }) => name === HREF)?.value
    if (href === undefined || this.#tracked >= MAX_TRACKED_LINKS) return
    if (href.end - href.start > TrackedLink.MAX_WRITTEN_CHARS) return
    const written = HtmlReference.decode(this.#html.slice(href.start, href.end))
    const url = written === undefined ? undefined : TrackedLink.targetOf(written)
    if (url === undefined || this.#own.has(url)) return
    this.#tracked++
    this.edits.push({ _tag: "Link", start: href.start, end: href.end, isQuoted: href.isQuoted, url })
  }

  #drop({ after, end }: HtmlTags.Attribute): void {
    // After a quoted value the next name may follow without a space.
    const isApart = /[\s/>]/u.test(this.#html[end] ?? "")
    this.edits.push({ _tag: "Text", start: after, end, text: isApart ? "" : " " })
  }
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", '"': "&quot;", "'": "&#39;" }
const escaped = (url: string): string => url.replaceAll(/[&"']/gu, (character) => ESCAPES[character] ?? character)

const pixelTag = (url: string): string =>
  `<img src="${escaped(url)}" alt="" width="1" height="1" style="display:block;width:1px;height:1px;border:0">`
