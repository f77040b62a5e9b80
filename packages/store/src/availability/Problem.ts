import type { Cause } from "effect"
import { SqlError } from "effect/sql"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import { NotConfirmed, Unavailable } from "../postgres/Unavailable.ts"

/** Why the database cannot be used: one line for /readyz and the log, without host names and secrets. */
export interface Problem {
  readonly text: string
  readonly cause: Cause.Cause<unknown>
}

/** SQLSTATEs with which a server refuses every write. */
const WRITES_REFUSED: { readonly [state: string]: string } = {
  "53100": "the disk of the database is full (ENOSPC)",
  "58030": "the database cannot read or write its files",
  "25006": "the database is read-only",
}

/** Returns why the database refuses writes, if an error says so; the data of the request is not to blame then. */
export const problemOf = (cause: Cause.Cause<unknown>): Problem | undefined => {
  for (const error of errorsOf(cause)) {
    const text = error instanceof SqlError.SqlError ? WRITES_REFUSED[SqlErrors.sqlState(error)] : undefined
    if (text !== undefined) return { text, cause }
  }
  return undefined
}

/**
 * Returns the refusal of a request that failed because the database cannot be used; undefined for any other failure. A
 * request that may have changed something by the time of the failure is not told that nothing was accepted.
 */
export const refusalOf = (cause: Cause.Cause<unknown>, isRead: boolean): Unavailable | NotConfirmed | undefined => {
  if (problemOf(cause) !== undefined) return new Unavailable()
  if (!SqlErrors.isConnectionLost(cause)) return undefined
  return isRead ? new Unavailable() : new NotConfirmed()
}

const errorsOf = (cause: Cause.Cause<unknown>): ReadonlyArray<unknown> =>
  cause.reasons.flatMap((reason) =>
    reason._tag === "Fail" ? [reason.error] : reason._tag === "Die" ? [reason.defect] : [],
  )
