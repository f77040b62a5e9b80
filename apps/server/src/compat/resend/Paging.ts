import * as Page from "@waybill/api/schemas/Page"
import { Effect } from "effect"
import * as Native from "../Native.ts"

/** Query parameters of Resend's lists; our own lists have the same. */
export const NAMES = ["limit", "after", "before"] as const

export const queryOf = (query: URLSearchParams): string => (query.size === 0 ? "" : `?${query.toString()}`)

/** Returns a page of a list that our own API returns as a whole. Without a limit it is the rest of the list. */
export const pageOf = Effect.fnUntraced(function* <A extends { readonly id: string }>(
  query: URLSearchParams,
  items: ReadonlyArray<A>,
) {
  const [limit, after, before] = NAMES.map((name) => query.get(name))
  const size =
    limit === null || limit === undefined ? items.length : /^\d{1,3}$/u.test(limit) ? Number(limit) : Number.NaN
  if (limit !== null && !(Number.isInteger(size) && size >= 1 && size <= Page.MAX_LIMIT))
    return yield* Native.refuse("limit", `must be a whole number from 1 to ${Page.MAX_LIMIT}`)
  if (typeof after === "string" && typeof before === "string")
    return yield* Native.refuse("before", "cannot be combined with `after`")
  const cursor = after ?? before
  const at = items.findIndex(({ id }) => id === cursor)
  if (typeof cursor === "string" && at < 0)
    return yield* Native.refuse(
      typeof after === "string" ? "after" : "before",
      "is not the id of an entry of this list",
    )
  const rest = typeof before === "string" ? items.slice(0, at) : items.slice(at + 1)
  const data = typeof before === "string" ? rest.slice(-size) : rest.slice(0, size)
  return listOf(data, data.length < rest.length)
})

export const listOf = <A>(data: ReadonlyArray<A>, has_more: boolean) => Native.ok({ object: "list", has_more, data })
