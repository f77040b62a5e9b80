interface Paged<A, C> {
  readonly has_more: boolean
  readonly next_cursor: C | null
  readonly data: readonly A[]
}

/** Iterates over all pages of a list, from a cursor on. Reads each page only when needed. */
export async function* paginate<A, C = string>(
  read: (cursor: C | undefined) => Promise<Paged<A, C>>,
  cursor?: C,
): AsyncGenerator<A, void, undefined> {
  for (;;) {
    const page = await read(cursor)
    yield* page.data
    if (!page.has_more || page.next_cursor === null) return
    cursor = page.next_cursor
  }
}
