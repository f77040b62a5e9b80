import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { MailOpen, SearchX, Signpost } from "lucide-react"
import { Suspense, useEffect, useMemo } from "react"
import * as Api from "../api/Api.ts"
import { defined } from "../api/defined.ts"
import * as PagedList from "../api/PagedList.ts"
import type { InboundEmail } from "../api/Records.ts"
import { Marked } from "../emails/search/Marked.tsx"
import * as SearchText from "@waybill/domain/search/SearchText"
import { useEventStream } from "../live/useEventStream.ts"
import { useThrottle } from "../live/useThrottle.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { useListKeys } from "../session/useListKeys.ts"
import { Button } from "../ui/controls/Button.tsx"
import { SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { cx } from "../ui/display/cx.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import { Results } from "../ui/feedback/Results.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { useRows } from "../ui/layout/PagedRows.tsx"
import { ListAndDetail } from "../ui/layout/ListAndDetail.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { NoMail } from "./NoMail.tsx"
import { ReceivedMail } from "./ReceivedMail.tsx"
import * as ReceivedQueries from "./ReceivedQueries.ts"

const EVENT_TYPES = ["email.received"] as const
/** Mails that arrive within this time are read together. */
const DEBOUNCE_MS = 400
/** Time per request of live updates: half of what a key may read, the rest is left to the user. */
const UPDATE_INTERVAL_MS = 2_000

/** Mail that came in for the domains of the account. */
export const Received = () => {
  const { id, q } = useSearch({ from: "/shell/received" })
  const navigate = useNavigate({ from: "/received" })
  const client = useQueryClient()
  const canStream = useHasScope("events:read")
  const canDelete = useHasScope("inbound:write")
  const found = ReceivedQueries.list(q)
  const query = useInfiniteQuery(found)
  const { isLoading, rows } = useRows(query)
  const words = useMemo(() => SearchText.tokensOf(q ?? "").map(({ value }) => value), [q])
  const update = async () => {
    const list = client.getQueryData<PagedList.PagedList<InboundEmail>>(found.queryKey)
    if (list === undefined) return 1
    const pages = await PagedList.fetchNewest(list, (after) => ReceivedQueries.page(q, after))
    client.setQueryData<PagedList.PagedList<InboundEmail>>(
      found.queryKey,
      (current) => current && PagedList.merge(current, { pages, canShrink: true }),
    )
    return pages.length
  }
  const { trigger } = useThrottle(update, { interval_ms: UPDATE_INTERVAL_MS, debounce_ms: DEBOUNCE_MS })
  useEventStream({ types: EVENT_TYPES, enabled: canStream, onStart: trigger, onEvent: trigger })
  const select = (next: InboundEmail | undefined) =>
    // A phone goes back from the mail to the list.
    void navigate({ search: defined({ q, id: next?.id }), replace: id !== undefined })
  // The first mail that is found is shown.
  const search = (text: string) => void navigate({ search: text === "" ? {} : { q: text }, replace: true })
  const typed = useTypedText(q ?? "", search)
  const keyIndex = useListKeys(rows.length, {
    open: (index) => select(rows[index]),
    show: (index) => select(rows[index]),
  })
  useEffect(() => {
    if (keyIndex >= 0) document.getElementById(`mail-${rows[keyIndex]?.id ?? ""}`)?.scrollIntoView({ block: "nearest" })
  }, [keyIndex, rows])
  const selected = id ?? rows[0]?.id
  const deletion = useMutation({
    mutationFn: (removed: string) => Api.remove(`/inbound/${removed}`),
    onMutate: (removed) => {
      select(undefined)
      return OptimisticUpdate.apply(client, found.queryKey, OptimisticUpdate.withoutRow<InboundEmail>(removed))
    },
    onSuccess: trigger,
    onError: OptimisticUpdate.rollBack,
  })
  return (
    <Screen
      title="Received"
      hint="Mail that came in for your domains."
      actions={
        canDelete ? (
          <Link
            to="/routes"
            className="inline-flex h-8 items-center gap-1.5 rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium hover:bg-hover"
          >
            <Signpost size={15} aria-hidden />
            Routes
          </Link>
        ) : undefined
      }
    >
      {q === undefined && typed.text === "" && rows.length === 0 ? undefined : (
        <SearchField label="Search received mail" placeholder="Sender, recipient or subject" typed={typed} />
      )}
      <Results isPending={typed.isPending}>
        {isLoading ? (
          <Panel>
            <SkeletonRows />
          </Panel>
        ) : query.data === undefined ? (
          <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
        ) : rows.length === 0 ? (
          <Panel>
            {q === undefined ? (
              <EmptyState icon={<MailOpen size={20} />} title="No mail yet" action={<NoMail />}>
                Mail to your addresses appears here as it arrives.
              </EmptyState>
            ) : (
              <EmptyState
                icon={<SearchX size={20} />}
                title="No mail matches your search"
                action={<Button onClick={() => search("")}>Clear search</Button>}
              >
                Each word must be part of the subject, or of the name or address of a sender or recipient.
              </EmptyState>
            )}
          </Panel>
        ) : (
          <ListAndDetail
            label="Received mail"
            isChosen={id !== undefined}
            onBack={() => select(undefined)}
            rows={
              <>
                {rows.map((row) => (
                  <Row
                    key={row.id}
                    row={row}
                    words={words}
                    isSelected={row.id === selected}
                    onSelect={() => select(row)}
                  />
                ))}
                {query.hasNextPage ? (
                  <li className="p-2 text-center">
                    <Button
                      small
                      variant="ghost"
                      busy={query.isFetchingNextPage}
                      onClick={() => void query.fetchNextPage()}
                    >
                      Load more
                    </Button>
                  </li>
                ) : undefined}
              </>
            }
            detail={
              selected === undefined ? undefined : (
                <Suspense
                  key={selected}
                  fallback={
                    <Panel>
                      <SkeletonRows />
                    </Panel>
                  }
                >
                  <ReceivedMail id={selected} onDelete={canDelete ? () => deletion.mutate(selected) : undefined} />
                </Suspense>
              )
            }
          />
        )}
      </Results>
    </Screen>
  )
}

interface RowProps {
  readonly row: InboundEmail
  /** Words that the list was searched for, which are marked. */
  readonly words: ReadonlyArray<string>
  readonly isSelected: boolean
  readonly onSelect: () => void
}

const Row = ({ isSelected, onSelect, row, words }: RowProps) => {
  const { created_at, envelope, from, id, subject } = row
  const address = from?.address ?? envelope.from
  return (
    <li id={`mail-${id}`}>
      <button
        type="button"
        aria-current={isSelected}
        onClick={onSelect}
        className={cx(
          "block w-full px-4 py-2.5 text-left focus-visible:-outline-offset-2",
          isSelected ? "lg:bg-hover" : "hover:bg-hover",
        )}
      >
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 grow truncate text-sm font-medium">
            <Marked text={from?.name ?? (address === "" ? "No sender" : address)} parts={words} />
          </span>
          <span className="shrink-0 text-xs text-ink-3">
            <RelativeTime iso={created_at} />
          </span>
        </span>
        <span className="block truncate text-sm text-ink-2">
          {subject === null || subject === "" ? "No subject" : <Marked text={subject} parts={words} />}
        </span>
        <span className="block truncate text-xs text-ink-3">
          {address === "" ? "" : <Marked text={address} parts={words} />} →{" "}
          <Marked text={envelope.to.join(", ")} parts={words} />
        </span>
      </button>
    </li>
  )
}
