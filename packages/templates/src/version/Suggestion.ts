import * as Pieces from "@waybill/domain/template/Pieces"
import type { TemplateSource, Words } from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Limits from "../language/Limits.ts"
import * as Variables from "../language/Variables.ts"
import * as Translation from "../translate/Translation.ts"
import * as Inspection from "./Inspection.ts"

/** Uses of a variable, which tell its type. */
interface Node {
  readonly fields: Map<string, Node>
  items: Node | undefined
  type: "number" | "boolean" | undefined
  isDate: boolean
  isOptional: boolean
}

const make = (): Node => ({ fields: new Map(), items: undefined, type: undefined, isDate: false, isOptional: false })

const fieldOf = (node: Node, name: string): Node => {
  const field = node.fields.get(name) ?? make()
  node.fields.set(name, field)
  return field
}

const CONDITION = /\{%-?\s*(?:if|elsif|unless)\s+([\w.]+)\s*-?%\}/gu
const OUTPUT = /\{\{-?\s*([\w.]+)/gu
/** Looks at each name once: from its begin. */
const FILTERED = /(?<![\w.])([\w.]+)\s*\|\s*(money|number|percent|plural|local_date|local_time|date|default)\b/gu
const DATES: ReadonlyArray<string> = ["local_date", "local_time", "date"]
/** Properties that Liquid gives to lists and texts. */
const BUILT_IN: ReadonlyArray<string> = ["size", "first", "last"]

/** Suggests a schema for the variables that a source expects, of what it does with them. */
export const suggest = (given: TemplateSource): VariableSchema.VariableSchema => {
  const source = Translation.inLiquid(given)
  const root = make()
  for (const words of [source, ...Object.values(source.locales)])
    for (const [name, form] of Object.entries(Inspection.FORMS)) {
      const text = words[name as keyof Words]
      if (text !== null) collect(root, text, Variables.usedIn(form, text))
    }
  // The words that a layout goes around, which no message brings.
  root.fields.delete("content")
  return { type: "object", ...schemaOf(root, 1) }
}

const collect = (root: Node, text: string, { all, expected }: Variables.Uses): void => {
  const given = new Set(expected.map(({ path }) => path[0]))
  const loops = Pieces.loopsIn(text)
  /** Returns the node of a path, that of an item of a list if it begins with the variable of a loop. */
  const nodeOf = (path: ReadonlyArray<string | number>, depth = 0): Node | undefined => {
    const [first = "", ...rest] = path.slice(0, Limits.MAX_PATH_NAMES)
    const list = given.has(first) ? undefined : loops.get(String(first))
    const start =
      list === undefined
        ? given.has(first)
          ? root
          : undefined
        : depth < MAX_LOOPS
          ? nodeOf(list, depth + 1)
          : undefined
    if (start === undefined) return undefined
    const item = list === undefined ? start : (start.items ??= make())
    return (list === undefined ? [first, ...rest] : rest).reduce<Node>(
      (node, name) =>
        typeof name === "number" ? (node.items ??= make()) : BUILT_IN.includes(name) ? node : fieldOf(node, name),
      item,
    )
  }
  for (const { path } of [...expected, ...all]) nodeOf(path)
  for (const list of loops.values()) {
    const node = nodeOf(list)
    if (node !== undefined) node.items ??= make()
  }
  const written = new Set(Array.from(text.matchAll(OUTPUT), ([, path = ""]) => path))
  for (const [, path = ""] of text.matchAll(CONDITION)) {
    const node = nodeOf(path.split("."))
    if (node === undefined) continue
    node.isOptional = true
    if (!written.has(path)) node.type ??= "boolean"
  }
  for (const [, path = "", filter = ""] of text.matchAll(FILTERED)) {
    const node = nodeOf(path.split("."))
    if (node === undefined) continue
    if (filter === "default") node.isOptional = true
    else if (DATES.includes(filter)) node.isDate = true
    else node.type = "number"
  }
}

/** Loops in loops that are followed. */
const MAX_LOOPS = 5

const schemaOf = ({ fields }: Node, depth: number): VariableSchema.VariableSchema => {
  const required = [...fields].flatMap(([name, { isOptional }]) => (isOptional ? [] : [name]))
  return {
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries([...fields].map(([name, node]) => [name, typed(node, depth + 1)])),
  }
}

const typed = (node: Node, depth: number): VariableSchema.VariableSchema => {
  if (depth >= VariableSchema.MAX_DEPTH && (node.items !== undefined || node.fields.size > 0)) return {}
  if (node.items !== undefined) return { type: "array", items: typed(node.items, depth + 1) }
  if (node.fields.size > 0) return { type: "object", ...schemaOf(node, depth) }
  if (node.isDate) return { type: "string", format: "date-time" }
  return node.type === undefined ? {} : { type: node.type }
}
