import { Link, useNavigate } from "@tanstack/react-router"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef } from "react"
import type { Email } from "../api/Records.ts"
import { useListKeys } from "../shell/useListKeys.ts"
import { State } from "../ui/display/Badge.tsx"
import { cx } from "../ui/display/cx.ts"
import { Time } from "../ui/display/Time.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const ROW_PX = 48
/** Drawn above and below what is seen, so that quick scrolling finds rows there. */
const OVERSCAN = 12
/** The next page is asked for when so many rows are left. */
const AHEAD = 15

interface Props {
  readonly rows: ReadonlyArray<Email>
  readonly arrived: ReadonlySet<string>
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly onMore: () => void
}

const first = ({ bcc, cc, to }: Email): string => [...to, ...cc, ...bcc][0] ?? ""
const others = ({ recipients }: Email): number => Math.max(0, recipients.length - 1)

/** What is scheduled is queued, and says until when. */
export const shownState = ({ scheduled_at, status }: Email, now: number): string =>
  status === "queued" && scheduled_at !== null && Date.parse(scheduled_at) > now ? "scheduled" : status

const COLUMNS =
  "grid grid-cols-[6rem_minmax(0,1fr)_auto] items-center gap-x-3 sm:gap-x-4 sm:grid-cols-[7.25rem_minmax(0,15rem)_minmax(0,1fr)_6rem]"

export const EmailTable = ({ arrived, hasMore, isLoadingMore, onMore, rows }: Props) => {
  const navigate = useNavigate()
  const list = useRef<HTMLUListElement>(null)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (nth) => rows[nth]?.id ?? nth,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && !isLoadingMore && last >= rows.length - AHEAD) onMore()
  }, [hasMore, isLoadingMore, last, onMore, rows.length])
  const at = useListKeys(rows.length, {
    open: (nth) => {
      const id = rows[nth]?.id
      if (id !== undefined) void navigate({ to: "/emails/$id", params: { id } })
    },
    show: (nth) => virtual.scrollToIndex(nth, { align: "auto" }),
  })
  return (
    <div>
      <div
        aria-hidden
        className={cx(COLUMNS, "hidden h-9 border-b border-line px-4 text-xs font-medium text-ink-3 sm:grid")}
      >
        <span>State</span>
        <span>To</span>
        <span>Subject</span>
        <span className="text-right">Sent</span>
      </div>
      <ul ref={list} aria-label="Emails" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const email = rows[item.index]
          return email === undefined ? undefined : (
            <li
              key={item.key}
              className="absolute inset-x-0"
              style={{ height: item.size, transform: `translateY(${item.start - virtual.options.scrollMargin}px)` }}
            >
              <Link
                to="/emails/$id"
                params={{ id: email.id }}
                className={cx(
                  COLUMNS,
                  "h-full border-b border-line px-4 text-sm transition-colors duration-75 hover:bg-hover focus-visible:-outline-offset-2",
                  item.index === at && "bg-hover",
                  arrived.has(email.id) && "arrived",
                )}
              >
                <Row email={email} />
              </Link>
            </li>
          )
        })}
      </ul>
      {isLoadingMore ? (
        <p className="border-t border-line px-4 py-3 text-center text-xs text-ink-3">Loading older messages</p>
      ) : undefined}
    </div>
  )
}

const Row = ({ email }: { readonly email: Email }) => (
  <>
    <span>
      <State state={shownState(email, Date.now())} />
    </span>
    <span className="hidden min-w-0 items-center gap-1.5 sm:flex">
      <span className="truncate text-ink">
        <Foreign text={first(email)} />
      </span>
      {others(email) > 0 ? (
        <span className="shrink-0 rounded-md bg-hover px-1 text-xs text-ink-2">+{others(email)}</span>
      ) : undefined}
    </span>
    <span className="flex min-w-0 items-center gap-2">
      <span className="min-w-0 truncate">
        <span className="block truncate text-ink sm:text-ink-2">
          {email.subject === "" ? "No subject" : <Foreign text={email.subject} />}
        </span>
        <span className="block truncate text-xs text-ink-3 sm:hidden">
          <Foreign text={first(email)} />
        </span>
      </span>
      {email.tags.map((tag) => (
        <span key={tag} className="hidden shrink-0 rounded-md border border-line px-1.5 text-xs text-ink-3 md:inline">
          <Foreign text={tag} />
        </span>
      ))}
    </span>
    <span className="tabular text-right text-xs text-ink-3">
      <Time iso={email.created_at} />
    </span>
  </>
)
