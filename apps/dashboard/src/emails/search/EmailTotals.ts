import { useQuery } from "@tanstack/react-query"
import * as Api from "../../api/Api.ts"
import type { Email, Page, Total } from "../../api/Records.ts"
import type { EmailFilters } from "./EmailFilters.ts"

/** Counts the emails of a search, unless the list says how many there are. Apart from the list, which does not wait for it. */
export const useTotal = (
  filters: EmailFilters,
  { isCounted, listed }: { readonly isCounted: boolean; readonly listed: Total | undefined },
): Total | undefined => {
  const { data } = useQuery({
    queryKey: ["emails total", filters],
    queryFn: ({ signal }) => Api.get<Page<Email>>("/email/logs", { ...filters, limit: 1, count: "true" }, signal),
    enabled: isCounted,
    staleTime: 60_000,
  })
  return listed ?? (isCounted ? (data?.total ?? undefined) : undefined)
}

/** Writes a number of emails: "142 emails", "over 1,000 emails". */
export const text = ({ count, is_exact }: Total): string =>
  `${is_exact ? "" : "over "}${count.toLocaleString("en")} ${count === 1 && is_exact ? "email" : "emails"}`
