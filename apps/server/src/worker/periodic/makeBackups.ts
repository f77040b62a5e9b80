import { Cause, Duration, Effect, type Redacted } from "effect"
import * as BackupFolder from "../../operate/BackupFolder.ts"

/** How often the age of the newest backup is compared, so that a clock that was set has an effect soon. */
const LOOK_EVERY = Duration.minutes(1)
/** Pause after a backup that failed. */
const RETRY_AFTER = Duration.minutes(10)

export interface BackupSchedule {
  readonly url: Redacted.Redacted
  readonly folder: string
  readonly every: Duration.Duration
  readonly keep: number
}

/** Makes backups until the scope closes, each as soon as the newest one in the folder is old enough. */
export const makeBackups = Effect.fn("makeBackups")(function* ({ every, folder, keep, url }: BackupSchedule) {
  yield* BackupFolder.clean(folder)
  const makeIfDue = Effect.gen(function* () {
    if ((yield* BackupFolder.age(folder)) < Duration.toMillis(every)) return LOOK_EVERY
    const { bytes, elsewhere, expired, file } = yield* BackupFolder.add(url, folder, keep)
    yield* Effect.logInfo("backup was made", { file, bytes, expired })
    if (elsewhere.length > 0)
      yield* Effect.logWarning("cells with a server of their own are not in the backup", { cells: elsewhere })
    return LOOK_EVERY
  }).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.as(Effect.logError("backup failed; it will be retried", cause), RETRY_AFTER),
    ),
  )
  return yield* Effect.forever(Effect.flatMap(makeIfDue, Effect.sleep))
})
