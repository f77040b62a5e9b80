import { Cause, Option } from "effect"
import { SqlError } from "effect/sql"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Why the database cannot be used: one line for /readyz and the log, without host names and secrets. */
export interface Problem {
  readonly text: string
  readonly cause: Cause.Cause<unknown>
}

/** Returns why the database refuses writes, if an error says so; the data of the request is not to blame then. */
export const problemOf = (cause: Cause.Cause<unknown>): Problem | undefined => {
  const failed = Option.getOrUndefined(Cause.findErrorOption(cause))
  const error = failed instanceof StoreUnavailable ? failed.cause : failed
  const text = error instanceof SqlError.SqlError ? SqlErrors.writesRefused(error) : undefined
  return text === undefined ? undefined : { text, cause }
}
