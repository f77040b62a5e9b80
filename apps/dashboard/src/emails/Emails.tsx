import { type InfiniteData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Mail, TriangleAlert } from "lucide-react"
import { type ReactNode, useMemo, useState } from "react"
import * as Mode from "../api/Mode.ts"
import type { Email, Page } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { useRows } from "../ui/layout/PagedRows.tsx"
import { RowsPanel } from "../ui/layout/RowsPanel.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { FirstEmail } from "../firstEmail/FirstEmail.tsx"
import * as LiveEmails from "./LiveEmails.ts"
import { LiveToggle } from "./LiveToggle.tsx"
import { EmailTable } from "./list/EmailTable.tsx"
import { HiddenOutcomes } from "./list/HiddenOutcomes.tsx"
import { NoHits } from "./list/NoHits.tsx"
import { type Selection, useSelection } from "./list/Selection.ts"
import { SearchActions } from "./list/SearchActions.tsx"
import { SelectionBar } from "./list/SelectionBar.tsx"
import { AddressAnswer } from "./search/AddressAnswer.tsx"
import { delayOf, type EmailFilters, inOrder } from "./search/EmailFilters.ts"
import * as Hits from "./search/Hits.ts"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import * as SearchText from "@waybill/domain/search/SearchText"
import { SEARCH_DELAY_MS, useTypedText } from "../ui/controls/SearchField.tsx"
import { Results } from "../ui/feedback/Results.tsx"
import { EmailSearchBar } from "./search/EmailSearchBar.tsx"
import { ExportEmails } from "./search/ExportEmails.tsx"
import * as EmailTotals from "./search/EmailTotals.ts"
import { useSearchContext } from "./search/useSearchContext.ts"

/** Most emails that are selected at once. */
const MAX_SELECTED = 1_000

const rowsIn = (list: InfiniteData<Page<Email>> | undefined): number =>
  (list?.pages ?? []).reduce((sum, { data }) => sum + data.length, 0)

export const Emails = () => {
  const { cancel = false, search: text = "" } = useSearch({ from: "/shell/emails" })
  const navigate = useNavigate({ from: "/emails" })
  const { context, isLoading } = useSearchContext()
  const asTyped = useMemo(() => EmailSearch.parse(text, context), [text, context])
  const readings = useMemo(() => MeantSearch.readingsOf(text, context), [text, context])
  // A name of a key can be understood only once the keys are known.
  const typedQuery = useInfiniteQuery({
    ...LiveEmails.emailListQuery(asTyped.filters),
    enabled: asTyped.isUnderstood && !isLoading,
  })
  const foundNone = !asTyped.isUnderstood || (typedQuery.data !== undefined && rowsIn(typedQuery.data) === 0)
  // Plain words that find nothing are read as the search that was probably meant.
  const isRead = readings.length > 0 && foundNone && !isLoading
  // The first of several readings that finds emails.
  const totals = EmailTotals.useTotals(isRead && readings.length > 1 ? readings : [], context)
  const meant =
    isRead && totals
      ? readings[
          Math.max(
            0,
            totals.findIndex(({ count }) => count > 0),
          )
        ]
      : undefined
  const asMeant = useMemo(() => EmailSearch.parse(meant ?? "", context), [meant, context])
  const meantQuery = useInfiniteQuery({
    ...LiveEmails.emailListQuery(asMeant.filters),
    enabled: meant !== undefined,
  })
  const query = isRead ? meantQuery : typedQuery
  const { chips, filters, isUnderstood } = isRead ? asMeant : asTyped
  const parts = useMemo(() => Hits.partsOf(filters), [filters])
  const [isLive, setLive] = useState(true)
  const canSearch = isUnderstood && !isLoading
  const live = LiveEmails.useLiveEmails(filters, isLive && canSearch && query.data !== undefined)
  const selection = useSelection(text)
  const loaded = (query.data?.pages ?? []).flatMap(({ data }) => data)
  const selected = loaded.filter(({ id }) => selection.ids.has(id))
  const hasMore = query.hasNextPage
  const total = EmailTotals.useTotal(filters, {
    isCounted: canSearch && hasMore && chips.length > 0,
    listed: !canSearch
      ? undefined
      : hasMore
        ? (query.data?.pages[0]?.total ?? undefined)
        : query.data && { count: loaded.length, is_exact: true },
  })
  /** Loads the rest of the list, as far as it is changed at once. */
  const loadMatches = async (): Promise<ReadonlyArray<Email>> => {
    let result: typeof query | Awaited<ReturnType<typeof query.fetchNextPage>> = query
    while (rowsIn(result.data) < MAX_SELECTED && result.hasNextPage && !result.isError)
      result = await query.fetchNextPage()
    return (result.data?.pages ?? []).flatMap(({ data }) => data).slice(0, MAX_SELECTED)
  }
  const selectMatches = async () => selection.set((await loadMatches()).map(({ id }) => id))
  const keyName = (id: string) => context.keys?.find((key) => key.id === id)?.name ?? id
  const setSearch = (next: string) =>
    void navigate({ search: next === "" ? {} : { search: next }, replace: true, resetScroll: false })
  const typed = useTypedText(text, setSearch, (next) => delayOf(next, context, SEARCH_DELAY_MS))
  // A text that is not understood yet leaves the list as it is until it is committed.
  const isPending = typed.isPending && EmailSearch.parse(typed.text, context).isUnderstood
  const found = total === undefined || total.count === 0 ? undefined : EmailTotals.text(total)
  return (
    <Screen
      title="Emails"
      hint={
        chips.length > 0 || found === undefined ? (
          `All emails of ${Mode.isTest() ? "test" : "live"} keys, and what became of them.`
        ) : (
          <p className="first-letter:uppercase">
            {found}
            <span className="max-sm:hidden">, newest first</span>.
          </p>
        )
      }
      actions={
        <>
          <ExportEmails
            filters={filters}
            keyName={keyName}
            disabled={!canSearch || typed.isPending || query.data === undefined}
          />
          {isUnderstood || isLoading ? <LiveToggle isOn={isLive} state={live.state} onChange={setLive} /> : undefined}
        </>
      }
    >
      <EmailSearchBar
        typed={typed}
        read={isRead && typed.text === text ? meant : undefined}
        context={context}
        onChange={setSearch}
        found={found}
        actions={
          canSearch && !isPending ? (
            <SearchActions
              filters={filters}
              found={found}
              load={loadMatches}
              isAsked={cancel && loaded.length > 0}
              onClose={() => setSearch(text)}
            />
          ) : undefined
        }
      />
      {canSearch ? <AddressAnswer filters={filters} /> : undefined}
      {canSearch ? <HiddenOutcomes search={meant ?? text} filters={filters} onSearch={setSearch} /> : undefined}
      <Results isPending={isPending}>
        {isUnderstood || isLoading ? (
          <EmailList
            query={query}
            newIds={live.newIds}
            parts={parts}
            selection={selection}
            filters={filters}
            noHits={
              chips.length === 0 ? undefined : <NoHits search={meant ?? text} context={context} onSearch={setSearch} />
            }
          />
        ) : (
          <Panel>
            <EmptyState
              icon={<TriangleAlert size={20} />}
              title="This search is not understood"
              action={<Button onClick={() => setSearch("")}>Clear filters</Button>}
            >
              <ul>
                {chips.flatMap((chip) =>
                  chip.problem === undefined
                    ? []
                    : [<Problem key={chip.start} chip={chip} text={text} onSearch={setSearch} />],
                )}
              </ul>
            </EmptyState>
          </Panel>
        )}
      </Results>
      <SelectionBar
        emails={selected}
        keyName={keyName}
        others={
          hasMore && selected.length === loaded.length
            ? {
                name:
                  total?.is_exact === true
                    ? EmailTotals.text(total)
                    : `the newest ${MAX_SELECTED.toLocaleString("en")}`,
                select: selectMatches,
              }
            : undefined
        }
        onClear={() => selection.set([])}
      />
    </Screen>
  )
}

interface ProblemProps {
  readonly chip: EmailSearch.Chip
  readonly text: string
  readonly onSearch: (text: string) => void
}

/** Why a part is not understood, and a button that corrects it where it is near to one that is. */
const Problem = ({ chip: { correction, end, name, problem, start, value }, onSearch, text }: ProblemProps) => (
  <li className="flex flex-wrap items-center justify-center gap-x-2 gap-y-1">
    <span>
      <span className="font-medium text-ink">{name === "Text" ? value : `${name}:${value}`}</span> {problem}
    </span>
    {correction === undefined ? undefined : (
      <Button small onClick={() => onSearch(SearchText.replace(text, { start, end }, correction))}>
        Use {correction}
      </Button>
    )}
  </li>
)

interface ListProps {
  readonly query: UseInfiniteQueryResult<InfiniteData<Page<Email>>>
  readonly newIds: ReadonlySet<string>
  readonly parts: Hits.Parts
  readonly selection: Selection
  readonly filters: EmailFilters
  /** Shown instead of emails if a search finds none. */
  readonly noHits: ReactNode
}

const EmailList = ({ filters, newIds, noHits, parts, query, selection }: ListProps) => {
  const { isLoading, rows } = useRows(query)
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = query
  const empty = noHits ?? (
    <EmptyState icon={<Mail size={20} />} title="No emails yet" action={<FirstEmail />}>
      Emails appear here as soon as they are accepted. Send the first one:
    </EmptyState>
  )
  return (
    <RowsPanel query={query} rows={rows} isLoading={isLoading} empty={empty}>
      {() => (
        <EmailTable
          rows={inOrder(rows, filters, hasNextPage)}
          parts={parts}
          newIds={newIds}
          selection={selection}
          hasMore={hasNextPage}
          isLoadingMore={isFetchingNextPage}
          onMore={() => void fetchNextPage()}
        />
      )}
    </RowsPanel>
  )
}
