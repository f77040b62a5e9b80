import * as Names from "./Names.ts"
import * as Mustaches from "./Mustaches.ts"
import type { Translation } from "./translateResend.ts"

interface Open {
  readonly name: string
  readonly end: string
  readonly line: number
}

/** Paths of the value that names are looked for in, and of those around it, the outermost first. */
type Chain = readonly [string, ...ReadonlyArray<string>]

/** Translates the language of Postmark's templates: sections, `each`, parents and outputs. */
export const translateMustachio = (source: string): Translation => {
  const problems: Array<Mustaches.Untranslated> = []
  const opened: Array<Open> = []
  const chains: Array<Chain> = [[""]]
  const item = Names.freeName(source, "item")
  let items = 0

  /** Returns the chain that ends with the value of a path. A step up from the variables stays there. */
  const chainOf = (text: string): Chain | undefined => {
    const parents = (/^(?:\.\.\/)*/u.exec(text)?.[0].length ?? 0) / 3
    const around = chains.at(-1) ?? [""]
    const chain: Array<string> = around.slice(0, Math.max(1, around.length - parents))
    const rest = text.slice(parents * 3)
    for (const segment of rest === "." || rest === "" ? [] : rest.split(".")) {
      const path = Names.pathIn(chain.at(-1) ?? "", [segment])
      if (path === undefined) return undefined
      chain.push(path)
    }
    const [first, ...more] = chain
    return first === undefined ? undefined : [first, ...more]
  }
  const pathOf = (text: string): string | undefined => chainOf(text)?.at(-1) || undefined
  const refuse = ({ body, line, sigil }: Mustaches.TagToken, why: string): string => {
    problems.push({ line, message: `{{${sigil === "{" ? "" : sigil}${body}}} ${why}` })
    return ""
  }
  const open = (tag: Mustaches.TagToken, name: string, begin: string, end: string, chain: Chain): string => {
    opened.push({ name, end, line: tag.line })
    chains.push(chain)
    return begin
  }
  const section = (tag: Mustaches.TagToken): string => {
    const each = /^each\s+(\S+)$/u.exec(tag.body)?.[1]
    const around = chains.at(-1) ?? [""]
    const chain = chainOf(each ?? tag.body)
    const path = chain?.at(-1) ?? ""
    if (chain === undefined || path === "") {
      refuse(tag, "has no counterpart")
      return open(tag, each === undefined ? tag.body : "each", "{% if false %}", "{% endif %}", around)
    }
    if (each === undefined) return open(tag, tag.body, `{% if ${Names.isGiven(path)} %}`, "{% endif %}", chain)
    const name = ++items === 1 ? item : `${item}${items}`
    // From an item, one step up is the list, which has no names of its own, and two are what is around it.
    return open(tag, "each", `{% for ${name} in ${path} %}`, "{% endfor %}", [...around, around.at(-1) ?? "", name])
  }
  const inverted = (tag: Mustaches.TagToken): string => {
    const around = chains.at(-1) ?? [""]
    const path = pathOf(tag.body)
    if (path === undefined) refuse(tag, "has no counterpart")
    const begin = path === undefined ? "{% unless true %}" : `{% unless ${Names.isGiven(path)} %}`
    // One step up is what is around it, and so is none: the value has no names.
    return open(tag, tag.body, begin, "{% endunless %}", [...around, around.at(-1) ?? ""])
  }
  const close = (tag: Mustaches.TagToken): string => {
    const last = opened.at(-1)
    if (last === undefined || (tag.body !== "" && tag.body.split(/\s/u)[0] !== last.name))
      return refuse(tag, "closes nothing that is open")
    opened.pop()
    chains.pop()
    return last.end
  }
  const write = (tag: Mustaches.TagToken): string => {
    switch (tag.sigil) {
      case "!":
        return ""
      case "#":
        return section(tag)
      case "^":
        return inverted(tag)
      case "/":
        return close(tag)
      case ">":
        return refuse(tag, "is a partial, which Postmark has not")
      default: {
        if (tag.body === "@content") return "{{ content }}"
        const path = pathOf(tag.body)
        if (path === undefined) return refuse(tag, "has no counterpart")
        return `{{ ${path}${tag.sigil === "{" ? " | raw" : ""} }}`
      }
    }
  }
  const pieces = Mustaches.withoutLinesOfTags(Mustaches.tokensOf(source)).map((token) =>
    token.kind === "text" ? Names.literally(token.text) : write(token),
  )
  for (const { end, line, name } of opened.toReversed()) {
    problems.push({ line, message: `{{#${name}}} is not closed` })
    pieces.push(end)
  }
  return { liquid: pieces.join(""), problems }
}
