/** Words that mean something else in Liquid. */
const RESERVED: ReadonlySet<string> = new Set([
  "and",
  "blank",
  "contains",
  "empty",
  "false",
  "forloop",
  "in",
  "nil",
  "not",
  "null",
  "or",
  "true",
])
const SIMPLE = /^[A-Za-z_][\w-]*$/u

/** Returns a path as Liquid writes it, below a value or among the variables; undefined if Liquid cannot say it. */
export const pathIn = (below: string, segments: ReadonlyArray<string>): string | undefined => {
  let path = below
  for (const [nth, segment] of segments.entries()) {
    if (segment === "length" && nth === segments.length - 1 && path !== "") path += ".size"
    else if (path === "") {
      if (!SIMPLE.test(segment) || RESERVED.has(segment)) return undefined
      path = segment
    } else if (/^\d+$/u.test(segment)) path += `[${segment}]`
    else if (SIMPLE.test(segment)) path += `.${segment}`
    else {
      const quoted = quotedOf(segment)
      if (quoted === undefined) return undefined
      path += `[${quoted}]`
    }
  }
  return path === "" ? undefined : path
}

/** Returns a text in quotes; undefined if it has both kinds of them, or would end the tag. */
export const quotedOf = (text: string): string | undefined => {
  if (/[\n\r]|\}\}|%\}|\\/u.test(text)) return undefined
  return text.includes('"') ? (text.includes("'") ? undefined : `'${text}'`) : `"${text}"`
}

/** Returns the condition by which Handlebars and Mustache take a value as given. Liquid also takes empty ones. */
export const isGiven = (path: string): string => `${path} and ${path} != "" and ${path} != 0 and ${path} != empty`

/** Returns text so that Liquid writes it as it is. */
export const literally = (text: string): string =>
  text.replaceAll(/\{\{|\{%/gu, (braces) => `{% raw %}${braces}{% endraw %}`)

/** Returns names for the items of loops that the source does not use. */
export const freeName = (source: string, wanted: string): string => {
  let name = wanted
  while (source.includes(name)) name += "_"
  return name
}
