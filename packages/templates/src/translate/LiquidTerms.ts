const NAME = /^[A-Za-z_][\w-]*$/u
/** Words that Liquid does not read as names of variables. */
const RESERVED: ReadonlySet<string> = new Set([
  "and",
  "blank",
  "contains",
  "empty",
  "false",
  "nil",
  "not",
  "null",
  "or",
  "true",
  "undefined",
])
const INDEX = /^\d{1,9}$/u

const ESCAPED = /["\\{}%\n\r]/gu

/** Writes a text in quotes. Braces would end the tag around it. */
export const quoted = (text: string): string =>
  `"${text.replaceAll(ESCAPED, (character) => {
    if (character === '"' || character === "\\") return `\\${character}`
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
  })}"`

/** Writes a property of an expression; of the variables themselves if that is empty. */
export const property = (of: string, name: string): string => {
  if (of === "") return NAME.test(name) && !RESERVED.has(name) ? name : `[${quoted(name)}]`
  if (INDEX.test(name)) return `${of}[${name}]`
  return NAME.test(name) ? `${of}.${name}` : `${of}[${quoted(name)}]`
}

/** Writes that a value is neither missing, false, zero nor empty. It can be part of a longer `and`. */
export const isPresent = (expression: string): string =>
  `${expression} and ${expression} != empty and ${expression} != 0`

/** Names in a source, beside which loops need others. */
export const wordsOf = (source: string): Set<string> => new Set(source.match(/[A-Za-z_][\w-]*/gu))

const MANY = 20

/** Returns a name for the items of a list that the source does not use, and takes it. */
export const nameOfItem = (list: string, taken: Set<string>): string => {
  const last = /([A-Za-z_]\w*)$/u.exec(list)?.[1] ?? ""
  const wanted = last.length > 2 && last.length <= 32 && last.endsWith("s") ? last.slice(0, -1) : "item"
  let name = wanted
  // After a few, numbers go on from a high one, so that thousands of names do not try each other's.
  for (let nth = 2; taken.has(name) || RESERVED.has(name); nth++)
    name = `${wanted}_${nth < MANY ? nth : nth + taken.size}`
  taken.add(name)
  return name
}

/** Liquid's own names, which hide variables of the same name. */
export const HIDDEN: ReadonlySet<string> = new Set(["forloop"])
