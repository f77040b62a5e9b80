import { Console, Effect } from "effect"
import { Flag } from "effect/cli"

/** On everything that a script would read. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON instead of a table"),
  Flag.withDefault(false),
)

type Row = Readonly<Record<string, unknown>>

/** A list as JSON, or as a table whose columns are the fields named. */
export const print = (
  rows: ReadonlyArray<Row>,
  options: { readonly json: boolean; readonly columns: ReadonlyArray<string> },
) => (options.json ? Console.log(JSON.stringify(rows, null, 2)) : Console.log(table(rows, options.columns)))

export const printOne = (row: Row, options: { readonly json: boolean }) =>
  options.json
    ? Console.log(JSON.stringify(row, null, 2))
    : Effect.forEach(Object.entries(row), ([name, value]) => Console.log(`${name}: ${cell(value)}`), { discard: true })

const table = (rows: ReadonlyArray<Row>, columns: ReadonlyArray<string>): string => {
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

const cell = (value: unknown): string =>
  value === null || value === undefined ? "-" : typeof value === "object" ? JSON.stringify(value) : String(value)
