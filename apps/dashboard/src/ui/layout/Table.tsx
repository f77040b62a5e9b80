import { type ReactNode, useRef } from "react"
import { useListKeys } from "../controls/useListKeys.ts"
import { cx } from "../display/cx.ts"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  /** Whether the column is right-aligned with digits of equal width. */
  readonly number?: boolean
  /** Whether the column is hidden on narrow screens. */
  readonly wide?: boolean
  /** Whether the column takes the remaining width, and its text is cut off where it does not fit. */
  readonly main?: boolean
  /** Whether the header is for screen readers only, above buttons. */
  readonly hiddenName?: boolean
}

const classOf = <Row,>({ main, number, wide }: Column<Row>): string =>
  cx(
    "px-2 first:pl-4 last:pr-4",
    number === true ? "tabular whitespace-nowrap text-right" : "text-left",
    wide === true && "hidden sm:table-cell",
    main === true && "w-full max-w-0",
  )

/** Rows of the list of a screen are walked with the keyboard; Enter opens the first link of a row. */
export const Table = <Row,>({
  columns,
  isList = false,
  keyOf,
  label,
  rows,
}: {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly keyOf: (row: Row) => string
  /** Whether it is the list of its screen, so that `j`, `k` and Enter are for it. */
  readonly isList?: boolean
}) => {
  const body = useRef<HTMLTableSectionElement>(null)
  const selected = useListKeys(isList ? rows.length : 0, {
    open: (index) => body.current?.rows[index]?.querySelector("a")?.click(),
    show: (index) => body.current?.rows[index]?.scrollIntoView({ block: "nearest" }),
  })
  return (
    <table aria-label={label} className="w-full text-sm">
      <thead>
        <tr className="h-9 border-b border-line text-xs text-ink-3">
          {columns.map((column) => (
            <th key={column.name} scope="col" className={cx(classOf(column), "font-medium whitespace-nowrap")}>
              {column.hiddenName === true ? <span className="sr-only">{column.name}</span> : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body} className="divide-y divide-line">
        {rows.map((row, index) => (
          <tr
            key={keyOf(row)}
            aria-current={index === selected ? true : undefined}
            className={cx("h-11", index === selected && "bg-hover")}
          >
            {columns.map((column) => (
              <td key={column.name} className={cx(classOf(column), "py-2")}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
