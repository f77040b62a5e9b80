import { alternatives, type Contract, resolve, type Schema } from "./Contract.ts"

const MAX_DEPTH = 6

/** Values of fields that a schema gives no example of. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  from: "Acme <hello@acme.test>",
  to: "ana@example.org",
  subject: "Your receipt",
  text: "Thank you, Ana.",
  name: "Production",
  url: "https://example.org/hooks",
  email: "ana@example.org",
}

/** Returns an example of a request: required fields, and those without which it would be empty. */
export const exampleOf = (contract: Contract, schema: Schema, name = "", depth = 0): unknown => {
  const resolved = resolve(contract, schema)
  const [example] = resolved.examples ?? []
  if (example !== undefined) return example
  if (resolved.const !== undefined) return resolved.const
  if (resolved.enum !== undefined) return resolved.enum[0]
  const [first] = alternatives(contract, resolved)
  if (first !== undefined && first !== resolved) return exampleOf(contract, first, name, depth + 1)
  if (depth > MAX_DEPTH) return null
  switch (resolved.type) {
    case "object":
      return objectOf(contract, resolved, depth)
    case "array":
      return resolved.items === undefined ? [] : [exampleOf(contract, resolved.items, name, depth + 1)]
    case "integer":
    case "number":
      return 1
    case "boolean":
      return true
    default:
      return BY_NAME[name] ?? "…"
  }
}

const objectOf = (contract: Contract, { properties = {}, required = [] }: Schema, depth: number): object => {
  const names = Object.keys(properties)
  const shown = required.length > 0 ? names.filter((name) => required.includes(name)) : names.slice(0, 1)
  return Object.fromEntries(shown.map((name) => [name, exampleOf(contract, properties[name] ?? {}, name, depth + 1)]))
}
