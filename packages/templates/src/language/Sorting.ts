import { toValue } from "liquidjs"
import * as Counting from "./Counting.ts"
import * as Limits from "./Limits.ts"

type Key = string | number | undefined

/** Returns what the library compares of a value; nothing comes last. */
const keyOf = (value: unknown): Key => {
  const primitive: unknown = typeof value === "object" && value !== null ? value.valueOf() : value
  if (primitive === null || primitive === undefined) return undefined
  return typeof primitive === "object" ? String(primitive) : (primitive as Key)
}

const compare = (one: Key, other: Key): number =>
  one === undefined || other === undefined
    ? Number(one === undefined) - Number(other === undefined)
    : one < other
      ? -1
      : Number(one > other)

/** Sorts a list as the library does, and counts the characters that are compared. */
const sorting = (fold: (key: Key) => Key): Counting.Handler =>
  function* (value, property): Generator<unknown, ReadonlyArray<unknown>> {
    const { context } = this
    const list: unknown = toValue(value) ?? []
    const entries: Array<{ readonly item: unknown; readonly key: Key }> = []
    const path = Counting.textOf(property)
    const names = path === "" ? [] : path.split(".")
    for (const item of Array.isArray(list) ? list : [list]) {
      const read = names.length === 0 ? item : yield context._getFromScope(item, names, false)
      Counting.countRead(context, read)
      entries.push({ item, key: fold(keyOf(read)) })
    }
    entries.sort(({ key: one }, { key: other }) => {
      if (typeof one === "string" && typeof other === "string")
        context.memoryLimit.use(Math.min(one.length, other.length) / Limits.CHARS_AT_ONCE)
      return compare(one, other)
    })
    return entries.map(({ item }) => item)
  }

export const FILTERS = {
  sort: sorting((key) => key),
  sort_natural: sorting((key) => (key === undefined ? key : String(key).toLowerCase())),
}
