/** The parts of an OpenAPI document that the reference shows. */
export interface Contract {
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary?: string
    readonly description?: string
  }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary?: string
  readonly description?: string
  readonly security?: ReadonlyArray<object>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content; readonly required?: boolean }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: object }>>

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Schema
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly additionalProperties?: Schema | boolean
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly examples?: ReadonlyArray<unknown>
  readonly default?: unknown
  readonly [key: string]: unknown
}

/** Returns the schema that a reference names; another one as it is. */
export const resolve = ({ components }: Contract, schema: Schema): Schema => {
  const named = schema.$ref === undefined ? undefined : components.schemas[nameOf(schema.$ref)]
  return named === undefined
    ? schema
    : { ...named, ...(schema.description === undefined ? {} : { description: schema.description }) }
}

export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

/** Returns the alternatives of a schema without `null`; the schema itself if it has none. */
export const alternatives = (contract: Contract, schema: Schema): ReadonlyArray<Schema> => {
  const resolved = resolve(contract, schema)
  const choices = resolved.anyOf ?? resolved.oneOf ?? resolved.allOf
  return choices === undefined ? [resolved] : choices.filter(({ type }) => type !== "null")
}

export interface ApiEndpoint {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** Endpoints of one kind of thing, which have a page together. */
export interface Group {
  readonly name: string
  readonly description?: string
  readonly endpoints: ReadonlyArray<ApiEndpoint>
}

export const groupsOf = ({ paths, tags }: Contract): ReadonlyArray<Group> => {
  const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  return tags.map((tag) => ({
    ...tag,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
}
