/** Tokens of SQL inside which a semicolon ends no statement, then single characters. */
const TOKEN =
  /--[^\n]*|\/\*|\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[^]*?\$\1\$|[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|[^]/uy
const COMMENT_EDGE = /\/\*|\*\//gu

/** Splits SQL into its statements, for servers that accept only one at a time. Pieces without a statement are left out. */
export const splitStatements = (text: string): ReadonlyArray<string> => {
  const statements: Array<string> = []
  let begin = 0
  let isEmpty = true
  const end = (at: number) => {
    if (!isEmpty) statements.push(text.slice(begin, at).trim())
    begin = at + 1
    isEmpty = true
  }
  for (let at = 0; at < text.length;) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)?.[0] ?? ""
    const isComment = token.startsWith("--") || token === "/*"
    if (token === ";") end(at)
    else if (!isComment && token.trim() !== "") isEmpty = false
    at = token === "/*" ? endOfComment(text, at) : at + token.length
  }
  end(text.length)
  return statements
}

/** Returns where a comment ends that begins at a position; comments are nested in Postgres. */
const endOfComment = (text: string, begin: number): number => {
  COMMENT_EDGE.lastIndex = begin
  for (let depth = 0; ;) {
    const edge = COMMENT_EDGE.exec(text)
    if (edge === null) return text.length
    depth += edge[0] === "/*" ? 1 : -1
    if (depth === 0) return COMMENT_EDGE.lastIndex
  }
}
