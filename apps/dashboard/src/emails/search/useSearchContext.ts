import type { Context } from "@waybill/domain/search/EmailSearch"
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import * as Queries from "../../api/Queries.ts"
import { useHasScope } from "../../session/useHasScope.ts"

/** Names that searches may use, and those that are suggested. */
export interface SearchContext extends Context {
  readonly domains: ReadonlyArray<string>
}

/** Returns the names that searches may use, once they are asked for, and whether they are still loading. */
export const useSearchContext = (isAsked = true): { readonly context: SearchContext; readonly isLoading: boolean } => {
  const keys = useQuery({ ...Queries.apiKeys, enabled: useHasScope("admin") && isAsked })
  const domains = useQuery({ ...Queries.domains, enabled: useHasScope("domains:read") && isAsked })
  const templates = useQuery({ ...Queries.templates, enabled: useHasScope("templates:read") && isAsked })
  const templateRecords = templates.data?.data
  const keyRecords = keys.data?.data
  const domainRecords = domains.data?.data
  const context = useMemo(
    (): SearchContext => ({
      keys: keyRecords?.map(({ id, name }) => ({ id, name })),
      domains: domainRecords?.map(({ name }) => name) ?? [],
      ...(templateRecords === undefined ? {} : { templates: templateRecords }),
      now: Date.now(),
    }),
    [keyRecords, domainRecords, templateRecords],
  )
  return { context, isLoading: keys.isLoading || domains.isLoading || templates.isLoading }
}
