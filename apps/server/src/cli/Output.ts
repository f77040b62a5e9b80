import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Clock, Console, DateTime, Effect, Result } from "effect"
import * as OutputStyle from "./OutputStyle.ts"
import * as TerminalTable from "./TerminalTable.ts"
import * as Options from "./Options.ts"

// Every command prints by these functions, which escape text of others: a name, a subject or a server's reply may contain
// escape sequences, line breaks and marks that reverse the direction of a line.

/** Flag of every command whose output a script could read. */
export const json = Options.isSet("json", "Print JSON instead of a table")

interface ListOptions {
  readonly json: boolean
  readonly columns: ReadonlyArray<string>
  /** Sentence for a person in place of an empty list, with the command that fills it. */
  readonly none?: string | undefined
}

/** Prints a list as JSON, or as a table of the given columns, which fits a terminal. */
export const print = Effect.fnUntraced(function* (
  rows: ReadonlyArray<object>,
  { columns: names, json, none = "None." }: ListOptions,
) {
  if (json) return yield* printJson(rows, 2)
  const { columns, ...style } = yield* OutputStyle.current
  if (columns === undefined) return yield* Console.log(table(rows.map(asRow), names))
  const now = yield* Clock.currentTimeMillis
  yield* Console.log(
    rows.length === 0 ? none : TerminalTable.write(rows.map(asRow), names, cell, now, { ...style, columns }),
  )
})

/** The first records of a list, and a sentence about the others if there are any. */
export interface First<A> {
  readonly rows: ReadonlyArray<A>
  readonly more: string | undefined
}

/** Prints the first records of a list. What is left out is said after it, beside JSON too: a script may take them for all. */
export const printFirst = Effect.fnUntraced(function* ({ more, rows }: First<object>, options: ListOptions) {
  yield* print(rows, options)
  if (more === undefined) return
  yield* options.json || !(yield* OutputStyle.isTerminal) ? complain(more) : say(more)
})

type Row = Readonly<Record<string, unknown>>

const asRow = (record: object): Row => ({ ...record })

export const printOne = Effect.fnUntraced(function* (row: object, options: { readonly json: boolean }) {
  if (options.json) return yield* printJson(row, 2)
  const fields = fieldsOf(row)
  const style = yield* OutputStyle.current
  if (style.columns === undefined)
    return yield* Effect.forEach(fields, ([name, value]) => Console.log(`${name}: ${cell(value)}`), { discard: true })
  const width = Math.max(...fields.map(([name]) => name.length))
  const now = yield* Clock.currentTimeMillis
  // The reader knows what sort of record it is.
  for (const [name, value] of fields.filter(([name]) => name !== "object")) {
    const body = bodyOf(value)
    if (body !== undefined) {
      yield* Console.log(OutputStyle.coloured(name, "dim", style))
      yield* printJson(body, 2)
      continue
    }
    const text = TerminalTable.withAge(value, cell, now)
    if (text === TerminalTable.EMPTY) continue
    const shown = name === "status" ? OutputStyle.coloured(text, OutputStyle.colourOf(text), style) : text
    yield* Console.log(`${OutputStyle.coloured(name.padEnd(width), "dim", style)}  ${shown}`)
  }
})

/** Returns the value of a body that is JSON, such as that of a request. */
const bodyOf = (value: unknown): object | undefined => {
  if (typeof value !== "string" || !/^[[{]/u.test(value)) return undefined
  const body = Result.getOrUndefined(Result.try(() => JSON.parse(value) as unknown))
  return typeof body === "object" && body !== null ? body : undefined
}

/** Prints JSON without characters that a terminal obeys. */
export const printJson = (value: unknown, indent = 0) =>
  Console.log(HiddenCharacters.escapedJson(JSON.stringify(value, null, indent)))

/** Prints lines, with line breaks inside them escaped. */
export const say = (...lines: ReadonlyArray<string>) =>
  Effect.forEach(lines, (line) => Console.log(HiddenCharacters.escape(line)), { discard: true })

/** Prints lines of text, which a terminal shows whole; values that are copied are not printed so. */
export const sayFolded = Effect.fnUntraced(function* (...lines: ReadonlyArray<string>) {
  const { columns } = yield* OutputStyle.current
  const fold = (line: string) => (columns === undefined ? line : TerminalTable.folded(line, columns))
  yield* Effect.forEach(lines, (line) => Console.log(fold(HiddenCharacters.escape(line))), { discard: true })
})

/** Prints a value as a line of JSON, or the lines that say it to people. */
export const tell = (json: boolean, value: object, ...lines: ReadonlyArray<string>) =>
  json ? printJson(value) : say(...lines)

/** Prints a line with colours, whose other parts were escaped. */
export const sayColoured = (line: string) => Console.log(line)

/** Prints lines as the logger does, each with its own time. Lines without text are left out. */
export const sayAsLog = (...lines: ReadonlyArray<string>) =>
  Effect.forEach(
    lines.filter((line) => line !== ""),
    (line) =>
      Effect.flatMap(DateTime.now, (now) =>
        printJson({ timestamp: DateTime.formatIso(now), level: "info", message: line.trimStart() }),
      ),
    { discard: true },
  )

/** Prints text of several lines, with all other control characters escaped. */
export const sayLines = (text: string) => Console.log(HiddenCharacters.escapedLines(text))

/** Writes bytes unchanged. The caller makes sure that standard output is not a terminal. */
export const write = (bytes: Uint8Array) =>
  Effect.callback<void>((resume) => void process.stdout.write(bytes, () => resume(Effect.void)))

/** Prints text of several lines on standard error, in lines that a terminal shows whole. */
export const complain = Effect.fnUntraced(function* (text: string) {
  const { columns } = yield* OutputStyle.StandardError
  const escaped = HiddenCharacters.escapedLines(text)
  yield* Console.error(columns === undefined ? escaped : TerminalTable.folded(escaped, columns))
})

/** Returns a line of progress. On a terminal it replaces the previous one. */
export const progressLine = (line: string, ends: boolean, isScreen: boolean): string =>
  isScreen ? `\r\u001b[K${HiddenCharacters.escape(line)}${ends ? "\n" : ""}` : `${HiddenCharacters.escape(line)}\n`

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

const cell = (value: unknown): string => HiddenCharacters.escape(text(value))

/** Returns a value as people read it: lists with commas, and records as `name=value`. */
const text = (value: unknown): string => {
  if (value === null || value === undefined) return TerminalTable.EMPTY
  if (typeof value !== "object") return String(value)
  if (!Array.isArray(value))
    return fieldsOf(value)
      .map(([name, each]) => `${name}=${text(each)}`)
      .join(" ")
  const isFlat = value.every((each) => typeof each !== "object")
  return value.length === 0 ? TerminalTable.EMPTY : value.map(text).join(isFlat ? ", " : "; ")
}

/** Returns the fields of a record and of the records inside it, which are named with dots: `limits.send`. */
const fieldsOf = (record: object): ReadonlyArray<readonly [name: string, value: unknown]> =>
  Object.entries(record).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? fieldsOf(value).map(([inner, each]) => [`${name}.${inner}`, each] as const)
      : [[name, value] as const],
  )

/** Colours of help pages, the only escape sequences that are printed. */
// oxlint-disable-next-line no-control-regex
const COLOURS = /(\u001b\[(?:[0-7]|22|3[0-7]|39|9[0-7])?(?:;(?:[0-7]|3[0-7]))*m)/u

const harmless = (part: unknown): unknown =>
  typeof part === "string"
    ? part
        .split(COLOURS)
        .map((piece, nth) => (nth % 2 === 1 ? piece : HiddenCharacters.escapedLines(piece)))
        .join("")
    : part

/** Escapes also what libraries print: help pages, usage errors and log lines. */
export const guarded = (console: Console.Console): Console.Console => ({
  ...console,
  debug: (...parts) => console.debug(...parts.map(harmless)),
  error: (...parts) => console.error(...parts.map(harmless)),
  info: (...parts) => console.info(...parts.map(harmless)),
  log: (...parts) => console.log(...parts.map(harmless)),
  warn: (...parts) => console.warn(...parts.map(harmless)),
})
