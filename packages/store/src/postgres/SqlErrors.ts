import type { Cause } from "effect"
import { SqlError } from "effect/sql"
import { NotConfirmed, Unavailable } from "../availability/Unavailable.ts"
import { Failed, OutcomeUnknown, RowRejected, type StorageError, TryAgain } from "../commit/LogStorage.ts"

/** SQLSTATEs of connections that the server closed or refused to open for now: restarts, timeouts, too many clients. */
const CONNECTION_ENDED = ["57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300"]
/** Primary key of the log; on a node of Citus the name ends with the number of a shard. */
const LOG_KEY = /^events_pkey(?:_\d+)?$/u
const FOREIGN_KEY_VIOLATION = "23503"
/** SQLSTATE classes of errors that one row causes: data exceptions (22) and exceeded program limits (54). */
const DATA_CLASSES = ["22", "54"]

/** Classifies a database error by what a batch has to do about it. */
export const classify = (error: SqlError.SqlError): StorageError => {
  const cause = error
  switch (error.reason._tag) {
    case "UniqueViolation":
      // The primary key of the log is the optimistic concurrency check.
      return LOG_KEY.test(error.reason.constraint)
        ? new TryAgain({ cause })
        : new RowRejected({ cause, isDuplicate: true })
    case "ConstraintError":
      // The expiry removed a template of the batch. It is inserted again with the batch.
      if (sqlState(error) === FOREIGN_KEY_VIOLATION) return new TryAgain({ cause })
      return new RowRejected({ cause })
    case "SerializationError":
    case "DeadlockError":
    case "LockTimeoutError":
      return new TryAgain({ cause })
    case "ConnectionError":
      return new OutcomeUnknown({ cause })
    case "UnknownError": {
      const state = sqlState(error)
      if (CONNECTION_ENDED.includes(state)) return new OutcomeUnknown({ cause })
      // An error without a state comes from the driver, which could not encode a parameter.
      return state === "" || DATA_CLASSES.includes(state.slice(0, 2))
        ? new RowRejected({ cause })
        : new Failed({ cause })
    }
    default:
      return new Failed({ cause })
  }
}

/** Returns whether a cause is a lost or refused connection or an unavailable database: the data itself is not to blame. */
export const isConnectionLost = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => {
    const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    if (error instanceof SqlError.SqlError) return classify(error)._tag === "OutcomeUnknown"
    return error instanceof OutcomeUnknown || error instanceof Unavailable || error instanceof NotConfirmed
  })

/** Returns the SQLSTATE of an error; empty for one that does not come from the server. */
export const sqlState = (error: SqlError.SqlError): string => {
  const cause: unknown = error.reason.cause
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}
