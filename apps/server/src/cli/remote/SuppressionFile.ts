import type { SuppressionReason } from "@waybill/client/Waybill"
import * as Address from "@waybill/domain/values/Address"
import { Data, Result, Schema } from "effect"

export const REASONS: ReadonlyArray<SuppressionReason> = ["hard_bounce", "complaint", "manual", "unsubscribe"]
const HEADER = "email,reason,created_at"
/** Most faults of a file that are listed. */
const MAX_FAULTS = 10

/** A line of a file of suppressions. */
export interface Line {
  readonly email: string
  readonly reason: SuppressionReason
}

/** A file with lines that cannot be imported. Nothing of it is. */
export class FileRefused extends Data.TaggedError("FileRefused")<{ readonly message: string }> {}

const decode = Schema.decodeUnknownResult(Address.FromText)

/** Cells of a line. None that is read contains a comma or a quote, so quotes only surround one. */
const cellsOf = (line: string): ReadonlyArray<string> =>
  line.split(",").map((cell) => cell.trim().replace(/^"(.*)"$/u, "$1"))

/**
 * Reads a file of addresses: one a line, with a reason after a comma if it is another than `manual`. Further columns are
 * ignored, so that an export can be imported.
 */
export const parse = (text: string): ReadonlyArray<Line> | FileRefused => {
  const faults: Array<string> = []
  const lines = new Map<string, Line>()
  for (const [nth, line] of text
    .replace(/^\ufeff/u, "")
    .split(/\r?\n/u)
    .entries()) {
    const [email = "", reason = ""] = cellsOf(line)
    if (email === "" || (nth === 0 && email.toLowerCase() === "email")) continue
    const fault = faultOf(email, reason)
    if (fault === undefined)
      lines.set(email.toLowerCase(), { email, reason: (reason || "manual") as SuppressionReason })
    else faults.push(`line ${nth + 1}: ${fault}`)
  }
  if (faults.length === 0) return [...lines.values()]
  const more = faults.length > MAX_FAULTS ? `; and ${faults.length - MAX_FAULTS} more` : ""
  return new FileRefused({ message: `Nothing was imported. ${faults.slice(0, MAX_FAULTS).join("; ")}${more}` })
}

const faultOf = (email: string, reason: string): string | undefined => {
  if (Result.isFailure(decode(email))) return `"${email}" is not an email address`
  if (reason !== "" && !REASONS.some((each) => each === reason))
    return `"${reason}" is not a reason; use ${REASONS.join(", ")}`
  return undefined
}

/** Writes suppressions as a file that `parse` reads. */
export const write = (rows: ReadonlyArray<Line & { readonly created_at: string }>): string =>
  [HEADER, ...rows.map(({ created_at, email, reason }) => `${email},${reason},${created_at}`), ""].join("\n")
