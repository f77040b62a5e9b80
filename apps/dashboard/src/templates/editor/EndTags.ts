import * as Pieces from "@waybill/domain/template/Pieces"
import * as Form from "../content/Form.ts"
import type * as Problems from "../content/Problems.ts"
import * as Branches from "./Branches.ts"

/** Comments, and texts that are no HTML. What has no end goes on to the end of the text, so that this is read once. */
const NO_TAGS = /<!--[^]*?(?:-->|$)|<(style|script|title|textarea)\b[^]*?(?:<\/\1\s*>|$)/giu
const TAG = /<(\/?)([a-z][^\s/>]*)/giu
/** A value in quotes may hold the sign that ends a tag. */
const IN_TAG = />|=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$))/gu
const RAW = /\|\s*raw\b/u
const CONTENT = /^\{\{-?\s*content\b/u
/** Most warnings of a text: the place of each is counted from the beginning. */
const MAX_WARNINGS = 20

/** Parts that are left out keep their length and their lines. */
const blank = (text: string): string => text.replaceAll(/[^\n]/gu, " ")

const tagsIn = (html: string): ReadonlyArray<Branches.Tag> => {
  const text = html.replaceAll(NO_TAGS, blank)
  const tags: Array<Branches.Tag> = []
  TAG.lastIndex = 0
  for (let found = TAG.exec(text); found !== null; found = TAG.exec(text)) {
    const { 1: slash, 2: name = "", index } = found
    tags.push({ name: name.toLowerCase(), isEnd: slash === "/", offset: index })
    let at = TAG.lastIndex
    for (let end = ""; end !== ">" && at < text.length;) {
      IN_TAG.lastIndex = at
      const next = IN_TAG.exec(text)
      end = next?.[0] ?? ">"
      at = next === null ? text.length : IN_TAG.lastIndex
    }
    TAG.lastIndex = at
  }
  return tags
}

/** Returns the HTML of a text in Liquid, without its pieces and comments. */
const withoutPieces = (text: string, pieces: ReadonlyArray<Pieces.Piece>): string => {
  const kept: Array<string> = []
  let from = 0
  let isComment = false
  for (const { begin, end, tag } of pieces) {
    const before = text.slice(from, begin)
    kept.push(isComment ? blank(before) : before, blank(text.slice(begin, end)))
    isComment = tag === "comment" || (isComment && tag !== "endcomment")
    from = end
  }
  return [...kept, isComment ? blank(text.slice(from)) : text.slice(from)].join("")
}

/** Whether a piece writes HTML that is not known here: a partial, a value that is not escaped, or what a layout goes around. */
const isUnknown = (piece: string, { tag }: Pieces.Piece): boolean =>
  tag === undefined ? RAW.test(piece) || CONTENT.test(piece) : /^(?:render|layout|break|continue)$/u.test(tag)

/** Returns the end tags in a text in Liquid that no element begins, whichever branches are written. */
const foundIn = (text: string): ReadonlyArray<Branches.Tag> => {
  const pieces = Pieces.read(text)
  const tags = tagsIn(withoutPieces(text, pieces))
  const reader = new Branches.Reader()
  let nth = 0
  for (const piece of pieces) {
    for (; (tags[nth]?.offset ?? Infinity) < piece.begin; nth++) reader.tag(tags[nth])
    if (piece.isComment) continue
    if (isUnknown(text.slice(piece.begin, piece.end), piece)) reader.unknown()
    else if (piece.tag !== undefined) reader.piece(piece.tag)
  }
  for (const tag of tags.slice(nth)) reader.tag(tag)
  return reader.endsWithoutBegin()
}

const warningOf = (path: string, text: string, { name, offset }: Branches.Tag): Problems.TextProblem => {
  const lines = text.slice(0, offset).split("\n")
  const column = (lines.at(-1)?.length ?? 0) + 1
  return { path, message: `The end tag </${name}> has no begin`, line: lines.length, column }
}

/**
 * Warns of end tags of elements that nothing has begun, in the HTML of all languages. A partial may end what another one
 * begins, and what stands in a layout what that begins: it is known when they are put together.
 */
export const inForm = (form: Form.Form): ReadonlyArray<Problems.TextProblem> =>
  (form["language"] ?? "liquid") !== "liquid" || (form["layout"] ?? "") !== ""
    ? []
    : [null, ...Form.localesOf(form)].flatMap((locale) => {
        const path = Form.nameOf("html", locale)
        const text = form[path] ?? ""
        return foundIn(text)
          .slice(0, MAX_WARNINGS)
          .map((tag) => warningOf(path, text, tag))
      })

/** Characters before an end tag by which an author finds it. */
const BEFORE_CHARS = 30

/** Warns of end tags that nothing has begun in a mail with its partials and layout, each name once. */
export const inMail = (html: string | null): ReadonlyArray<{ readonly path: string; readonly message: string }> => {
  const reader = new Branches.Reader()
  const text = html ?? ""
  for (const tag of tagsIn(text)) reader.tag(tag)
  const first = new Map<string, Branches.Tag>()
  for (const tag of reader.endsWithoutBegin()) if (!first.has(tag.name)) first.set(tag.name, tag)
  return [...first.values()].slice(0, MAX_WARNINGS).map(({ name, offset }) => {
    const words = text.slice(Math.max(0, offset - MAX_SEARCHED_CHARS), offset).replaceAll(/^[^<]*>|<[^>]*>/gu, " ")
    const before = words.replaceAll(/\s+/gu, " ").trim().slice(-BEFORE_CHARS)
    const place = before === "" ? "" : `, behind “${before}”`
    return { path: "html", message: `In the mail of these values, the end tag </${name}> has no begin${place}` }
  })
}

const MAX_SEARCHED_CHARS = 1_000
