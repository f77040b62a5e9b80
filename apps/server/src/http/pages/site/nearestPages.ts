import type { DocsPage } from "./Library.ts"

/** Pages that are shown for a query without a result. */
const SHOWN = 3

/**
 * Returns the pages whose titles share the most pairs of letters with a query. Of equally near ones, also where none is
 * near, the first pages of the site come first: those that most readers need.
 */
export const nearestPages = (pages: ReadonlyArray<DocsPage>, query: string): ReadonlyArray<DocsPage> => {
  const asked = pairsOf(query)
  const shares = new Map(pages.map((page) => [page, shareOf(asked, pairsOf(page.title))]))
  return pages
    .filter(({ isPart }) => !isPart)
    .toSorted((one, other) => (shares.get(other) ?? 0) - (shares.get(one) ?? 0))
    .slice(0, SHOWN)
}

const pairsOf = (text: string): ReadonlySet<string> => {
  const letters = text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")
  return new Set(Array.from({ length: Math.max(0, letters.length - 1) }, (_, at) => letters.slice(at, at + 2)))
}

const shareOf = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  [...one].filter((pair) => other.has(pair)).length / Math.max(1, one.size + other.size)
