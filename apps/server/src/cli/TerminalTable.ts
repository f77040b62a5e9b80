import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as OutputStyle from "./OutputStyle.ts"
import { relativeTime } from "./relativeTime.ts"

const GAP = 2
/** Fewest columns of a terminal that a shortened value takes. */
const MIN_WIDTH = 12
/** Columns that a narrow terminal keeps, with shorter values. */
const MIN_COLUMNS = 3
const ID = /^[a-z]{2,4}_[0-9a-z]{26}$/u
/** Ids whose commands take a part of one too (`WholeId`). */
const SHORTENED = /^(?:msg|req|inb|whd)_/u
/** Leaves the kind and the second of an id, and of its end what tells those of one batch apart. */
export const shortId = (id: string): string => `${id.slice(0, 12)}…${id.slice(-4)}`
const DOMAIN = /^[\w-]+(?:\.[\w-]+)+$/u
const NUMBER = /^\d[\d,]*(?:\.\d+)?%?$/u
/** Columns with a word that says how something is. */
const OF_STATE = new Set(["status", "state", "enabled", "verdict", "ok", "type", "event_type"])
/** Columns for which a table is read: with the sentence of a server, or what a change set. */
const OF_ANSWER = new Set(["reply", "answer", "changes"])

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
  /** Ids, times and states are not cut, because a part of them is of no use. */
  readonly isWhole: boolean
  readonly isId: boolean
  /** Sentences get lines of their own when a row is too wide for them. */
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
    isWhole: isId || isTime || isDomain || OF_STATE.has(name),
    isId,
    isLong: OF_ANSWER.has(name),
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

const totalOf = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, { width }) => sum + width, GAP * (columns.length - 1))

/** Shortens ids that commands take shortened. */
const withShortIds = (column: Column): Column => {
  if (!column.cells.some((text) => SHORTENED.test(text))) return column
  const cells = column.cells.map((text) => (ID.test(text) ? shortId(text) : text))
  return { ...column, cells, width: Math.max(...[headOf(column.name), ...cells].map(widthOf)) }
}

/** Leaves out the last columns until the others fit, and shortens their widest values; those of few columns are all cut. */
const fit = (columns: ReadonlyArray<Column>, width: number): ReadonlyArray<Column> => {
  const isFew = columns.length <= MIN_COLUMNS
  const isCut = ({ isId, isWhole }: Column) => (isFew ? !isId : !isWhole)
  const least = columns.map((each) => (isCut(each) ? { ...each, width: Math.min(each.width, MIN_WIDTH) } : each))
  if (columns.length > 1 && totalOf(least) > width) return fit(columns.slice(0, -1), width)
  const fitted = [...columns]
  while (totalOf(fitted) > width) {
    const cut = fitted.filter((each) => isCut(each) && each.width > MIN_WIDTH)
    const first = cut.filter(({ isAddress, isWhole }) => !isAddress && !isWhole)
    const [widest] = (first.length > 0 ? first : cut).toSorted((one, other) => other.width - one.width)
    if (widest === undefined) return fitted
    fitted[fitted.indexOf(widest)] = { ...widest, width: widest.width - 1 }
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
  const isWide = totalOf(shown) > style.columns
  const below = isWide && shown.length > 1 ? shown.filter(({ isLong }) => isLong) : []
  const others = shown.filter((column) => !below.includes(column))
  const beside = totalOf(others) > style.columns ? others.map(withShortIds) : others
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
    ...below
      .flatMap(({ cells }) => (cells[nth] === EMPTY ? [] : folded(`  ${cells[nth]}`, style.columns).split("\n")))
      .map((line) => OutputStyle.coloured(line, "dim", style)),
  ])
  const left = beside.slice(columns.length).map(({ name }) => headOf(name))
  const note = folded(`Without ${left.join(", ")}: --wide shows all.`, style.columns)
  return [
    OutputStyle.coloured(head.trimEnd(), "dim", style),
    ...lines,
    ...(left.length === 0 ? [] : [OutputStyle.coloured(note, "dim", style)]),
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
