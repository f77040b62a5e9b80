/** Returns what puts the names of an object's fields in the case of a schema, because Postmark takes them in any. */
export const inCaseOf = (schema: { readonly fields: object }) => {
  const names = new Map(Object.keys(schema.fields).map((name) => [name.toLowerCase(), name]))
  return (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value
    if (Object.keys(value).every((name) => Object.hasOwn(schema.fields, name))) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [names.get(name.toLowerCase()) ?? name, each]),
    )
  }
}
