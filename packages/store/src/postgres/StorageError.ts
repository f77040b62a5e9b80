import { Data } from "effect"
import { away } from "./StoreUnavailable.ts"

/** Another transaction appended first, or the database asked for a retry: the batch is decided again from new state. */
export class TryAgain extends Data.TaggedError("TryAgain")<{ readonly cause: unknown }> {}
/** The database refuses one row of the batch; the other commits of the batch are not to blame. */
export class RowRejected extends Data.TaggedError("RowRejected")<{
  readonly cause: unknown
  /** Whether a unique value is taken. Decided again on its own, the commit sees that and can refuse in its own words. */
  readonly isDuplicate?: boolean
}> {}
/** An account of the batch has left the database since its commit was submitted. The commits of others are not to blame. */
export class AccountElsewhere extends Data.TaggedError("AccountElsewhere") {
  override readonly cause = away()
}
/** Home does not take the new names of the batch for its directory. Commits without names are not to blame. */
export class DirectoryAway extends Data.TaggedError("DirectoryAway") {
  override readonly cause = away()
}
/** The connection was lost, or none could be opened: the transaction may or may not have been committed. */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{ readonly cause: unknown }> {}
/** No row is to blame and a retry does not help: a missing privilege, a full disk, a statement that takes too long. */
export class Failed extends Data.TaggedError("Failed")<{ readonly cause: unknown }> {}
export type StorageError = TryAgain | RowRejected | AccountElsewhere | DirectoryAway | OutcomeUnknown | Failed
