import * as Table from "@waybill/domain/values/Table"
import { Effect, Exit } from "effect"
import { SqlError } from "effect/sql"
import { StoreUnavailable, type Unavailability } from "./StoreUnavailable.ts"
import {
  AccountElsewhere,
  DirectoryAway,
  Failed,
  OutcomeUnknown,
  RowRejected,
  type StorageError,
  TryAgain,
} from "./StorageError.ts"

/** SQLSTATEs of connections that the server closed or refused to open for now: restarts, timeouts, too many clients. */
const CONNECTION_ENDED = ["57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300"]
/** SQLSTATE class of a connection that the server refuses to the role: its password or its rights have changed. */
const REFUSED_CLASS = "28"
/** Primary key of the log. On a node of Citus, the name ends with the number of a shard. */
const LOG_KEY = /^events_pkey(?:_\d+)?$/u
/** `LOG_KEY` while Citus passes the rows on to another node, which happens during a move: it tells of the key in words only. */
const FORWARDED_LOG_KEY = /violates unique constraint "events_pkey_\d+"/u
/** SQLSTATE classes of errors that one row causes: data exceptions (22) and exceeded program limits (54). */
const DATA_CLASSES = ["22", "54"]

/**
 * A cell has moved to another node of Citus: the former one has its positions, windows and signs of life no more, or a statement was
 * on its way to a table there, whose name has the number of a shard. Like a lost connection, because the next one goes elsewhere.
 */
const MOVED_STATE = "42P01"
const MOVED_TABLE = /"(?:event_position|rate_windows|log_epochs|process(?:es|_number)|[^"]+_\d{6,})"/u

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
      if (FORWARDED_LOG_KEY.test(messageOf(error))) return new TryAgain({ cause })
      // An error without a state comes from the driver, which could not encode a parameter.
      return state === "" || DATA_CLASSES.includes(state.slice(0, 2))
        ? new RowRejected({ cause })
        : new Failed({ cause })
    }
    default:
      return hasMoved(error) ? new OutcomeUnknown({ cause }) : new Failed({ cause })
  }
}

/** Whether the server refuses connections of this role, so that nothing was sent. */
export const isRoleRefused = (error: SqlError.SqlError): boolean => sqlState(error).startsWith(REFUSED_CLASS)

const messageOf = ({ reason: { cause } }: SqlError.SqlError): string => (cause instanceof Error ? cause.message : "")

const hasMoved = (error: SqlError.SqlError): boolean =>
  sqlState(error) === MOVED_STATE && MOVED_TABLE.test(messageOf(error))

/** SQLSTATEs with which a server refuses every write. */
const WRITES_REFUSED: { readonly [state: string]: string } = {
  "53100": "the disk of the database is full (ENOSPC)",
  "58030": "the database cannot read or write its files",
  "25006": "the database is read-only",
}

/** Returns why the server refuses writes, if an error says so: one line, without host names and secrets. */
export const writesRefused = (error: SqlError.SqlError): string | undefined =>
  isConnectionLost(error) ? undefined : Table.at(WRITES_REFUSED, sqlState(error))

/** Whether the connection was lost or refused. */
export const isConnectionLost = (error: SqlError.SqlError): boolean => classify(error)._tag === "OutcomeUnknown"

/** Returns why the store cannot be used by an error; undefined for an error that is a bug. */
const whyOf = (error: SqlError.SqlError): Unavailability | undefined => {
  if (isConnectionLost(error)) return "lost"
  if (isRoleRefused(error)) return "away"
  if (writesRefused(error) !== undefined) return "refuses-writes"
  switch (error.reason._tag) {
    case "StatementTimeoutError":
    case "LockTimeoutError":
      return "timed-out"
    case "DeadlockError":
    case "SerializationError":
      return "conflict"
    default:
      return undefined
  }
}

/** The outcome of work that ended with an error: unavailable, or a defect if the error is a bug. */
export const outcomeOf = (error: unknown): Exit.Exit<never, StoreUnavailable> => {
  if (error instanceof StoreUnavailable) return Exit.fail(error)
  if (error instanceof SqlError.SqlError) {
    // A database that could not be reached, so that nothing was sent.
    if (error.reason.cause instanceof StoreUnavailable) return Exit.fail(error.reason.cause)
    const why = whyOf(error)
    return why === undefined ? Exit.die(error) : Exit.fail(new StoreUnavailable({ why, cause: error }))
  }
  if (!isStorageError(error)) return Exit.die(error)
  const outcome = outcomeOf(error.cause)
  return error instanceof OutcomeUnknown && Exit.hasDies(outcome)
    ? Exit.fail(new StoreUnavailable({ why: "lost", cause: error }))
    : outcome
}

const isStorageError = (error: unknown): error is StorageError =>
  error instanceof TryAgain ||
  error instanceof RowRejected ||
  error instanceof AccountElsewhere ||
  error instanceof DirectoryAway ||
  error instanceof OutcomeUnknown ||
  error instanceof Failed

/** Translates the errors of statements: the one place where a database error becomes `StoreUnavailable` or a defect. */
export const orUnavailable = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError.SqlError, R>,
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | StoreUnavailable, R> =>
  Effect.catch(effect, (error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | StoreUnavailable> =>
    error instanceof SqlError.SqlError ? outcomeOf(error) : Effect.fail(error as Exclude<E, SqlError.SqlError>),
  )

/** Returns the SQLSTATE of an error; empty for one that does not come from the server. */
export const sqlState = (error: SqlError.SqlError): string => {
  const cause: unknown = error.reason.cause
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}

/** Classifies the errors of work in a transaction of the log. */
export const asStorageErrors = <A>(
  effect: Effect.Effect<A, SqlError.SqlError | StorageError | StoreUnavailable>,
): Effect.Effect<A, StorageError> => Effect.mapError(effect, storageErrorOf)

const storageErrorOf = (error: SqlError.SqlError | StorageError | StoreUnavailable): StorageError => {
  if (error instanceof SqlError.SqlError) return classify(error)
  if (!(error instanceof StoreUnavailable)) return error
  return error.cause instanceof SqlError.SqlError ? classify(error.cause) : new OutcomeUnknown({ cause: error })
}
