import type { ReactNode } from "react"
import { cx } from "../ui/display/cx.ts"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  /** Whether the column is right-aligned with digits of equal width. */
  readonly number?: boolean
  /** Whether the column is hidden on narrow screens. */
  readonly wide?: boolean
}

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
        {columns.map(({ name, number, wide }) => (
          <th
            key={name}
            scope="col"
            className={cx(
              "px-4 font-medium",
              number === true ? "text-right" : "text-left",
              wide === true && "hidden sm:table-cell",
            )}
          >
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody className="divide-y divide-line">
      {rows.map((row) => (
        <tr key={keyOf(row)} className="h-11">
          {columns.map(({ cell, name, number, wide }) => (
            <td
              key={name}
              className={cx(
                "px-4 py-2",
                number === true && "tabular text-right",
                wide === true && "hidden sm:table-cell",
              )}
            >
              {cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)
