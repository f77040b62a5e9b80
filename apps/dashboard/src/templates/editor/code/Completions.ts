import type { Completion, CompletionResult } from "@codemirror/autocomplete"
import * as Pieces from "@waybill/domain/template/Pieces"

/** The parts of a JSON Schema that say which names there are. */
export interface VariableNode {
  readonly type?: unknown
  readonly description?: unknown
  readonly properties?: Readonly<Record<string, VariableNode>>
  readonly items?: VariableNode
}

/** The variable of a layout that the words of a template stand in. */
const CONTENT: VariableNode = { type: "string", description: "The words of the template" }

/** Returns the variables that a template has: those of its schema, or else those that it uses. */
export const variablesOf = (
  schema: Readonly<Record<string, unknown>> | undefined,
  used: Readonly<Record<string, unknown>> | undefined,
  isLayout: boolean,
): VariableNode => {
  const { properties } = (schema ?? used ?? {}) as VariableNode
  return { properties: { ...(isLayout && { content: CONTENT }), ...properties } }
}

type Path = ReadonlyArray<string>

const ASSIGNED = /\{%-?\s*(?:assign|capture)\s+(\w+)/gu
/** Longest tag in which something is offered. */
const MAX_TAG_CHARS = 500
/** Loops in loops that are followed. */
const MAX_LOOPS = 5

const named = (names: string, type: string): ReadonlyArray<Completion> =>
  names.split(" ").map((label) => ({ label, type }))

/** Tags with those that end them. */
const TAGS = [
  ...named(
    "assign break case when endcase comment endcomment continue cycle decrement else elsif for endfor",
    "keyword",
  ),
  ...named("capture", "keyword"),
  ...named("endcapture if endif increment layout raw endraw render unless endunless", "keyword"),
]
const FILTERS = named(
  "abs append array_to_sentence_string at_least at_most capitalize ceil compact concat date default divided_by downcase escape escape_once find first floor has join json last local_date local_time lstrip map minus modulo money newline_to_br normalize_whitespace number percent plural plus prepend raw reject remove remove_first remove_last replace replace_first replace_last reverse round rstrip size slice sort sort_natural split strip strip_html strip_newlines sum times truncate truncatewords uniq upcase url_decode url_encode where",
  "function",
)
const WORDS = named("and contains empty forloop in or", "keyword")
const FORLOOP = named("first index index0 last length rindex rindex0", "property")

const typeOf = ({ items, properties, type }: VariableNode): string =>
  items !== undefined || type === "array" ? "list" : typeof type === "string" ? type : properties ? "object" : ""

const completionsOf = (properties: VariableNode["properties"] = {}): ReadonlyArray<Completion> =>
  Object.entries(properties).map(([label, node]) => ({
    label,
    type: "variable",
    detail: typeOf(node),
    ...(typeof node.description === "string" ? { info: node.description } : {}),
  }))

/** Returns what is known of the variable at a path, that of an item of a list if it begins with the variable of a loop. */
const nodeAt = (root: VariableNode, loops: ReadonlyMap<string, Path>, path: Path, depth = 0): VariableNode => {
  const [first = "", ...rest] = path
  const list = loops.get(first)
  const start =
    list === undefined ? root.properties?.[first] : depth < MAX_LOOPS ? nodeAt(root, loops, list, depth + 1).items : {}
  return rest.reduce<VariableNode>(
    (node, name) => (name === "[]" ? node.items : node.properties?.[name]) ?? {},
    start ?? {},
  )
}

/** Begin of an output or a tag that has not ended, and the text after it. */
const OPEN = /\{([{%])-?((?:(?![%}]\}|\{[{%]).)*)$/su
/** Texts in quotes. In one that has not ended nothing is offered. */
const QUOTED = /"[^"]*"|'[^']*'/gu
const TAG = /^\s*(\w*)$/u
const FILTER = /\|\s*(\w*)$/u
const PATH = /(?:^|[^\w.\]])((?:\w+(?:\[\d+\])*\.)*)(\w*)$/u

/**
 * Offers the variables of a schema after a text that ends in an output or a tag, and the tags and filters that it may use.
 * `isAsked`: the author has asked for it by a key.
 */
export const complete = (root: VariableNode, before: string, isAsked: boolean): CompletionResult | null => {
  const [, kind, typed = ""] = OPEN.exec(before.slice(-MAX_TAG_CHARS)) ?? []
  if (kind === undefined || /["']/u.test(typed.replaceAll(QUOTED, ""))) return null
  const offer = (word: string, options: ReadonlyArray<Completion>): CompletionResult | null =>
    options.length === 0 ? null : { from: before.length - word.length, options, validFor: /^\w*$/u }
  const tag = kind === "%" ? TAG.exec(typed)?.[1] : undefined
  if (tag !== undefined) return tag !== "" || isAsked ? offer(tag, TAGS) : null
  const filter = FILTER.exec(typed)?.[1]
  if (filter !== undefined) return offer(filter, FILTERS)
  const [, path = "", word = ""] = PATH.exec(typed) ?? []
  const loops = Pieces.loopsIn(before)
  if (path === "forloop.") return offer(word, FORLOOP)
  if (path !== "") {
    const names = path
      .slice(0, -1)
      .replaceAll(/\[\d+\]/gu, ".[]")
      .split(".")
    return offer(word, completionsOf(nodeAt(root, loops, names).properties))
  }
  // A space offers nothing, except that at the begin of an output.
  if (word === "" && typed.trim() !== "" && !isAsked) return null
  const own = new Set([...loops.keys(), ...Array.from(before.matchAll(ASSIGNED), ([, name = ""]) => name)])
  const variables = [...completionsOf(root.properties), ...named([...own].join(" "), "variable")]
  return offer(word, [...variables.filter(({ label }) => label !== ""), ...(kind === "%" ? WORDS : [])])
}
