import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query"
import { ArrowLeft } from "lucide-react"
import { type ReactNode, Suspense } from "react"
import type { Page } from "../../api/Records.ts"
import { Button } from "../controls/Button.tsx"
import { cx } from "../display/cx.ts"
import { RelativeTime } from "../display/Time.tsx"
import { ErrorMessage } from "../feedback/ErrorMessage.tsx"
import { ErrorBoundary } from "../feedback/ErrorBoundary.tsx"
import { SkeletonRows } from "../feedback/Skeleton.tsx"
import { BACK, Panel } from "./Screen.tsx"

interface Mail {
  readonly id: string
  readonly created_at: string
}

interface Props<Row> {
  /** Accessible name of the list, to which the button on narrow screens leads back. */
  readonly label: string
  readonly query: UseInfiniteQueryResult<InfiniteData<Page<Row>>>
  readonly rows: ReadonlyArray<Row>
  readonly isLoading: boolean
  /** Stands in place of the list while it has no row. */
  readonly empty: ReactNode
  readonly selected: string | undefined
  /** Whether the user chose a row, rather than being shown the first one. */
  readonly isChosen: boolean
  readonly onSelect: (row: Row | undefined) => void
  /** The lines of a row: what stands beside its time, and those below. */
  readonly lines: (row: Row) => readonly [title: ReactNode, subject: ReactNode, below?: ReactNode]
  readonly detail: (id: string) => ReactNode
}

/** A list of mail beside the one that is chosen in it. On narrow screens, the list, and then the mail in its place. */
export const ListAndDetail = <Row extends Mail>(props: Props<Row>) => {
  const { detail, empty, isChosen, isLoading, label, lines, onSelect, query, rows, selected } = props
  const loading = (
    <Panel>
      <SkeletonRows />
    </Panel>
  )
  if (isLoading) return loading
  if (query.data === undefined) return <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
  if (rows.length === 0) return <Panel>{empty}</Panel>
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <Panel className={cx("overflow-hidden lg:sticky lg:top-6", isChosen && "max-lg:hidden")}>
        <ul aria-label={label} className="divide-y divide-line lg:max-h-[calc(100dvh-10rem)] lg:overflow-y-auto">
          {rows.map((row) => (
            <MailRow
              key={row.id}
              mail={row}
              lines={lines(row)}
              isSelected={row.id === selected}
              onSelect={() => onSelect(row)}
            />
          ))}
          {query.hasNextPage ? (
            <li className="p-2 text-center">
              <Button small variant="ghost" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                Load more
              </Button>
            </li>
          ) : undefined}
        </ul>
      </Panel>
      <div className={cx("flex min-w-0 flex-col gap-3", !isChosen && "max-lg:hidden")}>
        <button type="button" className={cx(BACK, "self-start lg:hidden")} onClick={() => onSelect(undefined)}>
          <ArrowLeft size={14} aria-hidden />
          {label}
        </button>
        {selected === undefined ? undefined : (
          // An id that is not there leaves the list as it is.
          <ErrorBoundary key={selected}>
            <Suspense fallback={loading}>{detail(selected)}</Suspense>
          </ErrorBoundary>
        )}
      </div>
    </div>
  )
}

interface RowProps {
  readonly mail: Mail
  readonly lines: readonly [title: ReactNode, subject: ReactNode, below?: ReactNode]
  readonly isSelected: boolean
  readonly onSelect: () => void
}

const MailRow = ({ isSelected, lines: [title, subject, below], mail, onSelect }: RowProps) => (
  <li id={`mail-${mail.id}`}>
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
        <span className="min-w-0 grow truncate text-sm font-medium">{title}</span>
        <span className="shrink-0 text-xs text-ink-3">
          <RelativeTime iso={mail.created_at} />
        </span>
      </span>
      <span className="block truncate text-sm text-ink-2">{subject}</span>
      {below === undefined ? undefined : <span className="block truncate text-xs text-ink-3">{below}</span>}
    </button>
  </li>
)
