import * as Visible from "@waybill/domain/values/Visible"
import { Console, Effect } from "effect"
import { Flag } from "effect/cli"

// Every command prints by what is here, so that text of others reaches no terminal as it came: a name, a subject, a
// server's reply may hold escape sequences, line breaks and marks that turn the direction of a line.

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
) => (options.json ? printJson(rows, 2) : Console.log(table(rows, options.columns)))

export const printOne = (row: Row, options: { readonly json: boolean }) =>
  options.json
    ? printJson(row, 2)
    : Effect.forEach(Object.entries(row), ([name, value]) => Console.log(`${name}: ${cell(value)}`), { discard: true })

/** The same value, spelled without a character that a terminal would obey. */
export const printJson = (value: unknown, indent = 0) =>
  Console.log(Visible.escapedJson(JSON.stringify(value, null, indent)))

/** One line each: what else would break a line is escaped. */
export const say = (...lines: ReadonlyArray<string>) =>
  Effect.forEach(lines, (line) => Console.log(Visible.escaped(line)), { discard: true })

/** Text of several lines, of which only the line breaks are obeyed. */
export const sayLines = (text: string) => Console.log(Visible.escapedLines(text))

/** Bytes as they are, for a file or a program. The caller makes sure that no terminal reads them. */
export const write = (bytes: Uint8Array) =>
  Effect.callback<void>((resume) => void process.stdout.write(bytes, () => resume(Effect.void)))

/** On standard error, where a person or a script's log reads it. Of several lines, as a trace is. */
export const complain = (text: string) => Console.error(Visible.escapedLines(text))

/** On a screen one line that is written over, and ended when all is done. */
export const progressLine = (line: string, ends: boolean, isScreen: boolean): string =>
  isScreen ? `\r\u001b[K${Visible.escaped(line)}${ends ? "\n" : ""}` : `${Visible.escaped(line)}\n`

export const progress = (line: string, ends: boolean) =>
  Effect.sync(() => void process.stderr.write(progressLine(line, ends, process.stderr.isTTY)))

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
  value === null || value === undefined
    ? "-"
    : Visible.escaped(typeof value === "object" ? JSON.stringify(value) : String(value))

/** What a help page is coloured with, and no more of what a terminal would obey. */
// oxlint-disable-next-line no-control-regex
const COLOURS = /(\u001b\[(?:[0-7]|22|3[0-7]|39|9[0-7])?(?:;(?:[0-7]|3[0-7]))*m)/u

const harmless = (part: unknown): unknown =>
  typeof part === "string"
    ? part
        .split(COLOURS)
        .map((piece, nth) => (nth % 2 === 1 ? piece : Visible.escapedLines(piece)))
        .join("")
    : part

/** A second net below all of the above, for what a library prints: help pages, usage errors, its own log lines. */
export const guarded = (console: Console.Console): Console.Console => ({
  ...console,
  debug: (...parts) => console.debug(...parts.map(harmless)),
  error: (...parts) => console.error(...parts.map(harmless)),
  info: (...parts) => console.info(...parts.map(harmless)),
  log: (...parts) => console.log(...parts.map(harmless)),
  warn: (...parts) => console.warn(...parts.map(harmless)),
})
