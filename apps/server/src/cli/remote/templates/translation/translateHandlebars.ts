import * as Table from "@waybill/domain/collections/Table"
import * as Conditions from "./Conditions.ts"
import { dateFormat } from "./dateFormat.ts"
import * as Expressions from "./Expressions.ts"
import * as Mustaches from "./Mustaches.ts"
import * as Names from "./Names.ts"
import type { Translation } from "./translateResend.ts"

/** Where names are looked for: in all variables, in an item of a loop, or in a value. */
interface Level {
  readonly below: string
  /** Path of the key of an item of an object. */
  readonly key?: string
  readonly isLoop: boolean
}

interface Open {
  readonly name: string
  readonly line: number
  /** Tags that end it. Grows with each `else if`. */
  end: string
  readonly hasLevel: boolean
  hasElse: boolean
}

/** Names of Handlebars and of Liquid in a loop. */
const LOOP: Readonly<Record<string, string>> = {
  index: "forloop.index0",
  first: "forloop.first",
  last: "forloop.last",
}

const NO_COUNTERPART = "has no counterpart in Liquid"

/** Translates Handlebars with the helpers of SendGrid. */
export const translateHandlebars = (source: string): Translation => {
  const problems: Array<Mustaches.Untranslated> = []
  const opened: Array<Open> = []
  const levels: Array<Level> = [{ below: "", isLoop: false }]
  const itemName = Names.freeName(source, "item")
  const flagName = Names.freeName(source, "flag")
  let [items, flags] = [0, 0]

  const scope: Conditions.Scope = {
    newName: () => `${flagName}${++flags}`,
    pathOf: ({ data, parents, segments }) => {
      if (!data) {
        const level = levels[levels.length - 1 - parents]
        return level === undefined ? undefined : Names.pathIn(level.below, segments)
      }
      const [name = "", ...rest] = segments
      const level = levels.at(-1)
      if (name === "root") return Names.pathIn("", rest)
      if (parents > 0 || rest.length > 0 || level === undefined || !level.isLoop) return undefined
      if (name === "key") return level.key
      return Table.at(LOOP, name)
    },
  }

  const refuse = ({ body, line, sigil }: Mustaches.TagToken, why = NO_COUNTERPART): string => {
    problems.push({ line, message: `{{${sigil === "{" ? "" : sigil}${body}}} ${why}` })
    return ""
  }
  const open = (tag: Mustaches.TagToken, name: string, begin: string, end: string, level?: Level): string => {
    opened.push({ name, line: tag.line, end, hasLevel: level !== undefined, hasElse: false })
    if (level !== undefined) levels.push(level)
    return begin
  }

  /** Opens what cannot be translated, and shows nothing of it. */
  const openUnknown = (tag: Mustaches.TagToken, name: string): string => {
    refuse(tag)
    return open(
      tag,
      name,
      "{% if false %}",
      "{% endif %}",
      name === "each" || name === "with" ? levels.at(-1) : undefined,
    )
  }

  const block = (tag: Mustaches.TagToken, usesKey: boolean): string => {
    const [helper, ...given] = Expressions.read(tag.body) ?? []
    const name = helper?.is === "path" && helper.segments.length === 1 && !helper.data ? (helper.segments[0] ?? "") : ""
    const [only] = given
    if ((name === "each" || name === "with") && given.length === 1 && only !== undefined) {
      const path = Conditions.valueOf(scope, only)
      if (path === undefined) return openUnknown(tag, name)
      if (name === "with")
        return open(tag, name, `{% if ${Names.isGiven(path)} %}`, "{% endif %}", { below: path, isLoop: false })
      const item = ++items === 1 ? itemName : `${itemName}${items}`
      const level = usesKey ? { below: `${item}[1]`, key: `${item}[0]`, isLoop: true } : { below: item, isLoop: true }
      return open(tag, name, `{% for ${item} in ${path} %}`, "{% endfor %}", level)
    }
    const condition = Conditions.HELPERS.includes(name) ? Conditions.conditionOf(scope, name, given) : undefined
    if (condition === undefined) return openUnknown(tag, name === "" ? firstWord(tag.body) : name)
    return name === "unless"
      ? open(tag, name, `${condition.before}{% unless ${condition.test} %}`, "{% endunless %}")
      : open(tag, name, `${condition.before}{% if ${condition.test} %}`, "{% endif %}")
  }

  const otherwise = (tag: Mustaches.TagToken, condition: string): string => {
    const last = opened.at(-1)
    if (last === undefined || last.hasElse) return refuse(tag, "stands in no block")
    if (last.hasLevel && levels.length > 1) {
      // The rest of the block is not about the value any more.
      levels.pop()
      opened[opened.length - 1] = { ...last, hasLevel: false }
    }
    const current = opened.at(-1)
    if (current === undefined) return ""
    if (condition === "") {
      current.hasElse = true
      return "{% else %}"
    }
    const [helper, ...given] = Expressions.read(condition) ?? []
    const name = helper?.is === "path" ? (helper.segments[0] ?? "") : ""
    const test = Conditions.HELPERS.includes(name) ? Conditions.conditionOf(scope, name, given) : undefined
    if (test === undefined) refuse(tag)
    const isUnless = name === "unless"
    current.end = (isUnless ? "{% endunless %}" : "{% endif %}") + current.end
    return `{% else %}${test?.before ?? ""}{% ${isUnless ? "unless" : "if"} ${test?.test ?? "false"} %}`
  }

  const close = (tag: Mustaches.TagToken): string => {
    const last = opened.at(-1)
    if (last === undefined || tag.body !== last.name) return refuse(tag, "closes nothing that is open")
    opened.pop()
    if (last.hasLevel && levels.length > 1) levels.pop()
    return last.end
  }

  const write = (tag: Mustaches.TagToken): string => {
    const expressions = Expressions.read(tag.body)
    const [first, ...given] = expressions ?? []
    const raw = tag.sigil === "{" ? " | raw" : ""
    if (first === undefined) return refuse(tag)
    if (given.length > 0) {
      const helper = first.is === "path" && first.segments.length === 1 ? first.segments[0] : undefined
      const output = helper === undefined ? undefined : outputOf(scope, helper, given)
      return output === undefined ? refuse(tag) : `{{ ${output}${raw} }}`
    }
    const value = Conditions.valueOf(scope, first)
    return value === undefined || first.is === "text" ? refuse(tag) : `{{ ${value}${raw} }}`
  }

  const tokens = Mustaches.withoutTagLines(Mustaches.tokensOf(source))
  const pieces = tokens.map((token, nth) => {
    if (token.kind === "text") return Names.literally(token.text)
    const inverse = /^else(?:\s+|$)/u.exec(token.body)
    switch (token.sigil) {
      case "!":
        return ""
      case "#":
        return block(token, usesKey(tokens.slice(nth + 1)))
      case "/":
        return close(token)
      case "^":
        return token.body === "" ? otherwise(token, "") : openUnknown(token, firstWord(token.body))
      case ">":
        return refuse(token, "is a partial of another template")
      default:
        return inverse === null ? write(token) : otherwise(token, token.body.slice(inverse[0].length))
    }
  })
  for (const { end, line, name } of opened.toReversed()) {
    problems.push({ line, message: `{{#${name}}} is not closed` })
    pieces.push(end)
  }
  return { liquid: pieces.join(""), problems }
}

const firstWord = (body: string): string => body.split(/\s/u)[0] ?? ""

/** Whether the items of a loop, which begins before these tokens, are asked for their keys: then they are those of an object. */
const usesKey = (tokens: ReadonlyArray<ReturnType<typeof Mustaches.tokensOf>[number]>): boolean => {
  let depth = 0
  for (const token of tokens) {
    if (token.kind === "text") continue
    if (token.sigil === "#" && firstWord(token.body) === "each") depth++
    if (token.sigil === "/" && token.body === "each" && depth-- === 0) return false
    if (depth === 0 && /@key\b/u.test(token.body)) return true
  }
  return false
}

/** Returns what a helper of SendGrid writes. */
const outputOf = (
  scope: Conditions.Scope,
  helper: string,
  given: ReadonlyArray<Expressions.Expression>,
): string | undefined => {
  const [first, second, ...more] = given
  const value = first === undefined ? undefined : Conditions.valueOf(scope, first)
  if (value === undefined || more.length > 0) return undefined
  if (helper === "length" && second === undefined) return `${value}.size`
  if (second?.is !== "text") return undefined
  if (helper === "insert") {
    const words = Names.quotedOf(second.text.replace(/^default=/u, ""))
    return words === undefined ? undefined : `${value} | default: ${words}, allow_false: true`
  }
  const format = helper === "formatDate" ? dateFormat(second.text) : undefined
  const quoted = format === undefined ? undefined : Names.quotedOf(format)
  return quoted === undefined ? undefined : `${value} | date: ${quoted}`
}
