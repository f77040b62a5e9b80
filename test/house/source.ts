import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export interface Source {
  /** Relative to the checkout, with forward slashes. */
  readonly path: string
  readonly text: string
}

const notOurs = new Set(["node_modules", ".git", ".waybill", "dist", "coverage"])

const walk = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder === "" ? "." : folder, { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name)) return []
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`
    return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : []
  })

/** Every file of the checkout, whether git knows it yet or not. */
export const paths: ReadonlyArray<string> = walk("")

export const read = (path: string): Source => ({ path, text: readFileSync(join(".", path), "utf8") })

export interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

const statement = /^[ \t]*(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+?\sfrom\s+)?"([^"\n]+)"/gm
const dynamic = /\bimport\(\s*"([^"\n]+)"/g

export const importsOf = (text: string): ReadonlyArray<Import> => [
  ...[...text.matchAll(statement)].map((match) => ({ specifier: match[2] ?? "", typeOnly: match[1] !== undefined })),
  ...[...text.matchAll(dynamic)].map((match) => ({ specifier: match[1] ?? "", typeOnly: false })),
]

/** A slash after one of these begins a regular expression; after anything else it divides. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\breturn|\btypeof|\bcase|=>)\s*$/

/**
 * Returns the code of a TypeScript file without comments and with empty strings and regular expressions, so that a word
 * found in it is code. Code in `${…}` of a template stays.
 */
export const bare = (text: string): string => {
  let out = ""
  let at = 0
  // Number of open braces in the current `${…}` of each template around this place, outermost first.
  const templates: Array<number> = []
  const skipTo = (end: number) => {
    at = end < 0 ? text.length : end
  }
  const template = () => {
    while (at < text.length) {
      if (text[at] === "\\") at += 2
      else if (text.startsWith("${", at)) {
        templates.push(0)
        at += 2
        out += "${"
        return
      } else if (text[at++] === "`") {
        out += "`"
        return
      }
    }
  }
  while (at < text.length) {
    const char = text.charAt(at)
    const depth = templates.at(-1)
    if (text.startsWith("//", at)) skipTo(text.indexOf("\n", at))
    else if (text.startsWith("/*", at)) skipTo(text.indexOf("*/", at) + 2)
    else if (char === '"' || char === "'") {
      const end = /^(?:\\[^]|[^\\\n])*?(?=["'\n])/
      at++
      for (let piece = end.exec(text.slice(at)); piece !== null; piece = end.exec(text.slice(at))) {
        at += piece[0].length + 1
        if (text[at - 1] === char || text[at - 1] === "\n") break
      }
      out += '""'
    } else if (char === "`") {
      at++
      out += "`"
      template()
    } else if (char === "/" && beforeRegex.test(out.slice(-12))) {
      const literal = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/.exec(text.slice(at, at + 1000))
      at += literal === null ? 1 : literal[0].length
      out += literal === null ? "/" : "/ /"
    } else {
      at++
      out += char
      if (depth !== undefined && char === "{") templates[templates.length - 1] = depth + 1
      if (depth !== undefined && char === "}") {
        if (depth > 0) templates[templates.length - 1] = depth - 1
        else {
          templates.pop()
          template()
        }
      }
    }
  }
  return out
}
