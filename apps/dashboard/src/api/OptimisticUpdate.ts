import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query"
import { complain } from "../ui/feedback/Toasts.tsx"
import type { Page } from "./Records.ts"

type Back = () => void

/**
 * Shows a change before the server has agreed, and takes it back where it does not. For what can hardly be refused and
 * is easily undone; whatever shows a secret or costs somebody something waits for its answer.
 */
export const ahead = async <Data>(
  client: QueryClient,
  queryKey: QueryKey,
  change: (data: Data) => Data,
): Promise<Back> => {
  await client.cancelQueries({ queryKey, exact: true })
  const before = client.getQueryData<Data>(queryKey)
  if (before !== undefined) client.setQueryData<Data>(queryKey, change(before))
  return () => client.setQueryData(queryKey, before)
}

/** For `onError` of what was shown ahead. */
export const takeBack = (error: unknown, _: unknown, back: Back | undefined): void => {
  back?.()
  complain(error)
}

/** A list without one of its rows, on whatever page that stands. */
export const without =
  <A extends { readonly id: string }>(id: string) =>
  (data: InfiniteData<Page<A>>): InfiniteData<Page<A>> => ({
    ...data,
    pages: data.pages.map((page) => ({ ...page, data: page.data.filter((each) => each.id !== id) })),
  })
