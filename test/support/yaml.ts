/** The part of YAML that files of our own are written in: maps, lists, scalars in one line, and `|` and `>` blocks. */
export type Yaml = string | number | boolean | null | ReadonlyArray<Yaml> | { readonly [key: string]: Yaml }

interface Line {
  readonly indent: number
  readonly text: string
  readonly number: number
}

/** Fails, with the line, on whatever it does not know: a file that it reads, every reader of YAML reads alike. */
export const parse = (source: string): Yaml => {
  const raw = source.split("\n")
  let at = 0
  const fail = (why: string, number = at + 1): never => {
    throw new Error(`line ${number}: ${why}`)
  }
  const peek = (): Line | undefined => {
    for (; at < raw.length; at++) {
      const text = raw[at] ?? ""
      if (text.includes("\t")) fail("a tab")
      if (text.trim() === "" || text.trimStart().startsWith("#")) continue
      return { indent: text.length - text.trimStart().length, text: text.trim(), number: at + 1 }
    }
    return undefined
  }

  const block = (parent: number, folded: boolean): string => {
    const lines: Array<string> = []
    let indent = -1
    for (; at < raw.length; at++) {
      const text = raw[at] ?? ""
      const own = text.length - text.trimStart().length
      if (text.trim() === "") lines.push("")
      else if (own <= parent) break
      else {
        if (indent < 0) indent = own
        if (own < indent) fail("a block that leaves its own margin")
        lines.push(text.slice(indent))
      }
    }
    while (lines.at(-1) === "") lines.pop()
    return lines.join(folded ? " " : "\n")
  }

  const value = (text: string, indent: number): Yaml => {
    if (/^[|>][-+]?$/u.test(text)) return block(indent, text.startsWith(">"))
    if (text !== "") return scalar(text, (why) => fail(why, at))
    const next = peek()
    if (next === undefined) return null
    // A list may stand at the margin of the key that it belongs to.
    if (next.indent === indent && next.text.startsWith("- ")) return list(indent)
    return next.indent > indent ? node(next.indent) : null
  }

  const list = (indent: number): Yaml => {
    const items: Array<Yaml> = []
    for (let line = peek(); line !== undefined && line.indent === indent; line = peek()) {
      const rest = /^-( +)(.*)$/u.exec(line.text)
      if (rest === null) break
      const [, gap = "", text = ""] = rest
      if (KEY.test(text)) {
        // The item is a map that begins behind the dash: read the line again without it.
        raw[at] = " ".repeat(indent + 1 + gap.length) + text
        items.push(map(indent + 1 + gap.length))
      } else {
        at++
        items.push(value(text, indent))
      }
    }
    return items
  }

  const map = (indent: number): Yaml => {
    const entries = new Map<string, Yaml>()
    for (let line = peek(); line !== undefined && line.indent === indent; line = peek()) {
      const [, key = "", text = ""] = KEY.exec(line.text) ?? fail(`no key: ${line.text}`, line.number)
      if (entries.has(key)) fail(`${key} stands twice`, line.number)
      at++
      entries.set(key, value(text, indent))
    }
    return Object.fromEntries(entries)
  }

  const node = (indent: number): Yaml => (peek()?.text.startsWith("- ") === true ? list(indent) : map(indent))

  const first = peek()
  const document = first === undefined ? null : node(first.indent)
  const rest = peek()
  return rest === undefined ? document : fail(`does not belong where it stands: ${rest.text}`, rest.number)
}

const KEY = /^([\w./-]+):(?: +(.*))?$/u

const scalar = (text: string, fail: (why: string) => never): Yaml => {
  if (text.startsWith('"')) return JSON.parse(text.replace(/" +#.*$/u, '"')) as string
  if (text.startsWith("'")) return fail("write it with double quotes")
  if (text.startsWith("[")) {
    if (!text.endsWith("]")) return fail("a list in one line has to end there")
    const inside = text.slice(1, -1).trim()
    return [...inside.matchAll(/"(?:\\.|[^"\\])*"|[^",]+/gu)].flatMap(([item]) =>
      item.trim() === "" ? [] : [scalar(item.trim(), fail)],
    )
  }
  if (/^[{&*!@`%]|: |:$/u.test(text)) return fail(`has to be quoted: ${text}`)
  const plain = text.replace(/ +#.*$/u, "")
  if (plain === "true" || plain === "false") return plain === "true"
  if (plain === "null" || plain === "~") return null
  return /^-?\d+(?:\.\d+)?$/u.test(plain) ? Number(plain) : plain
}
