const WIDTH = 120

/**
 * JSON text in which a value stands on one line where it fits, so that a change of the contract shows as the few lines
 * that it concerns.
 */
export const compactJson = (value: unknown, indent = "", before = ""): string => {
  const line = spaced(value)
  if (typeof value !== "object" || value === null || `${indent}${before}${line},`.length <= WIDTH) return line
  const inner = `${indent}  `
  const [open, close, parts] = Array.isArray(value)
    ? ["[", "]", value.map((each) => compactJson(each, inner))]
    : [
        "{",
        "}",
        Object.entries(value).map(([key, each]) => {
          const name = `${JSON.stringify(key)}: `
          return name + compactJson(each, inner, name)
        }),
      ]
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`
}

const spaced = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`
  const fields = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${spaced(each)}`)
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`
}
