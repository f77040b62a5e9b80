import type { Body, Node, Route } from "./Routes.ts"

/** Values of the largest body that the service parses, with some to spare. */
const MOST_VALUES = 95_000
/** Characters of the longest query, with the path and the other headers in 16 KiB. */
const QUERY_CHARS = 14_000

/** How much a request holds. */
export interface Size {
  /** Characters of a body of long texts. */
  readonly chars: number
}

export interface Shape {
  readonly name: string
  /** Returns the request of this shape to a route; undefined if the route has none. */
  readonly requestTo: (route: Route, size: Size) => Request | undefined
}

export interface Request {
  readonly path: string
  readonly raw?: string
}

/** What fills the places of a schema. */
interface Filling {
  /** Number of items of a list, or fields of a record, that has this maximum. */
  readonly items: (maximum: number | undefined) => number
  readonly text: (node: Node) => unknown
  readonly other: (node: Node) => unknown
  readonly unknownFields: number
  /** Item of every list, in place of one of its schema. */
  readonly item?: unknown
}

const MAX_NESTING = 8
/** Begins names as long as the known ones, which take longest to compare. */
const UNKNOWN = "subjcet"
/** Fields of an object, with some to spare for those that are known. */
const FEW_FIELDS = 900

/** Builds a value of a schema. A list holds one item many times, which the body repeats. */
const fill = ({ definitions, schema }: Body, filling: Filling): unknown => {
  const at = (node: Node, nesting: number): unknown => {
    const found = resolve(node, definitions)
    if (nesting > MAX_NESTING) return null
    if (found.const !== undefined) return found.const
    if (found.enum !== undefined) return filling.text(found)
    if (found.type === "array") {
      const item = filling.item ?? (typeof found.items === "object" ? at(found.items, nesting + 1) : {})
      return Array.from({ length: filling.items(found.maxItems) }, () => item)
    }
    if (found.type === "object") {
      const known = Object.entries(found.properties ?? {}).map(([name, each]) => [name, at(each, nesting + 1)] as const)
      const record = typeof found.additionalProperties === "object" ? found.additionalProperties : undefined
      const value = record === undefined ? undefined : at(record, nesting + 1)
      const fields = record === undefined ? 0 : Math.min(999, filling.items(found.maxProperties))
      return Object.fromEntries([
        ...known,
        ...Array.from({ length: fields }, (_, nth) => [`X-Name-${nth}`, value] as const),
        ...Array.from({ length: filling.unknownFields }, (_, nth) => [`${UNKNOWN}${nth}`, "x"] as const),
      ])
    }
    return found.type === "string" ? filling.text(found) : filling.other(found)
  }
  return at(schema, 0)
}

/** Follows references, and chooses the alternative that holds most. */
const resolve = (node: Node, definitions: Body["definitions"]): Node => {
  if (node.$ref !== undefined) return resolve(definitions[node.$ref.split("/").at(-1) ?? ""] ?? {}, definitions)
  const alternatives = (node.anyOf ?? node.oneOf ?? node.allOf ?? []).map((each) => resolve(each, definitions))
  for (const type of ["array", "object", "string"]) {
    const found = alternatives.find((each) => each.type === type)
    if (found !== undefined) return found
  }
  return alternatives[0] ?? node
}

const numberOfValues = (value: unknown): number => {
  if (Array.isArray(value)) return value.length === 0 ? 1 : 1 + value.length * numberOfValues(value[0])
  if (typeof value !== "object" || value === null) return 1
  return Object.values(value).reduce((sum: number, each) => sum + numberOfValues(each), 1)
}

/** Returns the largest body that `make` builds within the limits, with fewer items until it fits. */
const fitting = (make: (share: number) => unknown): string => {
  for (let share = 1; share > 1e-6; share /= 2) {
    const value = make(share)
    if (numberOfValues(value) <= MOST_VALUES) return JSON.stringify(value)
  }
  return "{}"
}

const valid = ({ const: only, enum: list, examples, pattern }: Node): unknown =>
  only ?? list?.[0] ?? examples?.[0] ?? (pattern === undefined ? "ana@example.org" : "x")

const shaped = (name: string, make: (body: Body, size: Size) => string): Shape => ({
  name,
  requestTo: ({ body, path }, size) => (body === undefined ? undefined : { path, raw: make(body, size) }),
})

/** A shape of all routes, also of those that take no body: they read it to refuse it. */
const ofAll = (name: string, make: (body: Body | undefined, size: Size) => string): Shape => ({
  name,
  requestTo: ({ body, method, path }, size) => (method === "GET" ? undefined : { path, raw: make(body, size) }),
})

const ofQuery = (name: string, make: (query: ReadonlyArray<string>) => string): Shape => ({
  name,
  requestTo: ({ path, query }) => ({ path: `${path}?${make(query).slice(0, QUERY_CHARS)}` }),
})

const many = (most: number) => (share: number) => () => Math.max(1, Math.floor(most * share))

const valueOf = (body: Body | undefined, filling: Filling): unknown =>
  body === undefined ? Object.fromEntries(unknownFields(filling.unknownFields)) : fill(body, filling)

const unknownFields = (count: number) => Array.from({ length: count }, (_, nth) => [`${UNKNOWN}${nth}`, "x"] as const)

const plain: Filling = { items: () => 1, text: valid, other: () => true, unknownFields: 0 }

/** Texts that are slow for a careless pattern, with what each repeats. */
const PIECES = ["é", "a.", "<p>", " ", "@", "%", "\\", ","]

const longText = (chars: number) => {
  let turn = 0
  return () => {
    const piece = PIECES[turn++ % PIECES.length] ?? "x"
    return piece.repeat(Math.max(1, Math.floor(chars / piece.length)))
  }
}

/** Number of texts in a body, so that each can have its share of the characters. */
const textsIn = (body: Body): number => {
  let texts = 0
  fill(body, { ...plain, text: () => texts++ })
  return Math.max(1, texts)
}

/** Built once, because it takes long and is the same for every route. */
const TOO_MANY_FIELDS = JSON.stringify(Object.fromEntries(unknownFields(90_000)))

export const SHAPES: ReadonlyArray<Shape> = [
  shaped("the most items and fields that are allowed", (body) =>
    fitting((share) =>
      fill(body, { ...plain, items: (maximum = 1_000) => Math.max(1, Math.floor(Math.min(maximum, 1_000) * share)) }),
    ),
  ),
  shaped("many short items", (body) =>
    fitting((share) => fill(body, { ...plain, items: many(MOST_VALUES)(share), text: () => "" })),
  ),
  shaped("many empty items", (body) =>
    fitting((share) => fill(body, { ...plain, items: many(MOST_VALUES)(share), item: {} })),
  ),
  shaped("many long items", (body, { chars }) =>
    fitting((share) => {
      const items = (maximum = 1_000) => Math.max(1, Math.floor(Math.min(maximum, 1_000) * share))
      const count = numberOfValues(fill(body, { ...plain, items }))
      return fill(body, { ...plain, items, text: longText(Math.min(900, chars / count)) })
    }),
  ),
  shaped("many errors", (body) =>
    fitting((share) => {
      const items = (maximum = 1_000) => Math.max(1, Math.floor(Math.min(maximum, 1_000) * share))
      return fill(body, { ...plain, items, text: () => 7, other: () => "x" })
    }),
  ),
  shaped("long texts", (body, { chars }) =>
    JSON.stringify(fill(body, { ...plain, text: longText(chars / textsIn(body)) })),
  ),
  ofAll("many unknown fields", (body) =>
    fitting((share) => {
      const items = (maximum = 1_000) => Math.max(1, Math.floor(Math.min(maximum, 1_000) * share))
      return valueOf(body, { ...plain, items, unknownFields: FEW_FIELDS })
    }),
  ),
  ofAll("too many unknown fields", () => TOO_MANY_FIELDS),
  ofAll("many repeats of one name", (body) => {
    const [name = "a"] = Object.keys(resolve(body?.schema ?? {}, body?.definitions ?? {}).properties ?? {})
    return `{${Array.from({ length: 990 }, () => `${JSON.stringify(name)}:[]`).join(",")}}`
  }),
  ofAll("too many repeats of one name", () => `{${Array.from({ length: 90_000 }, () => '"a":1').join(",")}}`),
  ofAll(
    "a long name and a long number",
    (_, { chars }) => `{${JSON.stringify("x".repeat(chars / 2))}:[${"7".repeat(chars / 2)}]}`,
  ),
  ofAll(
    "many deep lists",
    () => `[${Array.from({ length: 3_000 }, () => `${"[".repeat(30)}${"]".repeat(30)}`).join(",")}]`,
  ),
  ofAll("a malformed body", (_, { chars }) => `{"a":[${"[],".repeat(30_000)}"${"x".repeat(chars / 2)}`),
  ofQuery("many unknown parameters", () => Array.from({ length: 2_000 }, (_, nth) => `statu${nth}=x`).join("&")),
  ofQuery("many repeats of one parameter", ([name = "a"]) => `${encodeURIComponent(name)}=x&`.repeat(4_000)),
  ofQuery("long parameters", (query) =>
    query.map((name) => `${encodeURIComponent(name)}=${"%2C".repeat(4_000 / query.length)}`).join("&"),
  ),
]
