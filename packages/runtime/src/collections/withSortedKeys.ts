/** Replaces values for `JSON.stringify`, so that equal objects become equal texts, whatever the order of their fields. */
export const withSortedKeys = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
