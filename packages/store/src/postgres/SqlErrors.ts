import { type Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import { NotConfirmed, Unavailable } from "./Unavailable.ts"
import { Failed, OutcomeUnknown, RowRejected, type StorageError, TryAgain } from "./StorageError.ts"

/** SQLSTATEs of connections that the server closed or refused to open for now: restarts, timeouts, too many clients. */
const CONNECTION_ENDED = ["57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300"]
/** Citus reports the loss of another node during a statement as an internal error or one of I/O, with texts of these parts: */
const NODE_LOST_STATES = ["XX000", "58030"]
const NODE_LOST = new RegExp(
  [
    // of the node, whose first process was killed,
    "terminating connection due to",
    // of libpq,
    "server closed the connection unexpectedly",
    "could not (?:receive data from|send data to) server",
    "no connection to the server",
    "connection not open",
    "invalid socket",
    // and of Citus itself.
    "failure on connection marked as essential",
    "failed to (?:COPY to shard|complete COPY|prepare transaction)",
  ].join("|"),
  "u",
)
/**
 * Primary key of the log. A node of Citus adds the number of a shard to the name, and the coordinator passes it on only in
 * the message.
 */
const LOG_KEY = /^(?:.*")?events_pkey(?:_\d+)?(?:".*)?$/su
/** Constraint of an error that names none. */
const NO_NAME = "unknown"
const FOREIGN_KEY_VIOLATION = "23503"
/** SQLSTATE classes of errors that one row causes: data exceptions (22) and exceeded program limits (54). */
const DATA_CLASSES = ["22", "54"]

/** Classifies a database error by what a batch has to do about it. */
export const classify = (error: SqlError.SqlError): StorageError => {
  const cause = error
  switch (error.reason._tag) {
    case "UniqueViolation":
      // The primary key of the log is the optimistic concurrency check.
      return LOG_KEY.test(constraintOf(error.reason))
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
      if (CONNECTION_ENDED.includes(state) || isNodeLost(state, error)) return new OutcomeUnknown({ cause })
      // An error without a state comes from the driver, which could not encode a parameter.
      return state === "" || DATA_CLASSES.includes(state.slice(0, 2))
        ? new RowRejected({ cause })
        : new Failed({ cause })
    }
    default:
      return new Failed({ cause })
  }
}

const isNodeLost = (state: string, { reason }: SqlError.SqlError): boolean =>
  NODE_LOST_STATES.includes(state) && reason.cause instanceof Error && NODE_LOST.test(reason.cause.message)

/** Returns the name of the violated constraint, or the message that has it. */
const constraintOf = ({ cause, constraint }: SqlError.UniqueViolation): string =>
  constraint === NO_NAME && cause instanceof Error ? cause.message : constraint

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

/**
 * Turns database errors into storage errors. A connection lost inside a transaction arrives as a defect, because the
 * rollback that follows cannot be sent.
 */
export const asStorageErrors = <A>(
  effect: Effect.Effect<A, SqlError.SqlError | StorageError>,
): Effect.Effect<A, StorageError> =>
  Effect.catchCause(effect, (cause) => {
    for (const reason of cause.reasons) {
      const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
      if (isStorageError(error)) return Effect.fail(error)
      if (error instanceof SqlError.SqlError) return Effect.fail(classify(error))
    }
    return Effect.failCause(cause as Cause.Cause<never>)
  })

const isStorageError = (error: unknown): error is StorageError =>
  error instanceof TryAgain ||
  error instanceof RowRejected ||
  error instanceof OutcomeUnknown ||
  error instanceof Failed
