import { type MouseEvent, type ReactNode, useRef } from "react"
import { useListKeys } from "../controls/useListKeys.ts"
import { cx } from "../display/cx.ts"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  /** Whether the column is right-aligned with digits of equal width. */
  readonly number?: boolean
  /** Whether it is a detail, in small and faint letters. */
  readonly small?: boolean
  /** Whether its text is never broken. */
  readonly oneLine?: boolean
  /** Whether the column is hidden on narrow screens. */
  readonly wide?: boolean
  /** Whether the column takes about half of the width, and its text is cut off where it does not fit. The others share the rest. */
  readonly main?: boolean
  /** Whether the header is for screen readers only, above buttons. */
  readonly hiddenName?: boolean
}

const classOf = <Row,>({ main, number, wide }: Column<Row>, isCards: boolean, isLastNarrow: boolean): string =>
  cx(
    isCards && CARD_CELL,
    "px-2 first:pl-4 last:pr-4 lg:px-3",
    // The columns after it are hidden there.
    isLastNarrow && "max-sm:pr-4",
    number === true ? "tabular whitespace-nowrap text-right" : "text-left",
    wide === true && !isCards && "hidden sm:table-cell",
    main === true && "w-full max-w-0 sm:w-[45%]",
  )

/** A row is a card on narrow screens, each cell a line of it, and before it the name of its column. */
const CARD_CELL =
  "max-sm:flex max-sm:*:min-w-0 max-sm:max-w-none max-sm:items-baseline max-sm:justify-between max-sm:gap-3 max-sm:px-4 max-sm:py-0.5"
const CARD_NAME = "max-sm:before:text-xs max-sm:before:text-ink-3 max-sm:before:content-[attr(data-name)]"

/** Opens the record of a row, which its main column links to, with a click anywhere but on a control or selected text. */
const openRow = ({ ctrlKey, currentTarget, metaKey, target }: MouseEvent<HTMLTableRowElement>): void => {
  const link = currentTarget.querySelector<HTMLAnchorElement>("[data-main] a")
  // React reports clicks in a menu of the row as well, which stands elsewhere in the page.
  if (link === null || !(target instanceof Element) || !currentTarget.contains(target)) return
  if (target.closest("a, button, input, label, select") !== null || getSelection()?.isCollapsed === false) return
  if (metaKey || ctrlKey) window.open(link.href)
  else link.click()
}

/** Rows of the list of a screen are walked with the keyboard; Enter opens the first link of a row. */
export const Table = <Row,>({
  columns,
  isCards = false,
  isList = false,
  keyOf,
  label,
  rows,
}: {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly keyOf: (row: Row) => string
  /** Whether rows are cards on narrow screens, because they have more columns than fit. */
  readonly isCards?: boolean
  /** Whether it is the list of its screen, so that `j`, `k` and Enter are for it. */
  readonly isList?: boolean
}) => {
  const lastNarrow = columns.findLast(({ wide }) => wide !== true)
  const body = useRef<HTMLTableSectionElement>(null)
  const selected = useListKeys(isList ? rows.length : 0, {
    open: (index) => body.current?.rows[index]?.querySelector("a")?.click(),
    show: (index) => body.current?.rows[index]?.scrollIntoView({ block: "nearest" }),
  })
  return (
    <table aria-label={label} className={cx("w-full text-sm", isCards && "max-sm:block")}>
      <thead className={cx(isCards && "max-sm:sr-only")}>
        <tr className="h-9 border-b border-line text-xs text-ink-3">
          {columns.map((column) => (
            <th
              key={column.name}
              scope="col"
              className={cx(classOf(column, isCards, column === lastNarrow), "font-medium whitespace-nowrap")}
            >
              {column.hiddenName === true ? <span className="sr-only">{column.name}</span> : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body} className={cx("divide-y divide-line", isCards && "max-sm:block")}>
        {rows.map((row, index) => (
          <tr
            key={keyOf(row)}
            aria-current={index === selected ? true : undefined}
            onClick={openRow}
            className={cx(
              "h-10 transition-colors duration-75 hover:bg-hover has-[[data-main]_a]:cursor-pointer",
              isCards && "max-sm:block max-sm:h-auto max-sm:py-2",
              index === selected && "bg-hover",
            )}
          >
            {columns.map((column) => (
              <td
                key={column.name}
                data-name={column.name}
                data-main={column.main}
                className={cx(
                  classOf(column, isCards, column === lastNarrow),
                  isCards && column.main !== true && column.hiddenName !== true && CARD_NAME,
                  column.oneLine === true && "whitespace-nowrap",
                  column.small === true && "text-xs whitespace-nowrap text-ink-3",
                  "py-1.5",
                )}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
