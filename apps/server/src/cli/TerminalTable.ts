import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as OutputStyle from "./OutputStyle.ts"
import { relativeTime } from "./relativeTime.ts"

const GAP = 2
/** Fewest columns of a terminal that a shortened value takes. */
const MIN_WIDTH = 8
/** Columns that a narrow terminal keeps, with shorter values. */
const MIN_COLUMNS = 3
const ID = /^[a-z]{2,4}_[0-9a-z]{26}$/u
/** A path with an id, of which a part is of no use either. */
const PATH = /\/[a-z]{2,4}_[0-9a-z]{26}(?:\/|$)/u
const DOMAIN = /^[\w-]+(?:\.[\w-]+)+$/u
const NUMBER = /^\d[\d,]*(?:\.\d+)?$/u
/** Columns with a word that says how something is. */
const OF_STATE = new Set(["status", "state", "enabled", "verdict", "ok", "type", "event_type"])
/** Columns with a word that leads to its page. */
const OF_CAUSE = new Set(["reason"])
/** Columns for which a list is read: with the sentence of a server, or what a change set. */
const OF_ANSWER = new Set(["reply", "last_answer", "changes"])

/** Text of an absent value. A column of these alone is left out. */
export const EMPTY = "-"

const headOf = (name: string): string => name.replace(/_at$/u, "").replaceAll("_", " ")

const WIDE_CHARACTER =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const NO_WIDTH = /^\p{M}$/u

/** Number of columns that a text takes on a terminal. */
export const widthOf = (text: string): number => {
  let width = 0
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE_CHARACTER.test(character) ? 2 : 1
  return width
}

const WEB_ADDRESS = /^https?:\/\//u

/** Cuts a text that is wider. Of the address of a page the end stays, because several often share a host. */
export const clip = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  if (WEB_ADDRESS.test(text)) return `…${text.slice(1 - width)}`
  let cut = ""
  let taken = 1
  for (const character of text) {
    taken += widthOf(character)
    if (taken > width) break
    cut += character
  }
  return `${cut}…`
}

export const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))

interface Column {
  readonly name: string
  readonly cells: ReadonlyArray<string>
  /** Ids, times and states are shown whole, because a part of them is of no use. */
  readonly isWhole: boolean
  readonly isId: boolean
  /** Paths and sentences get lines of their own when a row is too wide for them, before ids do. */
  readonly isLong: boolean
  readonly isNumber: boolean
  /** Addresses are cut last: a list is read by them. */
  readonly isAddress: boolean
  readonly width: number
}

type Cell = (value: unknown) => string

/** Returns the first of several values, and how many more there are. */
const textOf = (value: unknown, cell: Cell, now: number): string => {
  if (typeof value === "string") return relativeTime(value, now) ?? cell(value)
  const [first, ...others] = Array.isArray(value) ? (value as ReadonlyArray<unknown>) : []
  return others.length > 0 ? `${cell(first)} +${others.length}` : cell(value)
}

const columnOf = (name: string, values: ReadonlyArray<unknown>, cell: Cell, now: number): Column => {
  const texts = values.map((value) => textOf(value, cell, now))
  const isId = texts.some((text) => ID.test(text))
  const isTime = values.some((value, nth) => typeof value === "string" && cell(value) !== texts[nth])
  const isDomain = texts.every((text) => DOMAIN.test(text))
  return {
    name,
    cells: texts,
    isWhole: isId || isTime || isDomain || OF_STATE.has(name) || OF_CAUSE.has(name),
    isId,
    isLong: OF_ANSWER.has(name) || texts.some((text) => PATH.test(text)),
    isNumber: !OF_STATE.has(name) && texts.every((text) => text === EMPTY || NUMBER.test(text)),
    isAddress: texts.some((text) => /^\S+@\S+(?: \+\d+)?$/u.test(text) || WEB_ADDRESS.test(text)),
    width: Math.max(...[headOf(name), ...texts].map(widthOf)),
  }
}

/** Cuts or fills a text to the width of its column, numbers from the left. */
const inColumn = (text: string, { isNumber, width }: Column): string => {
  const shown = clip(text, width)
  return isNumber ? " ".repeat(width - widthOf(shown)) + shown : pad(shown, width)
}

/** Returns the lines below a row: as many values in each as it has columns for, with wider ones folded. */
const linesBelow = (texts: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const text of texts) {
    const beside = `${lines.at(-1) ?? ""}  ${text}`
    if (lines.length > 0 && widthOf(beside) <= columns) lines[lines.length - 1] = beside
    else lines.push(`  ${text}`)
  }
  return lines.flatMap((line) => folded(line, columns).split("\n"))
}

const totalOf = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, { width }) => sum + width, GAP * (columns.length - 1))

/** Shortens the widest values until a row fits, and then leaves out the last columns. */
const fit = (columns: ReadonlyArray<Column>, width: number): ReadonlyArray<Column> => {
  const fitted = [...columns]
  while (totalOf(fitted) > width) {
    const wide = fitted.filter(({ isWhole, width }) => !isWhole && width > MIN_WIDTH)
    const others = wide.filter(({ isAddress }) => !isAddress)
    const last = fitted.length > MIN_COLUMNS ? wide : fitted.filter(({ isId, width }) => !isId && width > MIN_WIDTH)
    const [widest] = (others.length > 0 ? others : last).toSorted((one, other) => other.width - one.width)
    if (widest === undefined) {
      if (fitted.length === 1) return fitted
      fitted.pop()
    } else fitted[fitted.indexOf(widest)] = { ...widest, width: widest.width - 1 }
  }
  return fitted
}

/** Writes rows for a person at a terminal: at most as wide as that, with relative times and colours of states. */
export const write = (
  rows: ReadonlyArray<Readonly<Record<string, unknown>>>,
  names: ReadonlyArray<string>,
  cell: Cell,
  now: number,
  style: OutputStyle.Style & { readonly columns: number },
): string => {
  const all = names.map((name) =>
    columnOf(
      name,
      rows.map((row) => row[name]),
      cell,
      now,
    ),
  )
  const shown = all.filter(({ cells }) => cells.some((text) => text !== EMPTY))
  // Ids are long, and needed whole but not read, so that they give way to what is read.
  const isWide = (below: ReadonlyArray<Column>) =>
    totalOf(shown.filter((column) => !below.includes(column))) > style.columns
  const long = isWide([]) ? shown.filter(({ isLong }) => isLong) : []
  const allBelow = isWide(long) ? shown.filter(({ isId, isLong }) => isId || isLong) : long
  const below = allBelow.length < shown.length ? allBelow : []
  const beside = shown.filter((column) => !below.includes(column))
  const columns = fit(beside, style.columns)
  const head = columns.map((column) => inColumn(headOf(column.name), column)).join("  ")
  const lines = rows.flatMap((_, nth) => [
    columns
      .map((column) => {
        const text = inColumn(column.cells[nth] ?? "", column)
        return OF_STATE.has(column.name) ? OutputStyle.coloured(text, OutputStyle.colourOf(text.trim()), style) : text
      })
      .join("  ")
      .trimEnd(),
    ...linesBelow(
      below.flatMap(({ cells, isId, name }) =>
        cells[nth] === EMPTY ? [] : `${name === "id" || !isId ? "" : `${headOf(name)} `}${cells[nth]}`,
      ),
      style.columns,
    ).map((line) => OutputStyle.coloured(line, "dim", style)),
  ])
  const left = beside.slice(columns.length).map(({ name }) => headOf(name))
  const note = left.length === 0 ? [] : [`Without ${left.join(", ")}: --wide shows all.`]
  return [
    OutputStyle.coloured(head.trimEnd(), "dim", style),
    ...lines,
    ...note.map((text) => OutputStyle.coloured(text, "dim", style)),
  ].join("\n")
}

/** Returns a value as a person reads it: a time is followed by how long ago it was. */
export const withAge = (value: unknown, cell: Cell, now: number): string => {
  const age = typeof value === "string" ? relativeTime(value, now) : undefined
  return age === undefined ? cell(value) : `${HiddenCharacters.escape(String(value))} (${age})`
}

// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/gu
/** Columns that a text beside a name has at least; with fewer it begins below the name. */
const MIN_TEXT = 30
const BELOW = 6

const shownWidth = (text: string): number => widthOf(text.replaceAll(COLOURS, ""))

const CODE = /`[^`]+`/gu
/** Stands for a space that is no place to fold a line at. Texts have no control characters. */
const HELD = "\0"

/**
 * Folds lines that are wider than a terminal between words, with what follows below the begin of their last column. Code in
 * backticks stays in one line, so that it can be copied.
 */
export const folded = (text: string, columns: number): string =>
  text
    .split("\n")
    .map((line) => (shownWidth(line) <= columns ? line : foldedLine(line, columns)))
    .join("\n")

const foldedLine = (line: string, columns: number): string => {
  const plain = line.replaceAll(COLOURS, "")
  const column = widthOf(/^(?:.*\S)? {2,}(?=\S)/u.exec(plain)?.[0] ?? "")
  const isBelow = columns - column < MIN_TEXT
  const margin = " ".repeat(isBelow ? BELOW : column)
  const lines: Array<string> = []
  let current = ""
  const fits = columns - widthOf(margin)
  const held = line.replaceAll(CODE, (code) => (widthOf(code) > fits ? code : code.replaceAll(" ", HELD)))
  for (const part of held.split(/(?<=\S)( +)(?=\S)/u)) {
    const startsText = isBelow && part.length > 1 && part.trim() === ""
    if (startsText || shownWidth(current + part) > columns) {
      lines.push(current.trimEnd())
      current = margin + part.trimStart()
    } else current += part
  }
  return [...lines, current].join("\n").replaceAll(HELD, " ")
}
