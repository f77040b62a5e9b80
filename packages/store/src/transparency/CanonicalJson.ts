/**
 * Encodes a JSON value so that equal values have equal bytes (RFC 8785): names in the order of their UTF-16 code units, numbers
 * and strings as ECMAScript writes them. Fields that are undefined are left out.
 */
export const encode = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${value.map(encode).join(",")}]`
  const fields = value as Readonly<Record<string, unknown>>
  let members = ""
  for (const name of Object.keys(fields).sort()) {
    const field = fields[name]
    if (field !== undefined) members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${encode(field)}`
  }
  return `{${members}}`
}
