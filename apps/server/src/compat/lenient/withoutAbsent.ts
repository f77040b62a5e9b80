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
export const withoutAbsent = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutAbsent)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      if (KEPT.has(name)) return each === null ? [] : [[name, each]]
      const kept = withoutAbsent(each)
      return isAbsent(kept) ? [] : [[name, kept]]
    }),
  )
}

const isAbsent = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0)
