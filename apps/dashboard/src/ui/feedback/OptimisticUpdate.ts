import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query"
import { showError } from "./Toasts.tsx"
import type { Page } from "../../api/Records.ts"

type RollBack = () => void

/**
 * Changes cached data before the server has accepted the change, and returns a function that restores it. Use it where the
 * server rarely refuses and the change is easy to undo; wait for the response where a secret is shown or money is spent.
 */
export const apply = async <Data>(
  client: QueryClient,
  queryKey: QueryKey,
  change: (data: Data) => Data,
): Promise<RollBack> => {
  await client.cancelQueries({ queryKey, exact: true })
  const before = client.getQueryData<Data>(queryKey)
  if (before !== undefined) client.setQueryData<Data>(queryKey, change(before))
  return () => client.setQueryData(queryKey, before)
}

/** `onError` handler of a mutation whose `onMutate` returned the result of `apply`. */
export const rollBack = (error: unknown, _: unknown, restore: RollBack | undefined): void => {
  restore?.()
  showError(error)
}

/** Removes the row with this id from a paged list. */
export const withoutRow =
  <A extends { readonly id: string }>(id: string) =>
  (data: InfiniteData<Page<A>>): InfiniteData<Page<A>> => ({
    ...data,
    pages: data.pages.map((page) => ({ ...page, data: page.data.filter((each) => each.id !== id) })),
  })
