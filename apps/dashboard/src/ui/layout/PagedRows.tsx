import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query"
import { type ReactNode, useEffect } from "react"
import type { Page } from "../../api/Records.ts"
import { Button } from "../controls/Button.tsx"
import { Results } from "../feedback/Results.tsx"
import { RowsPanel } from "./RowsPanel.tsx"

interface Props<Row> {
  readonly query: UseInfiniteQueryResult<InfiniteData<Page<Row>>>
  readonly empty: ReactNode
  /** Whether another search is typed than the one that the query answers. */
  readonly isPending: boolean
  readonly children: (rows: ReadonlyArray<Row>) => ReactNode
}

/**
 * Reads pages until there is a row to show, because the page of a rare filter may end early. Returns the rows, and
 * whether they are still loading.
 */
export const useRows = <Row,>({
  data,
  fetchNextPage,
  hasNextPage,
  isError,
  isFetchingNextPage,
  isPending,
}: UseInfiniteQueryResult<InfiniteData<Page<Row>>>) => {
  const rows = data?.pages.flatMap((page) => page.data) ?? []
  const isSearching = rows.length === 0 && hasNextPage && !isError
  useEffect(() => {
    if (isSearching && !isFetchingNextPage) void fetchNextPage()
  }, [isSearching, isFetchingNextPage, fetchNextPage])
  return { rows, isLoading: isPending || isSearching }
}

/** A list that is read page by page: its rows, and a button for more. */
export const PagedRows = <Row,>({ children, empty, isPending, query }: Props<Row>) => {
  const { isLoading, rows } = useRows(query)
  return (
    <Results isPending={isPending}>
      <RowsPanel query={query} rows={rows} isLoading={isLoading} empty={empty}>
        {children}
      </RowsPanel>
      {query.hasNextPage && rows.length > 0 ? (
        <div className="flex justify-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : undefined}
    </Results>
  )
}
