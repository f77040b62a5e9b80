import type { Refusal } from "@waybill/domain/values/Refusal"
import { Cause, Context, Data, type Duration, Effect, Option } from "effect"

/** Seconds that a client should wait before it sends a request again. */
export const RETRY_SECONDS = 5
/** Seconds to wait while an upgrade is in progress. */
export const UPGRADE_RETRY_SECONDS = 30

/**
 * Why the store cannot be used:
 * - `away`: nothing was sent, because home or the database of an account is known to be away
 * - `refuses-writes`: the disk of the database is full, or the server is read-only
 * - `lost`: the connection was lost or refused; what was sent on it may have been committed
 * - `not-confirmed`: a COMMIT was sent, and the caller waits for its answer no longer
 * - `timed-out`: a statement, or its wait for a lock, was canceled at its time limit
 * - `conflict`: a deadlock, or another conflict with a concurrent transaction
 * - `upgrading`: a node of an older release, which still runs, could not read an event of the commit
 */
export type Unavailability =
  | "away"
  | "refuses-writes"
  | "lost"
  | "not-confirmed"
  | "timed-out"
  | "conflict"
  | "upgrading"

const NOTHING_ACCEPTED: ReadonlySet<Unavailability> = new Set(["away", "refuses-writes", "upgrading"])
const CONNECTION_LOST: ReadonlySet<Unavailability> = new Set(["away", "lost", "not-confirmed"])

interface Args {
  readonly why: Unavailability
  readonly cause?: unknown
  readonly retry_after_s?: number
}

/**
 * The store cannot be used for now. Its modules fail with this one error, which each door translates once; whatever else the
 * database refuses is a bug, and a defect. It has the shape of a refusal because every endpoint may fail with it.
 */
export class StoreUnavailable
  extends Data.TaggedError("StoreUnavailable")<{ readonly why: Unavailability; readonly cause?: unknown }>
  implements Refusal
{
  readonly retry_after_s?: number
  constructor({ retry_after_s, ...args }: Args) {
    super(args)
    const usual = args.why === "upgrading" ? UPGRADE_RETRY_SECONDS : RETRY_SECONDS
    if (this.isNothingAccepted) this.retry_after_s = retry_after_s ?? usual
  }
  /** Whether nothing was accepted, so that the same request can be sent again. The contract promises that for every 503. */
  get isNothingAccepted(): boolean {
    return NOTHING_ACCEPTED.has(this.why)
  }
  /** Whether the database, or the connection to it, is away: the data of the work is not to blame. */
  get isConnectionLost(): boolean {
    return CONNECTION_LOST.has(this.why)
  }
  get status(): 500 | 503 {
    return this.isNothingAccepted ? 503 : 500
  }
  get reason(): "unavailable" | "outcome_unknown" | "upgrade_in_progress" {
    if (this.why === "upgrading") return "upgrade_in_progress"
    return this.isNothingAccepted ? "unavailable" : "outcome_unknown"
  }
  /** For the log the message of the cause; for a client, who gets no cause, what to do. */
  override get message() {
    if (this.cause instanceof Error) return this.cause.message
    if (this.why === "upgrading")
      return (
        "An upgrade is in progress: this feature is available once no node of the former release is running. " +
        "Nothing was changed; repeat the request later."
      )
    return this.isNothingAccepted
      ? `The service cannot use its database at the moment. Nothing was accepted; send the request again after ${this.retry_after_s} s.`
      : "The database did not confirm this request in time, so it may or may not have been accepted. Send it again with the " +
          "same Idempotency-Key; a request that had none may take effect twice, so look for its effect first."
  }
  /** Returns the refusal of a client. A request that only reads has changed nothing. */
  forClient(isRead: boolean): StoreUnavailable {
    if (this.why === "upgrading") return this
    return new StoreUnavailable({ why: isRead || this.isNothingAccepted ? "away" : "not-confirmed" })
  }
}

/** A database is known to be away: nothing was sent. */
export const away = (): StoreUnavailable => new StoreUnavailable({ why: "away" })

/** Whether work ended because the database, or the connection to it, is away. */
export const isConnectionLost = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.findErrorOption(cause), (error) => error instanceof StoreUnavailable && error.isConnectionLost)

/** Runs work that can fail only because the store cannot be used. Any other error is a bug. */
export const onlyUnavailable = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, StoreUnavailable, R> =>
  Effect.catch(work, (error) => (error instanceof StoreUnavailable ? Effect.fail(error) : Effect.die(error)))

/** Whether the fiber's database cannot be used, which the watch of it logs once. Never without a watch. */
export const IsAway = Context.Reference<Effect.Effect<boolean>>("@waybill/store/postgres/StoreUnavailable/IsAway", {
  defaultValue: () => Effect.succeed(false),
})

/**
 * Logs that work failed which will be done again, but not because the database is away: otherwise each loop of the process would
 * write its line, again and again. A bug is always logged.
 */
export const unlessAway = (line: Effect.Effect<void>, cause: Cause.Cause<unknown> = Cause.empty): Effect.Effect<void> =>
  Cause.hasDies(cause) ? line : Effect.flatMap(Effect.flatten(IsAway), (isAway) => (isAway ? Effect.void : line))

interface OnFailure {
  /** Line of the log, unless only the database is away. */
  readonly failed: string
  readonly retryAfter: Duration.Duration
}

/** Does work again and again until the scope closes, each time after the pause that it returned. No failure ends that. */
export const repeatWork = <E, R>(work: Effect.Effect<Duration.Duration, E, R>, { failed, retryAfter }: OnFailure) =>
  work.pipe(
    Effect.catchCause((cause) => Effect.as(unlessAway(Effect.logWarning(failed, cause), cause), retryAfter)),
    Effect.flatMap(Effect.sleep),
    Effect.forever,
    Effect.forkScoped,
  )
