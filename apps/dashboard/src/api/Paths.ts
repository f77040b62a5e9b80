export type Query = Readonly<Record<string, string | number | ReadonlyArray<string> | undefined>>

export const pathWith = (path: string, query: Query = {}): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each))
  }
  const text = search.toString()
  return text === "" ? path : `${path}?${text}`
}

/** Rows of a page of a list. */
export const PAGE = 50
