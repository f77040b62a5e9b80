import type { Email } from "../../api/Records.ts"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { outcomesOf } from "./EmailFilters.ts"
import * as Csv from "./Csv.ts"

const COLUMNS = [
  "id",
  "message_id",
  "created_at",
  "status",
  "outcome",
  "from",
  "to",
  "cc",
  "bcc",
  "subject",
  "tags",
  "domain",
  "api_key",
  "scheduled_at",
  "delivered_at",
  "attempts",
  "opens",
  "clicks",
  "size_bytes",
  "error_recipient",
  "error_code",
  "error",
] as const

/** Writes the row of an email. */
export const rowOf = (email: Email, keyName: (id: string) => string) =>
  Csv.row([
    email.id,
    email.message_id,
    email.created_at,
    shownStatus(email, Date.now()),
    outcomesOf(email).join("; "),
    email.from,
    email.to.join("; "),
    email.cc.join("; "),
    email.bcc.join("; "),
    email.subject,
    email.tags.join("; "),
    email.domain,
    email.api_key_id === null ? null : keyName(email.api_key_id),
    email.scheduled_at,
    email.delivered_at,
    email.attempts,
    email.opens,
    email.clicks,
    email.size_bytes,
    email.error?.recipient ?? null,
    [email.error?.code, email.error?.enhanced_code].filter((each) => each !== null && each !== undefined).join(" "),
    email.error?.message ?? null,
  ])

export const HEAD = Csv.BYTE_ORDER_MARK + Csv.row(COLUMNS)
export const blobOf = (parts: ReadonlyArray<string>): Blob => new Blob([...parts], { type: "text/csv;charset=utf-8" })

/** Writes emails to a file. */
export const fileOf = (emails: ReadonlyArray<Email>, keyName: (id: string) => string): Blob =>
  blobOf([HEAD, ...emails.map((email) => rowOf(email, keyName))])
