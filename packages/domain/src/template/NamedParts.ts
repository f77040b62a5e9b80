import * as Pieces from "./Pieces.ts"
import type { TemplateSource } from "./TemplateState.ts"

const USE = /^\{%-?\s*(?:render|layout)\s+(["'])([^"']{1,64})\1/u

export interface NamedPart {
  readonly tag: string
  readonly name: string
  /** Where the tag stands among the characters of the text. */
  readonly offset: number
}

/** Returns the tags of a text in Liquid that name partials and layouts. */
export const tagsIn = (text: string): ReadonlyArray<NamedPart> =>
  Pieces.read(text).flatMap(({ begin: offset, end, isComment, tag = "" }) => {
    const name = isComment ? undefined : USE.exec(text.slice(offset, end))?.[2]
    return name === undefined ? [] : [{ tag, name, offset }]
  })

/** Returns the names of all partials and layouts that a template names, in order. */
export const of = (source: TemplateSource): ReadonlyArray<string> => {
  const texts = [source, ...Object.values(source.locales)].flatMap(({ html, preheader, subject, text }) => [
    subject,
    html,
    text,
    preheader,
  ])
  const names = texts.flatMap((text) => tagsIn(text ?? "").map(({ name }) => name))
  return [...new Set(source.layout === null ? names : [source.layout, ...names])].toSorted()
}
