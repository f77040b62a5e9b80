export interface Json {
  readonly [key: string]: unknown
}

/** Differences between two documents: those that break a client, and mere additions. */
export interface Difference {
  readonly breaks: ReadonlyArray<string>
  readonly additions: ReadonlyArray<string>
}

/** Requests may be accepted more widely and responses may contain more, never the reverse. */
type Direction = "request" | "response"

export const compare = (old: Json, now: Json): Difference => {
  const breaks: Array<string> = []
  const additions: Array<string> = []
  const documents = { old, now }
  const oldPaths = at(old, "paths")
  const newPaths = at(now, "paths")
  for (const [path, operations] of entries(oldPaths))
    for (const [method, operation] of entries(operations)) {
      const where = `${method.toUpperCase()} ${path}`
      const next = at(at(newPaths, path), method)
      if (next === NOTHING) breaks.push(`${where} is gone`)
      else compareOperation(documents, where, operation, next, breaks, additions)
    }
  for (const [path, operations] of entries(newPaths))
    for (const method of Object.keys(operations))
      if (at(at(oldPaths, path), method) === NOTHING) additions.push(`${method.toUpperCase()} ${path} is new`)
  return { breaks, additions }
}

interface Documents {
  readonly old: Json
  readonly now: Json
}

const NOTHING: Json = {}
const at = (node: Json, key: string): Json => (node[key] as Json | undefined) ?? NOTHING
const entries = (node: Json): ReadonlyArray<[string, Json]> => Object.entries(node) as ReadonlyArray<[string, Json]>

const compareOperation = (
  documents: Documents,
  where: string,
  old: Json,
  now: Json,
  breaks: Array<string>,
  additions: Array<string>,
): void => {
  const parameters = (operation: Json) =>
    new Map(
      ((operation["parameters"] ?? []) as ReadonlyArray<Json>).map((each) => [
        `${String(each["in"])} ${String(each["name"])}`,
        each,
      ]),
    )
  const before = parameters(old)
  const after = parameters(now)
  for (const [name, parameter] of before) {
    const next = after.get(name)
    if (next === undefined) breaks.push(`${where}: the parameter ${name} is gone`)
    else {
      if (next["required"] === true && parameter["required"] !== true)
        breaks.push(`${where}: the parameter ${name} became required`)
      new Comparison(documents, "request", breaks, additions).schemas(
        `${where} ${name}`,
        at(parameter, "schema"),
        at(next, "schema"),
      )
    }
  }
  for (const [name, parameter] of after) {
    if (before.has(name)) continue
    if (parameter["required"] === true) breaks.push(`${where}: the parameter ${name} is new and required`)
    else additions.push(`${where}: the parameter ${name} is new`)
  }
  const body = (operation: Json) => at(at(at(at(operation, "requestBody"), "content"), "application/json"), "schema")
  if (body(old) === NOTHING && body(now) !== NOTHING && at(now, "requestBody")["required"] === true)
    breaks.push(`${where}: a body is required now`)
  if (body(old) !== NOTHING)
    new Comparison(documents, "request", breaks, additions).schemas(`${where} body`, body(old), body(now))
  for (const [status, response] of entries(at(old, "responses"))) {
    const next = at(at(now, "responses"), status)
    if (next === NOTHING) {
      breaks.push(`${where}: the status ${status} is gone`)
      continue
    }
    for (const header of Object.keys(at(response, "headers")))
      if (at(next, "headers")[header] === undefined) breaks.push(`${where} ${status}: the header ${header} is gone`)
    const content = (each: Json) => at(at(at(each, "content"), "application/json"), "schema")
    if (content(response) !== NOTHING)
      new Comparison(documents, "response", breaks, additions).schemas(
        `${where} ${status}`,
        content(response),
        content(next),
      )
  }
  for (const status of Object.keys(at(now, "responses")))
    if (at(at(old, "responses"), status) === NOTHING) additions.push(`${where}: the status ${status} is new`)
}

class Comparison {
  readonly #documents: Documents
  readonly #direction: Direction
  readonly #breaks: Array<string>
  readonly #additions: Array<string>
  readonly #seen = new Set<string>()

  constructor(documents: Documents, direction: Direction, breaks: Array<string>, additions: Array<string>) {
    this.#documents = documents
    this.#direction = direction
    this.#breaks = breaks
    this.#additions = additions
  }

  schemas(where: string, old: Json, now: Json): void {
    const refs = `${String(old["$ref"])} ${String(now["$ref"])}`
    if (old["$ref"] !== undefined && this.#seen.has(refs)) return
    this.#seen.add(refs)
    const before = alternatives(this.#documents.old, old)
    const after = alternatives(this.#documents.now, now)
    for (const [kind, schema] of before) {
      const next = after.get(kind)
      if (next === undefined) this.#breaks.push(`${where}: ${kind} is not possible any more`)
      else this.#one(where, kind, schema, next)
    }
    for (const kind of after.keys()) {
      if (before.has(kind)) continue
      // A client cannot handle a new kind of response value, but a new kind of request value is optional.
      if (this.#direction === "response") this.#breaks.push(`${where}: ${kind} is a new possibility`)
      else this.#additions.push(`${where}: ${kind} is accepted too`)
    }
  }

  #one(where: string, kind: string, old: Json, now: Json): void {
    this.#values(where, old, now)
    if (kind.startsWith("object")) this.#object(where, old, now)
    if (kind === "array") this.schemas(`${where}[]`, at(old, "items"), at(now, "items"))
    if (this.#direction === "request") this.#bounds(where, old, now)
  }

  #values(where: string, old: Json, now: Json): void {
    const before = valuesOf(old)
    const after = valuesOf(now)
    if (before === undefined) {
      if (after !== undefined && this.#direction === "request")
        this.#breaks.push(`${where}: takes only ${after.join(", ")} now`)
      return
    }
    for (const value of before)
      if (after !== undefined && !after.includes(value))
        this.#breaks.push(`${where}: the value ${String(value)} is gone`)
    for (const value of after ?? [])
      if (!before.includes(value)) this.#additions.push(`${where}: the value ${String(value)} is new`)
  }

  #object(where: string, old: Json, now: Json): void {
    const required = (schema: Json) => new Set((schema["required"] ?? []) as ReadonlyArray<string>)
    const before = at(old, "properties")
    const after = at(now, "properties")
    for (const [name, schema] of entries(before)) {
      const next = after[name] as Json | undefined
      if (next === undefined) {
        this.#breaks.push(`${where}.${name} is gone`)
        continue
      }
      if (this.#direction === "response" && required(old).has(name) && !required(now).has(name))
        this.#breaks.push(`${where}.${name} may be missing now`)
      if (this.#direction === "request" && !required(old).has(name) && required(now).has(name))
        this.#breaks.push(`${where}.${name} became required`)
      this.schemas(`${where}.${name}`, schema, next)
    }
    if (this.#direction === "request" && old["additionalProperties"] !== false && now["additionalProperties"] === false)
      this.#breaks.push(`${where}: unknown fields are refused now`)
    for (const name of Object.keys(after)) {
      if (before[name] !== undefined) continue
      if (this.#direction === "request" && required(now).has(name))
        this.#breaks.push(`${where}.${name} is new and required`)
      else this.#additions.push(`${where}.${name} is new`)
    }
  }

  #bounds(where: string, old: Json, now: Json): void {
    for (const name of ["maxLength", "maxItems", "maximum", "maxProperties"])
      if (typeof now[name] === "number" && !(typeof old[name] === "number" && old[name] <= now[name]))
        this.#breaks.push(`${where}: ${name} is ${now[name]} now`)
    for (const name of ["minLength", "minItems", "minimum"])
      if (typeof now[name] === "number" && now[name] > 0 && !(typeof old[name] === "number" && old[name] >= now[name]))
        this.#breaks.push(`${where}: ${name} is ${now[name]} now`)
    if (now["pattern"] !== undefined && now["pattern"] !== old["pattern"])
      this.#breaks.push(`${where}: the pattern has changed`)
  }
}

/** Returns the only values of a schema; undefined if it names none. */
const valuesOf = (schema: Json) =>
  (schema["enum"] ?? (schema["const"] === undefined ? undefined : [schema["const"]])) as
    | ReadonlyArray<unknown>
    | undefined

/** Returns the possible schemas of a value by type: references resolved, unions expanded. */
const alternatives = (document: Json, schema: Json): ReadonlyMap<string, Json> => {
  const schemas = new Map<string, Json>()
  const visit = (each: Json, named?: string): void => {
    const ref = each["$ref"]
    if (typeof ref === "string") {
      const name = ref.slice(ref.lastIndexOf("/") + 1)
      return visit(at(at(at(document, "components"), "schemas"), name), name)
    }
    const members = (each["anyOf"] ?? each["oneOf"]) as ReadonlyArray<Json> | undefined
    if (members !== undefined) return members.forEach((member) => visit(member))
    // An object with a name beside another one is an alternative of its own.
    if (named !== undefined && each["type"] === "object" && schemas.has("object"))
      return void schemas.set(`object ${named}`, each)
    schemas.set(
      typeof each["type"] === "string" ? each["type"] : "anything",
      merged(schemas.get(String(each["type"])), each),
    )
  }
  visit(schema)
  return schemas
}

/**
 * Merges two alternatives of one type: enums have the values of both, objects the fields of both, of which those are
 * required that both require.
 */
const merged = (existing: Json | undefined, schema: Json): Json => {
  if (existing === undefined) return schema
  const list = (each: Json, key: string) => (each[key] ?? []) as ReadonlyArray<unknown>
  const [before, after] = [valuesOf(existing), valuesOf(schema)]
  if (before !== undefined && after !== undefined) return { ...schema, enum: [...before, ...after] }
  if (schema["type"] !== "object") return schema
  const required = list(schema, "required").filter((name) => list(existing, "required").includes(name))
  return { ...schema, properties: { ...at(existing, "properties"), ...at(schema, "properties") }, required }
}
