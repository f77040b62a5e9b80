/** A piece of a tag of Handlebars: texts, numbers, paths, and helpers with what they are given. */
export type Expression =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "literal"; readonly text: string }
  | { readonly is: "path"; readonly parents: number; readonly data: boolean; readonly segments: ReadonlyArray<string> }
  | { readonly is: "helper"; readonly name: string; readonly given: ReadonlyArray<Expression> }

const PIECE = /\s*(?:"([^"]*)"|'([^']*)'|(\()|(\))|([^\s()"']+))/uy

/** Reads the expressions of a tag; undefined if it is not one of those that are understood. */
export const read = (body: string): ReadonlyArray<Expression> | undefined => {
  const stack: Array<Array<Expression>> = [[]]
  PIECE.lastIndex = 0
  const text = body.trim()
  while (PIECE.lastIndex < text.length) {
    const found = PIECE.exec(text)
    if (found === null) return undefined
    const [, double, single, opens, closes, word] = found
    const top = stack.at(-1)
    if (top === undefined) return undefined
    if (opens !== undefined) stack.push([])
    else if (closes !== undefined) {
      const [first, ...given] = stack.pop() ?? []
      const outer = stack.at(-1)
      if (outer === undefined || first?.is !== "path" || first.segments.length !== 1) return undefined
      outer.push({ is: "helper", name: first.segments[0] ?? "", given })
    } else if (word === undefined) top.push({ is: "text", text: double ?? single ?? "" })
    else {
      const expression = wordOf(word)
      if (expression === undefined) return undefined
      top.push(expression)
    }
  }
  return stack.length === 1 ? stack[0] : undefined
}

const wordOf = (word: string): Expression | undefined => {
  if (/^-?\d+(?:\.\d+)?$/u.test(word) || word === "true" || word === "false") return { is: "literal", text: word }
  if (word === "null" || word === "undefined") return { is: "literal", text: "nil" }
  // Named arguments and names of items are not understood.
  if (/[=|]/u.test(word.replaceAll(/\[[^\]]*\]/gu, ""))) return undefined
  const [start, data, rest] = splitPath(word)
  const parents = start.length / 3
  const segments = [...rest.matchAll(/\[([^\]]*)\]|([^./[\]]+)/gu)].map(([, quoted, name]) => quoted ?? name ?? "")
  const own = segments[0] === "this" && data === "" ? segments.slice(1) : segments
  return { is: "path", parents, data: data === "@", segments: own }
}

const splitPath = (word: string): readonly [start: string, data: string, rest: string] => {
  const start = /^(?:\.\.\/)*/u.exec(word)?.[0] ?? ""
  const after = word.slice(start.length)
  if (word === "..") return ["../", "", ""]
  return after.startsWith("@") ? [start, "@", after.slice(1)] : [start, "", after.replace(/^\.\//u, "")]
}
