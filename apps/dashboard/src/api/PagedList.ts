import type { InfiniteData } from "@tanstack/react-query"
import type { Page } from "./Records.ts"

/** A row of a list sorted newest first. Ids grow with time. */
export interface Row {
  readonly id: string
  readonly version?: number
}

export type PagedList<A> = InfiniteData<Page<A>, string | undefined>

/** Maximum number of pages that one update reads; with more new rows the list starts over. */
export const MAX_PAGES = 3

export const rowsOf = <A>({ pages }: { readonly pages: ReadonlyArray<Page<A>> }): ReadonlyArray<A> =>
  pages.flatMap(({ data }) => data)

/** Returns the lowest id down to which `pages` are complete, or "" if they hold the whole list. */
export const lowestId = (pages: ReadonlyArray<Page<Row>>): string => {
  const last = pages.at(-1)
  return last === undefined || last.next_cursor === null ? "" : (last.data.at(-1)?.id ?? "")
}

/** Reads pages from the newest row down to the newest row of `list`, at most `MAX_PAGES`. */
export const fetchNewest = async <A extends Row>(
  list: PagedList<A>,
  fetchPage: (after: string | undefined) => Promise<Page<A>>,
): Promise<ReadonlyArray<Page<A>>> => {
  const newest = rowsOf(list)[0]?.id
  const pages: Array<Page<A>> = []
  let after: string | undefined
  do {
    const page = await fetchPage(after)
    pages.push(page)
    after = page.next_cursor ?? undefined
  } while (after !== undefined && newest !== undefined && lowestId(pages) > newest && pages.length < MAX_PAGES)
  return pages
}

interface Update<A> {
  readonly pages: ReadonlyArray<Page<A>>
  /** Older rows that were read one by one; `undefined` for a row that is no longer in the list. */
  readonly olderRows?: ReadonlyMap<string, A | undefined>
  /** Whether rows can leave the list: then a row that is missing from `pages` was removed. */
  readonly canShrink: boolean
}

/** Merges an update into the list. If the update does not reach the old rows, they are dropped: a list never has gaps. */
export const merge = <A extends Row>(
  list: PagedList<A>,
  { canShrink, olderRows = new Map(), pages }: Update<A>,
): PagedList<A> => {
  const oldRows = new Map(rowsOf(list).map((row) => [row.id, row]))
  const newest = rowsOf(list)[0]?.id ?? ""
  const lowest = lowestId(pages)
  const newRows = new Map(rowsOf({ pages }).map((row) => [row.id, newerOf(row, oldRows.get(row.id))]))
  const startsOver = lowest > newest
  const below = startsOver ? [] : [...oldRows.values()].filter(({ id }) => id < lowest)
  const retained =
    startsOver || canShrink ? [] : [...oldRows.values()].filter(({ id }) => id >= lowest && !newRows.has(id))
  const older = below.flatMap((row) => {
    const update = olderRows.get(row.id)
    if (update === undefined) return olderRows.has(row.id) ? [] : [row]
    return [newerOf(update, row)]
  })
  // The result is a single page, so that refetching the list takes one request. Its total is that of the newest page.
  const end = (below.length > 0 ? list.pages : pages).at(-1)
  const rows = [...newRows.values(), ...retained].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  return end === undefined
    ? list
    : { pages: [{ ...end, total: pages[0]?.total ?? null, data: [...rows, ...older] }], pageParams: [undefined] }
}

const newerOf = <A extends Row>(row: A, other: A | undefined): A =>
  other?.version !== undefined && row.version !== undefined && other.version > row.version ? other : row
