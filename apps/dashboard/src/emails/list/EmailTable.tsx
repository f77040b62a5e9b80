import { Link, useNavigate } from "@tanstack/react-router"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useSyncExternalStore } from "react"
import type { Email } from "../../api/Records.ts"
import { useListKeys } from "../../ui/controls/useListKeys.ts"
import { cx } from "../../ui/display/cx.ts"
import * as Hits from "../search/Hits.ts"
import { reachedOf, reasonOf } from "../search/EmailFilters.ts"
import { EmailRow } from "./EmailRow.tsx"
import type { Selection } from "./Selection.ts"
import { useKeyNames, useTemplateNames } from "../../session/Names.ts"

const ROW_PX = 36
/** A row with a second line: how many recipients got it, where a search found it, or why it did not arrive. */
const TALL_ROW_PX = 48
/** Rows of narrow screens have two lines: the recipient, and below it the status and the subject. */
const NARROW_ROW_PX = 68
/** A third line of narrow rows, which says where else a search found the email, or why it did not arrive. */
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
  readonly selection: Selection
}

const COLUMNS =
  "grid grid-cols-[auto_minmax(0,1fr)_auto] content-center items-center gap-x-3 gap-y-1.5 sm:gap-x-4 sm:grid-cols-[8.5rem_minmax(0,5fr)_minmax(0,6fr)_7.5rem]"
/** With the name of the key, on screens with room for it. */
const COLUMNS_WITH_KEY = "xl:grid-cols-[8rem_minmax(0,5fr)_minmax(10rem,6fr)_minmax(0,6.5rem)_7rem]"

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

export const EmailTable = ({ newIds, hasMore, isLoadingMore, onMore, parts, rows, selection }: Props) => {
  const navigate = useNavigate()
  const keyNames = useKeyNames()
  const templateNames = useTemplateNames()
  const columns = cx(COLUMNS, keyNames.size > 0 && COLUMNS_WITH_KEY)
  const isWide = useIsWide()
  const heightOf = (email: Email | undefined): number => {
    const hasThirdLine =
      email !== undefined && (reasonOf(email) !== undefined || Hits.hiddenOf(email, parts).length > 0)
    if (isWide) return hasThirdLine || (email !== undefined && reachedOf(email) !== undefined) ? TALL_ROW_PX : ROW_PX
    return hasThirdLine ? NARROW_ROW_PX + HIT_LINE_PX : NARROW_ROW_PX
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
    mark: (index) => {
      const id = rows[index]?.id
      if (id !== undefined) selection.toggle(id)
    },
  })
  const chosen = rows.filter(({ id }) => selection.ids.has(id)).length
  return (
    <div>
      <div className="flex h-9 items-center border-b border-line text-xs font-medium text-ink-3">
        <Checkmark
          label={`Select all ${rows.length} loaded emails`}
          isOn={chosen > 0 && chosen === rows.length}
          isPartly={chosen > 0 && chosen < rows.length}
          onChange={(isOn) => selection.set(isOn ? rows.map(({ id }) => id) : [])}
        />
        <div aria-hidden className={cx(columns, "hidden grow pr-4 sm:grid")}>
          <span>Status</span>
          <span>To</span>
          <span>Subject</span>
          {keyNames.size > 0 ? <span className="hidden xl:block">Sent by</span> : undefined}
          <span className="text-right">Time</span>
        </div>
        <span aria-hidden className="sm:hidden">
          Select all
        </span>
      </div>
      <ul ref={list} aria-label="Emails" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const email = rows[item.index]
          return email === undefined ? undefined : (
            <li
              key={item.key}
              className={cx(
                "absolute inset-x-0 flex border-b border-line last:border-transparent transition-colors duration-75 hover:bg-hover",
                (item.index === selected || selection.ids.has(email.id)) && "bg-hover",
              )}
              style={{ height: item.size, transform: `translateY(${item.start - virtual.options.scrollMargin}px)` }}
            >
              <Checkmark
                label={`Select the email to ${Hits.firstRecipient(email)}: ${email.subject}`}
                isOn={selection.ids.has(email.id)}
                onChange={() => selection.toggle(email.id)}
              />
              <Link
                to="/emails/$id"
                params={{ id: email.id }}
                className={cx(
                  columns,
                  "h-full min-w-0 grow pr-4 text-sm focus-visible:-outline-offset-2",
                  newIds.has(email.id) && "arrived",
                )}
              >
                <EmailRow email={email} keyNames={keyNames} templateNames={templateNames} parts={parts} />
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

interface CheckmarkProps {
  /** Accessible name. */
  readonly label: string
  readonly isOn: boolean
  /** Whether some of what it stands for is selected. */
  readonly isPartly?: boolean
  readonly onChange: (isOn: boolean) => void
}

/** Selects a row, or all of them. The area around the box counts as well. */
const Checkmark = ({ isOn, isPartly = false, label, onChange }: CheckmarkProps) => (
  <label className="flex w-11 shrink-0 cursor-pointer items-center self-stretch pl-4">
    <input
      ref={(input) => {
        if (input !== null) input.indeterminate = isPartly
      }}
      type="checkbox"
      aria-label={label}
      checked={isOn}
      onChange={({ target }) => onChange(target.checked)}
      className="size-4 accent-solid"
    />
  </label>
)
