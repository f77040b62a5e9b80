import { SchemaAST } from "effect"

interface Sample {
  /** Where the field is. */
  readonly place: string
  readonly value: unknown
}

/** Returns a value with an unknown field for each object that a schema has, at every depth. */
export const samplesOf = (ast: SchemaAST.AST): ReadonlyArray<Sample> => samples(ast, "", new Set())

const samples = (ast: SchemaAST.AST, place: string, above: ReadonlySet<SchemaAST.AST>): ReadonlyArray<Sample> => {
  const wire = SchemaAST.toEncoded(ast)
  if (above.has(wire)) return []
  const below = new Set([...above, wire])
  const inside = (type: SchemaAST.AST, step: string, wrap: (value: unknown) => unknown) =>
    samples(type, `${place}${step}`, below).map((each) => ({ ...each, value: wrap(each.value) }))
  switch (wire._tag) {
    case "Objects":
      return [
        ...(wire.indexSignatures.length === 0 ? [{ place, value: { unknown_field: 1 } }] : []),
        ...wire.propertySignatures.flatMap(({ name, type }) =>
          inside(type, `.${String(name)}`, (value) => ({ [name]: value })),
        ),
        ...wire.indexSignatures.flatMap(({ type }) => inside(type, ".*", (value) => ({ any: value }))),
      ]
    case "Arrays":
      return wire.rest.flatMap((type) => inside(type, "[]", (value) => [value]))
    case "Union":
      return wire.types.flatMap((type) => inside(type, "", (value) => value))
    case "Suspend":
      return samples(wire.thunk(), place, below)
    default:
      return []
  }
}
