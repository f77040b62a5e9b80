import { type Context, Drop, toValue } from "liquidjs"
import * as Limits from "./Limits.ts"

export type Handler = (this: { readonly context: Context }, ...all: ReadonlyArray<unknown>) => unknown

/** Steps of going into a list or an object. */
const LIST_STEPS = 3

/** Counts a value before it is read: items of lists, those in them too, and characters. `isDeep`: also what objects hold. */
export const countRead = (context: Context, value: unknown, isDeep = false): void => {
  const read: unknown = toValue(value)
  if (typeof read === "string") context.memoryLimit.use(read.length / Limits.CHARS_AT_ONCE)
  if (typeof read !== "object" || read === null || !(isDeep || Array.isArray(read))) return
  const held = Array.isArray(read) ? read : Object.entries(read)
  context.memoryLimit.use(held.length + LIST_STEPS)
  for (const each of held) if (typeof each === "object" || typeof each === "string") countRead(context, each, isDeep)
}

/** Counts a search for a text in another one, which may compare the whole of it at each place. */
export const countSearch = (context: Context, text: string, pattern: string): void => {
  const places = Math.max(1, text.length - pattern.length + 1)
  context.memoryLimit.use((places * pattern.length) / Limits.CHARS_AT_ONCE)
}

/** `empty`, `blank` and `nil`, which tell themselves what equals them. */
export const isWord = (value: unknown): boolean => value instanceof Drop && "equals" in value

/** Returns a value as the library's filters of texts read it. */
export const textOf = (value: unknown): string => {
  const read: unknown = toValue(value)
  if (Array.isArray(read)) return read.map(textOf).join("")
  return read === null || read === undefined ? "" : String(read)
}

/** Filters that read nothing of a list or text. */
const READ_NOTHING: ReadonlySet<string> = new Set(["default", "first", "last", "size"])
/** Filters whose first argument is looked for in a text. */
const SEARCHES: ReadonlySet<string> = new Set([
  "remove",
  "remove_first",
  "remove_last",
  "replace",
  "replace_first",
  "replace_last",
  "split",
])
/** Filters that look at each character of what they are given, and of which the library counts nothing or a part. */
const BY_CHARACTER: ReadonlySet<string> = new Set([
  "date",
  "local_date",
  "local_time",
  "lstrip",
  "rstrip",
  "strip",
  "url_decode",
  "url_encode",
])
/** Filters that read what the objects of a list hold. */
const DEEP: ReadonlySet<string> = new Set(["json", "sum"])

/** Steps of the filters that look at each item of a list, for an item and a name in its path. */
const ITEM_STEPS: ReadonlyMap<string, number> = new Map([
  ["find", 40],
  ["has", 40],
  ["map", 20],
  ["reject", 40],
  ["sort", 20],
  ["sort_natural", 20],
  ["sum", 20],
  ["where", 40],
])

/** Counts the items of a list, and what of each is read and compared. Returns the property's path. */
const countItems = (context: Context, steps: number, [value, property, wanted]: ReadonlyArray<unknown>): string => {
  countRead(context, property)
  const path = textOf(property)
  if (path.length > Limits.MAX_PROPERTY_CHARS)
    throw new Error(`reads a property of more than ${Limits.MAX_PROPERTY_CHARS} characters`)
  const list: unknown = toValue(value)
  const count = Array.isArray(list) ? list.length : 1
  context.memoryLimit.use(count * steps * path.split(/[.[]/u).length)
  if (isWord(wanted)) countRead(context, value, true)
  else if (typeof wanted === "object" || typeof wanted === "string")
    for (let nth = 0; nth < count; nth++) countRead(context, wanted)
  return path
}

/** Counts what a filter of the library does before it runs: the library counts what some of them make, and little else. */
export const counted = (name: string, handler: Handler): Handler => {
  if (READ_NOTHING.has(name)) return handler
  const steps = ITEM_STEPS.get(name)
  return function (...all) {
    const { context } = this
    const given = [...all]
    const path = steps === undefined ? undefined : countItems(context, steps, given)
    // The library would write a list as a path again for each item.
    if (path !== undefined && typeof given[1] === "object") given[1] = path
    for (const each of given) countRead(context, each, DEEP.has(name))
    if (BY_CHARACTER.has(name)) for (const each of given) context.memoryLimit.use(textOf(each).length)
    if (!SEARCHES.has(name)) return handler.call(this, ...given)
    const [value, pattern, ...rest] = given
    const [text, looked] = [textOf(value), textOf(pattern)]
    countSearch(context, text, looked)
    return handler.call(this, text, looked, ...rest)
  }
}
