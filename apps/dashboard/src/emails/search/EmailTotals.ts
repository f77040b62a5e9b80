import { useQueries, useQuery } from "@tanstack/react-query"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as Queries from "../../api/Queries.ts"
import type { Email, Page, Total } from "../../api/Records.ts"
import type { EmailFilters } from "./EmailFilters.ts"

/** Counts the emails of a search, unless the list says how many there are. Apart from the list, which does not wait for it. */
export const useTotal = (
  filters: EmailFilters,
  { isCounted, listed }: { readonly isCounted: boolean; readonly listed: Total | undefined },
): Total | undefined => {
  const { data } = useQuery({ ...countOf(filters), enabled: isCounted })
  return listed ?? (isCounted ? (data?.total ?? undefined) : undefined)
}

/** Query of the number of emails with these filters. */
export const countOf = (filters: EmailFilters) => ({
  ...Queries.read<Page<Email>>(["emails total", filters], "/email/logs", { ...filters, limit: 1, count: "true" }),
  staleTime: 60_000,
})

/** Counts the emails of several searches; undefined until all of them are counted. */
export const useTotals = (
  searches: ReadonlyArray<string>,
  context: EmailSearch.Context,
): ReadonlyArray<Total> | undefined => {
  const counts = useQueries({
    queries: searches.map((search) => countOf(EmailSearch.parse(search, context).filters)),
  })
  return counts.some(({ isPending }) => isPending)
    ? undefined
    : counts.map(({ data }) => data?.total ?? { count: 0, is_exact: true })
}

/** Writes a number of emails: "142 emails", "over 1,000 emails". */
export const text = ({ count, is_exact }: Total): string =>
  `${is_exact ? "" : "over "}${count.toLocaleString("en")} ${count === 1 && is_exact ? "email" : "emails"}`
