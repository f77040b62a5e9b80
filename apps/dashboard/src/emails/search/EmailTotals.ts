import { useQuery } from "@tanstack/react-query"
import * as Api from "../../api/Api.ts"
import type { Email, Page } from "../../api/Records.ts"
import type { EmailFilters } from "./EmailFilters.ts"

/** How many emails a search finds: exactly, or more than so many. */
export interface Total {
  readonly count: number
  readonly is_exact: boolean
}

type CountedPage = Page<Email> & { readonly total: Total | null }

/** Counts the emails of a search, unless the list holds all of them. Apart from the list, which does not wait for it. */
export const useTotal = (
  filters: EmailFilters,
  { isCounted, listed }: { readonly isCounted: boolean; readonly listed: number | undefined },
): Total | undefined => {
  const { data } = useQuery({
    queryKey: ["emails total", filters],
    queryFn: ({ signal }) => Api.get<CountedPage>("/email/logs", { ...filters, limit: 1, count: "true" }, signal),
    enabled: isCounted,
    staleTime: 60_000,
  })
  if (listed !== undefined) return { count: listed, is_exact: true }
  return isCounted ? (data?.total ?? undefined) : undefined
}

/** Writes a number of emails: "142 emails", "over 1,000 emails". */
export const text = ({ count, is_exact }: Total): string =>
  `${is_exact ? "" : "over "}${count.toLocaleString("en")} ${count === 1 && is_exact ? "email" : "emails"}`
