import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from "@tanstack/react-query"
import { Plus, SearchX } from "lucide-react"
import type { ComponentProps, ReactNode } from "react"
import type { Page } from "../../api/Records.ts"
import { Button } from "../controls/Button.tsx"
import { SearchField } from "../controls/SearchField.tsx"
import { EmptyState } from "../feedback/EmptyState.tsx"
import { FilterBar } from "./FilterBar.tsx"
import { PagedRows } from "./PagedRows.tsx"
import { RowsPanel } from "./RowsPanel.tsx"
import { Screen } from "./Screen.tsx"
import { type Column, Table } from "./Table.tsx"
import type { ListSearch } from "./useListSearch.ts"

interface Props<Row> {
  readonly title: string
  readonly hint: string
  readonly actions?: ReactNode
  readonly list: ListSearch
  /** Label and example of the search. */
  readonly search: readonly [label: string, placeholder: string]
  readonly filters: ReactNode
  readonly query: UseQueryResult<Page<Row>> | UseInfiniteQueryResult<InfiniteData<Page<Row>>>
  /** Rows that match the filters, of a list that is read as a whole. */
  readonly rows?: ReadonlyArray<Row> | undefined
  readonly columns: ReadonlyArray<Column<Row>>
  readonly isCards?: boolean
  /** The records in the plural, and what to do if none matches the filters. */
  readonly noun: string
  readonly noMatches?: ReactNode
  /** Label of the button that opens the dialog to create a record; none for users who may not. */
  readonly create?: string | false
  /** Shown while there is no record at all. */
  readonly empty: Omit<ComponentProps<typeof EmptyState>, "action" | "level">
  /** Stands above the rows. */
  readonly notice?: ReactNode
  /** Dialogs. */
  readonly children?: ReactNode
}

/** The screen of a list: search, filters, and a table that is walked with the keyboard. */
export const ListScreen = <Row extends { readonly id: string }>({
  actions,
  children,
  columns,
  create = false,
  empty,
  filters,
  isCards = false,
  list,
  noMatches = "Change or clear the filters to see more.",
  notice,
  noun,
  query,
  rows,
  search: [label, placeholder],
  ...screen
}: Props<Row>) => {
  // A list that is read as a whole tells it from one whose rows do not match.
  const isEmpty = "fetchNextPage" in query ? !list.isFiltered : query.data?.data.length === 0
  const button =
    create === false ? undefined : (
      <Button variant="primary" icon={<Plus size={15} />} onClick={() => list.setCreating(true)}>
        {create}
      </Button>
    )
  const none = isEmpty ? (
    <EmptyState {...empty} action={button} />
  ) : (
    <EmptyState
      icon={<SearchX size={20} />}
      title={`No ${noun} match your filters`}
      action={<Button onClick={list.clear}>Clear filters</Button>}
    >
      {noMatches}
    </EmptyState>
  )
  const table = (shown: ReadonlyArray<Row>) => (
    <Table isList isCards={isCards} label={screen.title} rows={shown} keyOf={({ id }) => id} columns={columns} />
  )
  const withActions = (
    <>
      {button}
      {actions}
    </>
  )
  return (
    <Screen {...screen} actions={button === undefined ? actions : withActions}>
      <FilterBar search={<SearchField label={label} placeholder={placeholder} typed={list.typed} />}>
        {filters}
      </FilterBar>
      {notice}
      {"fetchNextPage" in query ? (
        <PagedRows query={query} isPending={list.typed.isPending} empty={none}>
          {table}
        </PagedRows>
      ) : (
        <RowsPanel query={query} rows={rows ?? []} empty={none}>
          {table}
        </RowsPanel>
      )}
      {children}
    </Screen>
  )
}
