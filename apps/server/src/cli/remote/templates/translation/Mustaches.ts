// The braces that Handlebars, Mustache and their kin have in common.

export interface TextToken {
  readonly kind: "text"
  readonly text: string
}

export interface TagToken {
  readonly kind: "tag"
  /** Sign before the name: `#`, `/`, `^`, `!`, `>`, or nothing; `{` for an output that is not escaped. */
  readonly sigil: "" | "#" | "/" | "^" | "!" | ">" | "{"
  readonly body: string
  readonly line: number
  /** Whether `~` takes the white space before it or after it. */
  readonly trims: { readonly before: boolean; readonly after: boolean }
}

export type Token = TextToken | TagToken

/** Something that Liquid has no words for, or a mistake. */
export interface Untranslated {
  readonly line: number
  readonly message: string
}

/** A tag is no longer than this, so that one that is not closed is looked for only so far. */
const TAG = /(\\)?\{\{\{(~?)([^]{0,4000}?)(~?)\}\}\}|(\\)?\{\{(~?)(!--[^]{0,4000}?--|[^{][^]{0,4000}?)(~?)\}\}/gu

/** Splits a source into text and tags. A tag after `\` is text. */
export const tokensOf = (source: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  let end = 0
  let line = 1
  const pass = (text: string): void => {
    line += text.split("\n").length - 1
  }
  for (const found of source.matchAll(TAG)) {
    const [whole, escapedTriple, beforeTriple, triple, afterTriple, escaped, before, double = "", after] = found
    const text = source.slice(end, found.index)
    if (text !== "") tokens.push({ kind: "text", text })
    pass(text)
    end = found.index + whole.length
    if (escapedTriple !== undefined || escaped !== undefined) {
      tokens.push({ kind: "text", text: whole.slice(1) })
    } else {
      const sigil = triple === undefined ? (/^[#/^!>&]/u.exec(double)?.[0] ?? "") : "{"
      const body = triple ?? double.slice(sigil.length)
      const trims = {
        before: (beforeTriple ?? before ?? "") !== "",
        after: (afterTriple ?? after ?? "") !== "",
      }
      const plain = sigil === "&" ? "{" : (sigil as TagToken["sigil"])
      tokens.push({ kind: "tag", sigil: plain, body: body.trim(), line, trims })
    }
    pass(whole)
  }
  if (end < source.length) tokens.push({ kind: "text", text: source.slice(end) })
  return tokens
}

const isStructure = (token: Token | undefined): token is TagToken =>
  token?.kind === "tag" && (token.sigil !== "" || /^else\b/u.test(token.body)) && token.sigil !== "{"

/** Takes the lines away that have nothing but one tag, as Handlebars does, and the white space beside `~`. */
export const withoutTagLines = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  const cuts = tokens.map(() => ({ start: "", end: "" }))
  const note = (nth: number, side: "start" | "end", cut: string): void => {
    const known = cuts[nth]
    if (known !== undefined && cut.length > known[side].length) known[side] = cut
  }
  const keeping = endsOfChains(tokens)
  for (const [nth, token] of tokens.entries()) {
    if (token.kind !== "tag") continue
    const [before, after] = [tokens[nth - 1], tokens[nth + 1]]
    const [left, right] = [textOf(before), textOf(after)]
    if (token.trims.before) note(nth - 1, "end", left.slice(left.trimEnd().length))
    if (token.trims.after) note(nth + 1, "start", /^\s*/u.exec(right)?.[0] ?? "")
    const beginsLine = before === undefined || (nth === 1 ? /(?:^|\n)[ \t]*$/u : /\n[ \t]*$/u).test(left)
    const endsLine =
      after === undefined || (nth === tokens.length - 2 ? /^[ \t]*(?:\r?\n|$)/u : /^[ \t]*\r?\n/u).test(right)
    if (!isStructure(token) || !beginsLine || !endsLine) continue
    if (!keeping.has(token)) note(nth - 1, "end", blanksAtEnd(left))
    note(nth + 1, "start", /^[ \t]*\r?\n?/u.exec(right)?.[0] ?? "")
  }
  return cut(tokens, cuts)
}

const blanksAtEnd = (text: string): string => {
  let start = text.length
  while (start > 0 && " \t".includes(text.charAt(start - 1))) start--
  return text.slice(start)
}

/** Ends of blocks with both `else if` and `else`, before which Handlebars leaves the white space. */
const endsOfChains = (tokens: ReadonlyArray<Token>): ReadonlySet<Token> => {
  const ends = new Set<Token>()
  const blocks: Array<{ isChain: boolean; hasElse: boolean }> = []
  for (const token of tokens) {
    if (token.kind === "text") continue
    const block = blocks.at(-1)
    if (token.sigil === "#" || (token.sigil === "^" && token.body !== ""))
      blocks.push({ isChain: false, hasElse: false })
    else if (token.sigil === "/") {
      blocks.pop()
      if (block?.isChain === true && block.hasElse) ends.add(token)
    } else if (block !== undefined && token.sigil === "" && /^else\b/u.test(token.body)) {
      if (token.body === "else") block.hasElse = true
      else block.isChain = true
    }
  }
  return ends
}

const textOf = (token: Token | undefined): string => (token?.kind === "text" ? token.text : "")

const cut = (
  tokens: ReadonlyArray<Token>,
  cuts: ReadonlyArray<{ readonly start: string; readonly end: string }>,
): ReadonlyArray<Token> =>
  tokens.map((token, nth) => {
    if (token.kind === "tag") return token
    const { end, start } = cuts[nth] ?? { start: "", end: "" }
    return {
      kind: "text",
      text: token.text.slice(start.length, Math.max(start.length, token.text.length - end.length)),
    }
  })

/** Takes the lines away that have nothing but tags, as Mustache does. */
export const withoutLinesOfTags = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  const lines: Array<Array<Token>> = [[]]
  for (const token of tokens) {
    if (token.kind === "tag") {
      lines.at(-1)?.push(token)
      continue
    }
    for (const [nth, text] of token.text.split(/(?<=\n)/u).entries()) {
      if (nth > 0) lines.push([])
      lines.at(-1)?.push({ kind: "text", text })
    }
    if (token.text.endsWith("\n")) lines.push([])
  }
  return lines.flatMap((line) => {
    const isOfTags =
      line.some(isStructure) &&
      line.every((token) => (token.kind === "text" ? token.text.trim() === "" : isStructure(token)))
    return isOfTags ? line.filter(({ kind }) => kind === "tag") : line
  })
}
