import { globSync, readFileSync } from "node:fs"
import * as path from "node:path"

/** SQL in the source of the store, with what is put into it. */
export interface SqlText {
  /** Module and name of the constant that it is in: `Outbox.arm`. */
  readonly name: string
  /** On one line and without comments. Values are `$1`, and names that are computed are `"?"`. */
  readonly text: string
}

interface Template {
  readonly begin: number
  readonly end: number
  readonly pieces: ReadonlyArray<string | Hole>
}

/** Code in `${…}` of a template. */
interface Hole {
  readonly code: string
  readonly templates: ReadonlyArray<Template>
}

const FOLDER = path.join(import.meta.dirname, "../../../packages/store/src")
const VALUE = " $1 "
const NAME = ' "?" '

/** Reads all SQL of the store. A function that returns a part of a statement is put in where it is called by name. */
export const readAll = (): ReadonlyArray<SqlText> => {
  const named = new Map<string, ReadonlyArray<Template>>()
  for (const file of globSync("**/*.ts", { cwd: FOLDER }).toSorted()) {
    const source = readFileSync(path.join(FOLDER, file), "utf8")
    const module = path.basename(file, ".ts")
    for (const template of templatesOf(source)) {
      const name = `${module}.${constantAt(source, template.begin)}`
      named.set(name, [...(named.get(name) ?? []), template])
    }
  }
  const render = (template: Template, module: string, within: ReadonlyArray<string>): string =>
    template.pieces.map((piece) => (typeof piece === "string" ? piece : fill(piece, module, within))).join("")
  const fill = ({ code, templates }: Hole, module: string, within: ReadonlyArray<string>): string => {
    const nested = templates.map((each) => render(each, module, within)).join(" ")
    const callee = /^(?:yield\* )?(?:([A-Z]\w*)\.)?(\w+)\b/u.exec(code)
    const name = `${callee?.[1] ?? module}.${callee?.[2]}`
    const called = within.includes(name) ? undefined : named.get(name)
    if (called !== undefined) {
      const text = called.map((each) => render(each, callee?.[1] ?? module, [...within, name])).join(" ")
      return ` ${text} ${nested} `
    }
    if (nested !== "") return ` ${nested} `
    if (/^sql(?:\.literal)?\(/u.test(code)) return literalsOf(code) ?? NAME
    return VALUE
  }
  return [...named].flatMap(([name, templates]) =>
    templates.map((template) => ({ name, text: inOneLine(render(template, name.split(".")[0] ?? "", [name])) })),
  )
}

const inOneLine = (text: string): string =>
  text
    .replaceAll(/--[^\n]*/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim()

/** Returns the constant texts of an expression. */
const literalsOf = (code: string): string | undefined => {
  const texts = [...code.matchAll(/"([^"\n]*)"/gu)].map(([, text]) => text)
  return code.startsWith("sql.literal(") && texts.length > 0 ? ` ${texts.join(" ")} ` : undefined
}

const constantAt = (source: string, at: number): string =>
  [...source.slice(0, at).matchAll(/^(?:export )?(?:const|class) (\w+)/gmu)].at(-1)?.[1] ?? ""

/** What precedes a template of SQL, or what it begins with. */
const BEGIN =
  /sql(?:<[^`]*?>)?`|sql\.literal\(\s*`|`(?=\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE|COPY|CREATE|ALTER|DROP)\b)/gu

/** The templates of SQL in a piece of code, without those inside others. */
const templatesOf = (source: string): ReadonlyArray<Template> => {
  const found: Array<Template> = []
  for (let at = 0; ;) {
    BEGIN.lastIndex = at
    const begin = BEGIN.exec(source)
    if (begin === null) return found
    const template = readTemplate(source, begin.index + begin[0].length)
    found.push(template)
    at = template.end
  }
}

/** Reads a template from behind its first backtick. */
const readTemplate = (source: string, begin: number): Template => {
  const pieces: Array<string | Hole> = []
  let text = ""
  for (let at = begin; at < source.length; at++) {
    if (source[at] === "\\") text += source.slice(at++, at + 1)
    else if (source[at] === "`") return { begin, end: at + 1, pieces: [...pieces, text] }
    else if (!source.startsWith("${", at)) text += source[at]
    else {
      const end = endOfCode(source, at + 2)
      const code = source.slice(at + 2, end)
      pieces.push(text, { code: code.trim(), templates: templatesOf(code) })
      text = ""
      at = end
    }
  }
  throw new Error(`a template has no end: ${source.slice(begin, begin + 80)}`)
}

/** Returns where the code in `${…}` ends. */
const endOfCode = (source: string, begin: number): number => {
  let depth = 0
  for (let at = begin; at < source.length; at++) {
    const char = source[at]
    if (char === "`") at = readTemplate(source, at + 1).end - 1
    else if (char === '"') at = source.indexOf('"', at + 1)
    else if (char === "{") depth++
    else if (char === "}" && depth-- === 0) return at
  }
  throw new Error(`code in a template has no end: ${source.slice(begin, begin + 80)}`)
}
