import type { Email } from "../../api/Records.ts"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { outcomesOf } from "./EmailFilters.ts"
import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"

const cell = (value: string | number | null): string =>
  typeof value === "string" ? SuppressionFile.cell(value) : String(value ?? "")

const row = (values: ReadonlyArray<string | number | null>): string => `${values.map(cell).join(",")}\r\n`

/** Marks the file as UTF-8 for spreadsheets. */
const BYTE_ORDER_MARK = "\ufeff"

type Value = (email: Email, keyName: (id: string) => string) => string | number | null

const COLUMNS: Readonly<Record<string, Value>> = {
  id: ({ id }) => id,
  message_id: ({ message_id }) => message_id,
  created_at: ({ created_at }) => created_at,
  status: (email) => shownStatus(email, Date.now()),
  outcome: (email) => outcomesOf(email).join("; "),
  from: ({ from }) => from,
  to: ({ to }) => to.join("; "),
  cc: ({ cc }) => cc.join("; "),
  bcc: ({ bcc }) => bcc.join("; "),
  subject: ({ subject }) => subject,
  tags: ({ tags }) => tags.join("; "),
  domain: ({ domain }) => domain,
  api_key: ({ api_key_id }, keyName) => (api_key_id === null ? null : keyName(api_key_id)),
  scheduled_at: ({ scheduled_at }) => scheduled_at,
  delivered_at: ({ delivered_at }) => delivered_at,
  attempts: ({ attempts }) => attempts,
  opens: ({ opens }) => opens,
  clicks: ({ clicks }) => clicks,
  size_bytes: ({ size_bytes }) => size_bytes,
  error_recipient: ({ error }) => error?.recipient ?? null,
  error_code: ({ error }) =>
    [error?.code, error?.enhanced_code].filter((each) => each !== null && each !== undefined).join(" "),
  error: ({ error }) => error?.message ?? null,
}

/** Writes the row of an email. */
export const rowOf = (email: Email, keyName: (id: string) => string) =>
  row(Object.values(COLUMNS).map((valueOf) => valueOf(email, keyName)))

export const HEAD = BYTE_ORDER_MARK + row(Object.keys(COLUMNS))
export const blobOf = (parts: ReadonlyArray<string>): Blob => new Blob([...parts], { type: "text/csv;charset=utf-8" })

/** Writes emails to a file. */
export const fileOf = (emails: ReadonlyArray<Email>, keyName: (id: string) => string): Blob =>
  blobOf([HEAD, ...emails.map((email) => rowOf(email, keyName))])
