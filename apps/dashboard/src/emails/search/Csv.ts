import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"

const cell = (value: string | number | null): string =>
  typeof value === "string" ? SuppressionFile.cell(value) : String(value ?? "")

export const row = (values: ReadonlyArray<string | number | null>): string => `${values.map(cell).join(",")}\r\n`

/** Marks the file as UTF-8 for spreadsheets. */
export const BYTE_ORDER_MARK = "\ufeff"
