/** First characters for which a spreadsheet takes a cell for a formula. */
const FORMULA = /^[=+\-@\t\r]/u

/** Writes a cell. A text that a spreadsheet would run as a formula begins with an apostrophe, which makes it text. */
const cell = (value: string | number | null): string => {
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value ?? "")
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const row = (values: ReadonlyArray<string | number | null>): string => `${values.map(cell).join(",")}\r\n`

/** Marks the file as UTF-8 for spreadsheets. */
export const BYTE_ORDER_MARK = "\ufeff"
