import type { Cause } from "effect"
import { SqlError } from "effect/sql"
import { Failed, type LedgerError, OutcomeUnknown, Poisoned, TryAgain } from "../commit/LogStorage.ts"

/** SQLSTATEs of a connection that the server ended, or would not open now: restarts, timeouts, too many clients. */
const CONNECTION_ENDED = ["57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300"]
/** Classes that speak of somebody's data: data exceptions, and what exceeds a limit of the program. */
const DATA_CLASSES = ["22", "54"]

/** What went wrong, in the words that a flight acts on. */
export const classify = (error: SqlError.SqlError): LedgerError => {
  const cause = error
  switch (error.reason._tag) {
    case "UniqueViolation":
      // The log's own key is the optimistic concurrency.
      return error.reason.constraint === "events_pkey"
        ? new TryAgain({ cause })
        : new Poisoned({ cause, contested: true })
    case "ConstraintError":
      return new Poisoned({ cause })
    case "SerializationError":
    case "DeadlockError":
    case "LockTimeoutError":
      return new TryAgain({ cause })
    case "ConnectionError":
      return new OutcomeUnknown({ cause })
    case "UnknownError": {
      const state = sqlState(error)
      if (CONNECTION_ENDED.includes(state)) return new OutcomeUnknown({ cause })
      // Without a state it is the driver that could not write a parameter down.
      return state === "" || DATA_CLASSES.includes(state.slice(0, 2)) ? new Poisoned({ cause }) : new Failed({ cause })
    }
    default:
      return new Failed({ cause })
  }
}

/** Whether the database was not there, so that nothing is wrong with what was to be read or written. */
export const isAway = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => {
    const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    return error instanceof SqlError.SqlError && classify(error)._tag === "OutcomeUnknown"
  })

const sqlState = (error: SqlError.SqlError): string => {
  const cause: unknown = error.reason.cause
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}
