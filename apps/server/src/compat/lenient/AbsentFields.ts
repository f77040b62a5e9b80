/**
 * Fields that are read as they are: one that says that nothing is to be sent is refused in any form but the documented one,
 * an empty text takes the place of a name, and variables of templates can be empty.
 */
const KEPT: ReadonlySet<string> = new Set([
  "sandbox_mode",
  "substitutions",
  "variables",
  "dynamic_template_data",
  "TemplateModel",
  "TestRenderModel",
])

/**
 * Returns a parsed body without the fields that other services count as absent: null, empty texts, lists and objects. Items of
 * lists stay, because errors name them by their place.
 */
export const withoutAbsent = (value: unknown): unknown => changed(value, presentOf)

const presentOf = (value: unknown, name: string): unknown => {
  if (KEPT.has(name)) return name === "substitutions" ? changed(value, textOf) : (value ?? undefined)
  const present = changed(value, presentOf)
  return isAbsent(present) ? undefined : present
}

/** A name for which nothing stands is replaced by nothing. */
const textOf = (value: unknown): unknown => (value === null ? "" : value)

const isAbsent = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0)

/** Returns a value without fields that are undefined, as JSON has none. */
export const withoutUndefined = (value: unknown): unknown => changed(value, withoutUndefined)

/** Changes each field, and leaves out those that become undefined. What stays as it is is not copied. */
const changed = (value: unknown, change: (field: unknown, name: string) => unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => changed(item, change))
    return items.some((item, nth) => item !== value[nth]) ? items : value
  }
  const names = Object.keys(value)
  const fields = value as Record<string, unknown>
  let kept: Array<readonly [name: string, field: unknown]> | undefined
  for (const [nth, name] of names.entries()) {
    const field = fields[name]
    const next = change(field, name)
    if (next !== field || next === undefined) kept ??= names.slice(0, nth).map((each) => [each, fields[each]])
    if (next !== undefined) kept?.push([name, next])
  }
  return kept === undefined ? value : Object.fromEntries(kept)
}
