import type { ReactNode } from "react"
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

export const Table = <Row,>({
  columns,
  keyOf,
  label,
  rows,
}: {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly keyOf: (row: Row) => string
}) => (
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
    <tbody className="divide-y divide-line">
      {rows.map((row) => (
        <tr key={keyOf(row)} className="h-11">
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
