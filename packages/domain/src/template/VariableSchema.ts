import type { Schema } from "effect"
import { nearestName } from "../values/nearestName.ts"
import type { Detail } from "../values/Refusal.ts"

/** Expectations of a template about its variables: a subset of JSON Schema, draft 2020-12. */
export interface VariableSchema {
  readonly type?: Type
  readonly description?: string
  readonly default?: Schema.Json
  readonly enum?: ReadonlyArray<Schema.Json>
  /** Values of previews, the first of which is taken. */
  readonly examples?: ReadonlyArray<Schema.Json>
  readonly format?: Format
  readonly items?: VariableSchema
  readonly properties?: Readonly<Record<string, VariableSchema>>
  readonly required?: ReadonlyArray<string>
}

const TYPES = ["string", "number", "integer", "boolean", "array", "object"] as const
type Type = (typeof TYPES)[number]

const FORMATS = {
  date: (text: string) => /^\d{4}-\d\d-\d\d$/u.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/u.test(text) && !Number.isNaN(Date.parse(text)),
  email: (text: string) => /^[^\s@]{1,64}@[^\s@]{1,255}$/u.test(text),
  uri: (text: string) => URL.canParse(text),
} as const
type Format = keyof typeof FORMATS

const KEYWORDS = [
  "$schema",
  "type",
  "description",
  "default",
  "enum",
  "examples",
  "format",
  "items",
  "properties",
  "required",
]

/** Depth of a schema and of variables. */
export const MAX_DEPTH = 10
/** Properties of a schema in all. */
export const MAX_PROPERTIES = 500
/** Characters of a schema as JSON. */
export const MAX_SCHEMA_CHARS = 64 * 1024
/** Values that `enum` may list. */
export const MAX_ENUM = 100
/** Values that `examples` may list. */
export const MAX_EXAMPLES = 20
/** Names that one check looks for in all objects: those of the schema in each. */
export const MAX_STEPS = 1_000_000
/** Problems that are told; more are only counted. */
const MAX_DETAILS = 100

const isObject = (value: unknown): value is Variables =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Collects problems up to the bound. */
class Details {
  readonly list: Array<Detail> = []
  #steps = 0

  /** Counts the names that are looked for in one object. */
  count(steps: number): void {
    this.#steps += steps
  }

  get isTooMuch(): boolean {
    return this.#steps > MAX_STEPS
  }

  add(path: string, message: string): void {
    if (this.list.length < MAX_DETAILS) this.list.push({ path, message })
  }

  get isFull(): boolean {
    return this.isTooMuch || this.list.length >= MAX_DETAILS
  }
}

const under = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`)

/** Returns what is wrong with a schema that a template brings; nothing if it is a `VariableSchema` of an object. */
export const problemsOf = (schema: Schema.Json): ReadonlyArray<Detail> => {
  const details = new Details()
  const left = { properties: MAX_PROPERTIES }
  if (!isObject(schema) || (schema["type"] ?? "object") !== "object")
    return [{ path: "", message: "must be a JSON Schema of an object, with `properties`" }]
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS)
    return [{ path: "", message: `is longer than ${MAX_SCHEMA_CHARS} characters` }]
  examine(schema, "", 1, details, left)
  return details.list
}

interface Left {
  properties: number
}

const examine = (schema: Schema.Json, path: string, depth: number, details: Details, left: Left): void => {
  if (details.isFull) return
  if (!isObject(schema)) return details.add(path, "must be an object of JSON Schema")
  if (depth > MAX_DEPTH) return details.add(path, `is deeper than ${MAX_DEPTH} levels`)
  for (const keyword of Object.keys(schema)) {
    if (KEYWORDS.includes(keyword)) continue
    if (details.isFull) return
    const nearest = nearestName(keyword, KEYWORDS)
    details.add(
      under(path, keyword),
      `is not supported${nearest === undefined ? "" : `; did you mean \`${nearest}\`?`}`,
    )
  }
  const { enum: values, examples, format, items, properties, required, type } = schema
  if (type !== undefined && !TYPES.some((known) => known === type))
    details.add(under(path, "type"), `must be one of ${TYPES.join(", ")}`)
  if (format !== undefined && !(typeof format === "string" && Object.hasOwn(FORMATS, format)))
    details.add(under(path, "format"), `must be one of ${Object.keys(FORMATS).join(", ")}`)
  if (values !== undefined && !(Array.isArray(values) && values.length > 0 && values.length <= MAX_ENUM))
    details.add(under(path, "enum"), `must be a list of 1 to ${MAX_ENUM} values`)
  if (examples !== undefined && !(Array.isArray(examples) && examples.length <= MAX_EXAMPLES))
    details.add(under(path, "examples"), `must be a list of at most ${MAX_EXAMPLES} values`)
  if (required !== undefined && !isNames(required))
    details.add(under(path, "required"), `must be a list of at most ${MAX_PROPERTIES} different names`)
  if (items !== undefined) examine(items, under(path, "items"), depth + 1, details, left)
  if (properties !== undefined) examineProperties(properties, under(path, "properties"), depth, details, left)
}

const isNames = (names: Schema.Json): boolean =>
  Array.isArray(names) &&
  names.length <= MAX_PROPERTIES &&
  names.every((name) => typeof name === "string") &&
  new Set(names).size === names.length

const examineProperties = (
  properties: Schema.Json,
  path: string,
  depth: number,
  details: Details,
  left: Left,
): void => {
  if (!isObject(properties)) return details.add(path, "must be an object of schemas")
  for (const [name, schema] of Object.entries(properties)) {
    if (left.properties-- <= 0) return details.add(path, `has more than ${MAX_PROPERTIES} properties in all`)
    examine(schema, under(path, name), depth + 1, details, left)
  }
}

/** Variables of a message. */
export type Variables = Readonly<Record<string, Schema.Json>>

export interface Checked {
  /** The variables with the defaults of the schema. */
  readonly variables: Variables
  readonly problems: ReadonlyArray<Detail>
}

/** Checks variables by a schema that has no problems, and fills in its defaults. All that is wrong is told, by path. */
export const check = (schema: VariableSchema, variables: Variables): Checked => {
  const details = new Details()
  const filled = object(schema, variables, undefined, details)
  return {
    variables: filled,
    problems: details.isTooMuch ? [{ path: "", message: TOO_MUCH }] : details.list,
  }
}

const TOO_MUCH = `has too many objects for its schema: more than ${MAX_STEPS} names to look for`

const typeOf = (value: Schema.Json): string =>
  Array.isArray(value) ? "array" : value === null ? "null" : Number.isInteger(value) ? "integer" : typeof value

const fits = (type: Type, value: Schema.Json): boolean =>
  typeOf(value) === type || (type === "number" && typeof value === "number")

/** An object or list of the variables: its name or number in what is around it. Paths are made of it for problems alone. */
interface Place {
  readonly around: Place | undefined
  readonly step: string | number
}

const pathOf = (around: Place | undefined, step: string | number): string => {
  const path = around === undefined ? "" : pathOf(around.around, around.step)
  return typeof step === "number" ? `${path}[${step}]` : under(path, step)
}

const value = (
  schema: VariableSchema,
  given: Schema.Json,
  around: Place | undefined,
  step: Place["step"],
  details: Details,
): Schema.Json => {
  if (details.isFull) return given
  if (schema.type !== undefined && !fits(schema.type, given)) {
    details.add(pathOf(around, step), `must be ${articled(schema.type)}, not ${typeOf(given)}`)
    return given
  }
  if (schema.enum !== undefined && !textsOf(schema.enum).has(JSON.stringify(given)))
    details.add(pathOf(around, step), `must be one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`)
  if (schema.format !== undefined && typeof given === "string" && !FORMATS[schema.format](given))
    details.add(pathOf(around, step), `must be ${articled(schema.format)}`)
  if (typeof given !== "object" || given === null) return given
  if (Array.isArray(given)) return list(schema, given, { around, step }, details)
  return schema.properties === undefined ? given : object(schema, given as Variables, { around, step }, details)
}

/** Values of each `enum` as JSON, for lists of thousands of values. */
const texts = new WeakMap<ReadonlyArray<Schema.Json>, ReadonlySet<string>>()

const textsOf = (values: ReadonlyArray<Schema.Json>): ReadonlySet<string> => {
  const known = texts.get(values) ?? new Set(values.map((one) => JSON.stringify(one)))
  texts.set(values, known)
  return known
}

const articled = (name: string): string => `${/^[aeiou]/u.test(name) && name !== "uri" ? "an" : "a"} ${name}`

/** Objects and lists that get no default are not copied. */
const list = (
  { items }: VariableSchema,
  given: ReadonlyArray<Schema.Json>,
  place: Place,
  details: Details,
): Schema.Json => {
  if (items === undefined) return given
  let filled: Array<Schema.Json> | undefined
  for (const [nth, each] of given.entries()) {
    const next = value(items, each, place, nth, details)
    if (next !== each) (filled ??= [...given])[nth] = next
  }
  return filled ?? given
}

interface Names {
  readonly all: ReadonlyArray<string>
  /** Whether an object that has all of them lacks none that is required. */
  readonly areEnough: boolean
}

/** Names of each object of a schema, for lists of thousands of objects. */
const known = new WeakMap<VariableSchema, Names>()

const namesOf = (schema: VariableSchema): Names => {
  const found = known.get(schema)
  if (found !== undefined) return found
  const { properties = {}, required = [] } = schema
  const names = {
    all: Object.keys(properties),
    areEnough: required.every((name) => Object.hasOwn(properties, name)),
  }
  known.set(schema, names)
  return names
}

const object = (schema: VariableSchema, given: Variables, place: Place | undefined, details: Details): Variables => {
  const { properties = {}, required = [] } = schema
  const { all: names, areEnough } = namesOf(schema)
  details.count(names.length + required.length)
  if (details.isFull) return given
  let filled: Record<string, Schema.Json> | undefined
  let missing = names.length
  for (const name in given) {
    if (details.isFull) return given
    const each = given[name] ?? null
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property === undefined) {
      const nearest = nearestName(name, names)
      details.add(
        pathOf(place, name),
        `is not a variable of this template${nearest === undefined ? "" : `; did you mean \`${nearest}\`?`}`,
      )
      continue
    }
    missing--
    const next = value(property, each, place, name, details)
    if (next !== each) (filled ??= { ...given })[name] = next
  }
  if (missing === 0 && areEnough) return filled ?? given
  for (const name of names) {
    const fallback = properties[name]?.default
    if (fallback !== undefined && !Object.hasOwn(given, name)) (filled ??= { ...given })[name] = fallback
  }
  for (const name of required) if (!Object.hasOwn(filled ?? given, name)) details.add(pathOf(place, name), "is missing")
  return filled ?? given
}

/** Characters of the texts and names of variables. */
export const MAX_VARIABLES_CHARS = 256 * 1024

/** Whether variables, which are JSON of a few levels, have more characters than a template is made of. */
export const areTooLarge = (variables: Schema.Json): boolean => charsIn(variables) > MAX_VARIABLES_CHARS

const charsIn = (json: Schema.Json): number => {
  if (typeof json === "string") return json.length
  if (typeof json !== "object" || json === null) return 0
  let chars = 0
  if (Array.isArray(json)) for (const each of json) chars += charsIn(each as Schema.Json)
  else for (const name in json) chars += name.length + charsIn((json as Variables)[name] ?? null)
  return chars
}

/** Returns variables that fit a schema, for a preview and for tests. A text is the name of its variable in words. */
export const sampleOf = (schema: VariableSchema, name = "text"): Schema.Json => {
  const [example] = schema.examples ?? []
  if (example !== undefined) return example
  if (schema.default !== undefined) return schema.default
  if (schema.enum !== undefined) return schema.enum[0] ?? null
  switch (schema.type ?? (schema.properties === undefined ? "string" : "object")) {
    case "array":
      return schema.items === undefined ? [] : [sampleOf(schema.items, name)]
    case "boolean":
      return true
    case "integer":
    case "number":
      return 1
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([inner, each]) => [inner, sampleOf(each, inner)]),
      )
    case "string":
      return schema.format === undefined ? wordsOf(name) : SAMPLES[schema.format]
  }
}

/** Returns a name in words: `firstName` and `first_name` are "First name". */
const wordsOf = (name: string): string => {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/gu, "$1 $2")
    .replaceAll(/[_-]+/gu, " ")
    .trim()
    .toLowerCase()
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

const SAMPLES: { readonly [F in Format]: string } = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  email: "ana@example.org",
  uri: "https://example.org/",
}
