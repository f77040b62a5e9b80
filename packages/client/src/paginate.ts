interface Paged<A> {
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly data: readonly A[]
}

/** Walks all pages of a list; nothing is read before it is asked for. */
export async function* paginate<A>(
  read: (after: { readonly after?: string }) => Promise<Paged<A>>,
): AsyncGenerator<A, void, undefined> {
  let after: { readonly after?: string } = {}
  for (;;) {
    const page = await read(after)
    yield* page.data
    if (!page.has_more || page.next_cursor === null) return
    after = { after: page.next_cursor }
  }
}
