import { Context, Effect, Metric } from "effect"
import * as BackupFolder from "../operate/BackupFolder.ts"

const EMPTY = Context.empty()

const age = Metric.gauge("waybill_backup_age_seconds", {
  description: "Age of the newest backup in BACKUP_TO; +Inf if there is none",
})

/** Reads the age of the newest backup in a folder into its gauge. */
export const make = (folder: string | undefined): Effect.Effect<void> =>
  folder === undefined
    ? Effect.void
    : Effect.map(BackupFolder.age(folder), (millis) => age.updateUnsafe(millis / 1000, EMPTY))
