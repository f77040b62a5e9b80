import * as Table from "@waybill/domain/values/Table"
import * as Html from "./Html.ts"

/** Longest code that is highlighted; longer code is shown plain. */
const MAX_CHARS = 50_000

const DOUBLE = String.raw`"(?:[^"\\\n]|\\.)*"?`
const SINGLE = String.raw`'(?:[^'\\\n]|\\.)*'?`
const BACKQUOTED = String.raw`\x60(?:[^\x60\\]|\\[^])*\x60?`
const TRIPLE = `"""(?:[^"]|"(?!""))*(?:""")?`
/** Quotes of shells and PHP go over several lines. */
const LINES = [String.raw`"(?:[^"\\]|\\[^])*"?`, `'[^']*'?`]
const NUMBER = String.raw`(?<![\w.-])\d[\d_]*(?:\.\d+)?\b`
const HASH = String.raw`(?<!\S)#[^\n]*`
const SLASHES = String.raw`(?<!:)\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?`

const words = (list: string): string => `(?<![\\w.$-])(?:${list.replaceAll(" ", "|")})(?![\\w-])`

/** The classes of tokens, each with the expression of its tokens. The first that fits at a place is taken. */
const grammar = (tokens: Readonly<Record<string, string>>): RegExp =>
  new RegExp(
    Object.entries(tokens)
      .map(([name, source]) => `(?<${name}>${source})`)
      .join("|"),
    "gmu",
  )

const JSON_TOKENS = grammar({
  name: String.raw`"(?:[^"\\\n]|\\.)*"(?=\s*:)`,
  string: DOUBLE,
  number: `${String.raw`-?\b\d[\d.eE+-]*\b`}|${words("true false null")}`,
})
const TYPESCRIPT = grammar({
  comment: SLASHES,
  string: [DOUBLE, SINGLE, BACKQUOTED].join("|"),
  keyword: words(
    "as async await case catch class const default else export extends false finally for from function if import in instanceof interface let new null of return switch throw true try type typeof undefined while",
  ),
  number: NUMBER,
})
const SHELL = grammar({
  comment: HASH,
  string: LINES.join("|"),
  name: String.raw`\$\{?\w+\}?|(?<=\s)--?[A-Za-z][\w-]*`,
  keyword: String.raw`(?<=^\s*|\| |&& )(?!-)[\w./-]+(?=\s|$)`,
})
/** Also of TOML and of files of settings. */
const YAML = grammar({ comment: HASH, name: String.raw`^[ -]*[\w.-]+(?=\s*[:=])`, string: `${DOUBLE}|${SINGLE}` })

const GRAMMARS: Readonly<Record<string, RegExp>> = {
  json: JSON_TOKENS,
  jsonl: JSON_TOKENS,
  js: TYPESCRIPT,
  mjs: TYPESCRIPT,
  ts: TYPESCRIPT,
  tsx: TYPESCRIPT,
  sh: SHELL,
  python: grammar({
    comment: HASH,
    string: [TRIPLE, DOUBLE, SINGLE].join("|"),
    keyword: words(
      "and as async await class def elif else except False finally for from if import in is lambda None not or pass raise return True try while with yield",
    ),
    number: NUMBER,
  }),
  go: grammar({
    comment: SLASHES,
    string: [DOUBLE, SINGLE, BACKQUOTED].join("|"),
    keyword: words(
      "break case const continue defer else false for func go if import interface map nil package range return select struct switch true type var",
    ),
    number: NUMBER,
  }),
  php: grammar({
    comment: `${SLASHES}|${HASH}`,
    string: LINES.join("|"),
    name: String.raw`\$\w+`,
    keyword: words(
      "as catch class const echo else false fn foreach function if namespace new null private public return static throw true try use",
    ),
    number: NUMBER,
  }),
  ruby: grammar({
    comment: HASH,
    string: `${DOUBLE}|${SINGLE}`,
    keyword: words(
      "begin class def do else elsif end ensure false if module next nil raise require rescue return self then true unless while yield",
    ),
    number: NUMBER,
  }),
  yaml: YAML,
  toml: YAML,
  ini: YAML,
  conf: YAML,
}

/** Returns the HTML of code, each token in a span with its class; plain in a language that is not known. */
export const of = (code: string, language: string): string => {
  const pattern = Table.at(GRAMMARS, language)
  if (pattern === undefined || code.length > MAX_CHARS) return Html.escaped(code)
  let html = ""
  let at = 0
  for (const found of code.matchAll(pattern)) {
    const [token] = found
    const [name = ""] = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    html +=
      Html.escaped(code.slice(at, found.index)) +
      (bodyOf(token) ?? `<span class="${name}">${Html.escaped(token)}</span>`)
    at = found.index + token.length
  }
  return html + Html.escaped(code.slice(at))
}

/** Returns the HTML of JSON in single quotes, as curl takes the body of a request. */
const bodyOf = (token: string): string | undefined =>
  /^'[{[]/u.test(token) ? `'${of(token.slice(1), "json")}` : undefined
