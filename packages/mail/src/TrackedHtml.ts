import * as HtmlReference from "./HtmlReference.ts"
import * as HtmlTags from "./HtmlTags.ts"
import * as TrackedLink from "./TrackedLink.ts"

/** Links of a message that are tracked; those beyond lead straight where they lead, so that no body grows without end. */
export const MAX_TRACKED_LINKS = 200

/** A link with this attribute is left as it is, but for the attribute. */
export const NO_TRACK = "data-waybill-no-track"

const HREF = "href"
const ASKED: ReadonlySet<string> = new Set([HREF, NO_TRACK])

/** Where a tracked message leads. */
export interface Addresses {
  /** Of the picture that tells of an opening. */
  readonly open?: string | undefined
  /** Of the way to an address that tells of a click. */
  readonly click?: ((url: string) => string) | undefined
}

/**
 * The HTML of a message that is tracked. Nothing but the values of links is changed, and nothing but a picture added;
 * what stands between the tags, in comments, styles and scripts stays to the letter. `own` are addresses of the message
 * itself that somebody's program follows.
 */
export const rewrite = (html: string, { click, open }: Addresses, own: ReadonlySet<string> = new Set()): string => {
  const links = new Links(html, own)
  let body: number | undefined
  const tags = HtmlTags.tags(html, ASKED)
  let next = tags.next()
  for (; next.done !== true; next = tags.next()) {
    const { isClosing, name, start } = next.value
    if (isClosing && name === "body") body = start
    if (click !== undefined && !isClosing && (name === "a" || name === "area")) links.track(next.value, click)
  }
  const place = body ?? (next.value ? html.length : undefined)
  if (open !== undefined && place !== undefined) links.edits.push([place, place, picture(open)])
  return applied(html, links.edits)
}

type Edit = readonly [start: number, end: number, text: string]

/** The picture stands before the end of the body, where links may still follow. */
const applied = (html: string, edits: ReadonlyArray<Edit>): string => {
  const parts: Array<string> = []
  let at = 0
  for (const [start, end, text] of edits.toSorted(([a], [b]) => a - b)) {
    parts.push(html.slice(at, start), text)
    at = end
  }
  parts.push(html.slice(at))
  return parts.join("")
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

  track({ attributes }: HtmlTags.Tag, click: (url: string) => string): void {
    const exempt = attributes.find(({ name }) => name === NO_TRACK)
    if (exempt !== undefined) return this.#drop(exempt)
    const href = attributes.find(({ name }) => name === HREF)?.value
    if (href === undefined || this.#tracked >= MAX_TRACKED_LINKS) return
    if (href.end - href.start > TrackedLink.MAX_WRITTEN_CHARS) return
    const written = HtmlReference.decode(this.#html.slice(href.start, href.end))
    const url = written === undefined ? undefined : TrackedLink.targetOf(written)
    if (url === undefined || this.#own.has(url)) return
    this.#tracked++
    const text = escaped(click(url))
    this.edits.push([href.start, href.end, href.isQuoted ? text : `"${text}"`])
  }

  #drop({ after, end }: HtmlTags.Attribute): void {
    // After a value in quotes the next name may follow without a space.
    const isApart = /[\s/>]/u.test(this.#html[end] ?? "")
    this.edits.push([after, end, isApart ? "" : " "])
  }
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", '"': "&quot;", "'": "&#39;" }
const escaped = (url: string): string => url.replaceAll(/[&"']/gu, (character) => ESCAPES[character] ?? character)

const picture = (url: string): string =>
  `<img src="${escaped(url)}" alt="" width="1" height="1" style="display:block;width:1px;height:1px;border:0">`
