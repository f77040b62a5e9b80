import type { InfiniteData } from "@tanstack/react-query"
import type { Page } from "./Records.ts"

/** Newest first, by an id that grows with time. */
export interface Row {
  readonly id: string
  readonly version?: number
}

export type Rows<A> = InfiniteData<Page<A>, string | undefined>

/** News that fill more pages than these begin the list anew. */
export const MAX_PAGES = 3

export const rowsOf = <A>({ pages }: { readonly pages: ReadonlyArray<Page<A>> }): ReadonlyArray<A> =>
  pages.flatMap(({ data }) => data)

/** Down to where an answer says all there is; "" where it says all of the list. */
export const reachOf = (pages: ReadonlyArray<Page<Row>>): string => {
  const last = pages.at(-1)
  return last === undefined || last.next_cursor === null ? "" : (last.data.at(-1)?.id ?? "")
}

/** The newest pages, down to what is known or as far as it makes sense. */
export const newsOf = async <A extends Row>(
  known: Rows<A>,
  ask: (after: string | undefined) => Promise<Page<A>>,
): Promise<ReadonlyArray<Page<A>>> => {
  const newest = rowsOf(known)[0]?.id
  const pages: Array<Page<A>> = []
  let after: string | undefined
  do {
    const page = await ask(after)
    pages.push(page)
    after = page.next_cursor ?? undefined
  } while (after !== undefined && newest !== undefined && reachOf(pages) > newest && pages.length < MAX_PAGES)
  return pages
}

interface News<A> {
  readonly pages: ReadonlyArray<Page<A>>
  /** Rows further down that were looked up; `undefined` for one that the list holds no more. */
  readonly others?: ReadonlyMap<string, A | undefined>
  /** Rows leave this list, so what the pages should hold and do not is gone. */
  readonly isLeft: boolean
}

/** The list with its news. Where these do not reach what was known, it begins anew: rows are never left out between. */
export const merged = <A extends Row>(data: Rows<A>, { isLeft, others = new Map(), pages }: News<A>): Rows<A> => {
  const known = new Map(rowsOf(data).map((row) => [row.id, row]))
  const newest = rowsOf(data)[0]?.id ?? ""
  const reach = reachOf(pages)
  const fresh = new Map(rowsOf({ pages }).map((row) => [row.id, newer(row, known.get(row.id))]))
  const isAnew = reach > newest
  const beyond = isAnew ? [] : [...known.values()].filter(({ id }) => id < reach)
  const kept = isAnew || isLeft ? [] : [...known.values()].filter(({ id }) => id >= reach && !fresh.has(id))
  const further = beyond.flatMap((row) => {
    const looked = others.get(row.id)
    if (looked === undefined) return others.has(row.id) ? [] : [row]
    return [newer(looked, row)]
  })
  // One page, so that asking for the list again is one request.
  const end = (beyond.length > 0 ? data.pages : pages).at(-1)
  const rows = [...fresh.values(), ...kept].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  return end === undefined ? data : { pages: [{ ...end, data: [...rows, ...further] }], pageParams: [undefined] }
}

const newer = <A extends Row>(row: A, known: A | undefined): A =>
  known?.version !== undefined && row.version !== undefined && known.version > row.version ? known : row
