export type JsonValue = null | boolean | number | string | ReadonlyArray<JsonValue> | JsonObject
export interface JsonObject {
  readonly [name: string]: JsonValue
}

/** Deepest nesting of a value, so that no file exhausts the stack. */
const MAX_DEPTH = 64

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Returns the one canonical text of a JSON value (RFC 8785). Names are sorted by their UTF-16 code units, which is how
 * JavaScript compares strings, and its numbers and strings are the ones that the RFC prescribes.
 */
export const canonicalJson = (value: unknown, depth = 0): string => {
  if (depth > MAX_DEPTH) throw new Error(`JSON is nested deeper than ${MAX_DEPTH}.`)
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(",")}]`
  if (isObject(value)) {
    const members = Object.keys(value).sort()
    return `{${members.map((name) => `${quoted(name)}:${canonicalJson(value[name], depth + 1)}`).join(",")}}`
  }
  if (typeof value === "string") return quoted(value)
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return JSON.stringify(value)
  throw new Error(`${String(value)} is not JSON.`)
}

const quoted = (text: string): string => {
  if (/\p{Surrogate}/u.test(text)) throw new Error("A string has half of a surrogate pair.")
  return JSON.stringify(text)
}

/** Parses JSON, and refuses an object with two members of one name, of which programs would read different ones. */
export const parseJson = (text: string): JsonValue => {
  const value: JsonValue = JSON.parse(text)
  const objects: Array<Set<string> | undefined> = []
  for (const [token, colon] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/gu)) {
    if (token === "{") objects.push(new Set())
    else if (token === "[") objects.push(undefined)
    else if (token === "}" || token === "]") objects.pop()
    else if (colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, -colon.length))
      if (objects.at(-1)?.has(name) === true)
        throw new Error(`The name ${token.slice(0, 64)} appears twice in an object.`)
      objects.at(-1)?.add(name)
    }
  }
  return value
}
