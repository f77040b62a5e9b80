import { Link, useNavigate } from "@tanstack/react-router"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useSyncExternalStore } from "react"
import type { Email } from "../api/Records.ts"
import { useKeyNames } from "../requests/useKeyNames.ts"
import { useListKeys } from "../session/useListKeys.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { cx } from "../ui/display/cx.ts"
import * as Hits from "./search/Hits.ts"
import { HiddenHits, Marked } from "./search/Marked.tsx"
import { displayStatus, outcomesOf } from "./EmailFilters.ts"
import { useTemplateNames } from "../requests/useTemplateNames.ts"
import { RelativeTime, useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const ROW_PX = 48
/** Rows of narrow screens have two lines: the subject, and below it the recipient and the status. */
const NARROW_ROW_PX = 68
/** A third line of narrow rows, which says where else a search found the email. */
const HIT_LINE_PX = 22
const WIDE_SCREEN = "(min-width: 40rem)"
/** Rows rendered above and below the visible area, for fast scrolling. */
const OVERSCAN = 12
/** Remaining rows at which the next page is fetched. */
const PREFETCH_ROWS = 15

interface Props {
  readonly rows: ReadonlyArray<Email>
  /** Parts that the list was searched for, which are marked. */
  readonly parts: Hits.Parts
  readonly newIds: ReadonlySet<string>
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly onMore: () => void
}

const otherRecipients = ({ recipients }: Email): number => Math.max(0, recipients.length - 1)

const COLUMNS =
  "grid grid-cols-[minmax(0,1fr)_auto] content-center items-center gap-x-3 gap-y-1.5 sm:gap-x-4 sm:grid-cols-[10.5rem_minmax(0,14rem)_minmax(0,1fr)_7rem]"
/** With the name of the key, on screens with room for it. */
const COLUMNS_WITH_KEY = "lg:grid-cols-[10.5rem_minmax(0,14rem)_minmax(0,1fr)_minmax(0,9rem)_7rem]"

/** Whether the screen is wide enough for one line a row. */
const useIsWide = (): boolean =>
  useSyncExternalStore(
    (onChange) => {
      const query = window.matchMedia(WIDE_SCREEN)
      query.addEventListener("change", onChange)
      return () => query.removeEventListener("change", onChange)
    },
    () => window.matchMedia(WIDE_SCREEN).matches,
  )

export const EmailTable = ({ newIds, hasMore, isLoadingMore, onMore, parts, rows }: Props) => {
  const navigate = useNavigate()
  const keyNames = useKeyNames()
  const templateNames = useTemplateNames()
  const columns = cx(COLUMNS, keyNames.size > 0 && COLUMNS_WITH_KEY)
  const isWide = useIsWide()
  const heightOf = (email: Email | undefined): number => {
    if (isWide) return ROW_PX
    const hasHitLine = email !== undefined && Hits.hiddenOf(email, parts).length > 0
    return hasHitLine ? NARROW_ROW_PX + HIT_LINE_PX : NARROW_ROW_PX
  }
  const list = useRef<HTMLUListElement>(null)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => heightOf(rows[index]),
    overscan: OVERSCAN,
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => rows[index]?.id ?? index,
  })
  useEffect(() => virtual.measure(), [isWide, parts, rows, virtual])
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && !isLoadingMore && last >= rows.length - PREFETCH_ROWS) onMore()
  }, [hasMore, isLoadingMore, last, onMore, rows.length])
  const selected = useListKeys(rows.length, {
    open: (index) => {
      const id = rows[index]?.id
      if (id !== undefined) void navigate({ to: "/emails/$id", params: { id } })
    },
    show: (index) => virtual.scrollToIndex(index, { align: "auto" }),
  })
  return (
    <div>
      <div
        aria-hidden
        className={cx(columns, "hidden h-9 border-b border-line px-4 text-xs font-medium text-ink-3 sm:grid")}
      >
        <span>Status</span>
        <span>To</span>
        <span>Subject</span>
        {keyNames.size > 0 ? <span className="hidden lg:block">Sent by</span> : undefined}
        <span className="text-right">Time</span>
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
                  columns,
                  "h-full border-b border-line px-4 text-sm transition-colors duration-75 hover:bg-hover focus-visible:-outline-offset-2",
                  item.index === selected && "bg-hover",
                  newIds.has(email.id) && "arrived",
                )}
              >
                <Row email={email} keyNames={keyNames} templateNames={templateNames} parts={parts} />
              </Link>
            </li>
          )
        })}
      </ul>
      {isLoadingMore ? (
        <p className="border-t border-line px-4 py-3 text-center text-xs text-ink-3">Loading older emails</p>
      ) : undefined}
    </div>
  )
}

interface RowProps {
  readonly email: Email
  readonly keyNames: ReadonlyMap<string, string>
  readonly templateNames: ReadonlyMap<string, string>
  readonly parts: Hits.Parts
}

const Row = ({ email, keyNames, parts, templateNames }: RowProps) => {
  const now = useNow()
  const status = displayStatus(email, now)
  const counts = outcomesOf(email)
  const outcomes = counts.length < 2 ? undefined : counts.join(" · ")
  const isFound = Hits.piecesOf(Hits.firstRecipient(email), parts.recipient).some(({ isHit }) => isHit)
  const recipient = <Marked text={Hits.firstRecipient(email)} parts={parts.recipient} />
  return (
    <>
      <span className="order-3 col-span-full flex min-w-0 items-center gap-2 sm:order-none sm:col-auto">
        <span className="flex shrink-0 flex-col items-start gap-0.5 sm:min-w-0 sm:shrink">
          <StatusBadge status={status} />
          {outcomes === undefined ? undefined : (
            <span className="hidden truncate text-xs text-ink-3 sm:block">{outcomes}</span>
          )}
        </span>
        <span className="min-w-0 truncate text-xs text-ink-3 sm:hidden">
          {isFound || outcomes === undefined ? recipient : outcomes}
        </span>
      </span>
      <span className="hidden min-w-0 items-center gap-1.5 sm:flex">
        <span className="truncate text-ink">{recipient}</span>
        {otherRecipients(email) > 0 ? (
          <span className="shrink-0 rounded-md bg-hover px-1 text-xs text-ink-2">+{otherRecipients(email)}</span>
        ) : undefined}
      </span>
      <span className="contents min-w-0 sm:block">
        <span className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 truncate text-ink sm:text-ink-2">
            {email.subject === "" ? "No subject" : <Marked text={email.subject} parts={parts.subject} />}
          </span>
          {email.template === null ? undefined : (
            <span
              title="Template, version and language"
              className="hidden max-w-48 shrink-0 truncate rounded-md bg-hover px-1.5 text-xs text-ink-2 md:inline"
            >
              <UntrustedText text={templateNames.get(email.template.id) ?? "Template"} /> v{email.template.version}
              {email.template.locale === null ? "" : ` ${email.template.locale}`}
            </span>
          )}
          {email.tags.map((tag) => (
            <span
              key={tag}
              className="hidden shrink-0 rounded-md border border-line px-1.5 text-xs text-ink-3 md:inline"
            >
              <Marked text={tag} parts={parts.tag} />
            </span>
          ))}
        </span>
        <span className="order-last col-span-full min-w-0 empty:hidden sm:order-none">
          <HiddenHits email={email} parts={parts} tagsAreShown />
        </span>
      </span>
      {keyNames.size > 0 ? (
        <span className="hidden min-w-0 truncate text-ink-3 lg:block">
          {email.api_key_id === null ? (
            "Dashboard"
          ) : (
            <UntrustedText text={keyNames.get(email.api_key_id) ?? "API key"} />
          )}
        </span>
      ) : undefined}
      <span className="tabular text-right text-xs text-ink-3">
        <SentTime email={email} status={status} />
      </span>
    </>
  )
}

/** When the email was accepted; for one that waits, when it will be sent. One that was canceled was never sent. */
const SentTime = ({ email, status }: { readonly email: Email; readonly status: string }) =>
  status === "scheduled" && email.scheduled_at !== null ? (
    <span title="Will be sent">
      <RelativeTime iso={email.scheduled_at} />
    </span>
  ) : status === "canceled" ? (
    "Not sent"
  ) : (
    <RelativeTime iso={email.created_at} />
  )
