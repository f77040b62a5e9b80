import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Backup from "@waybill/store/backup/Backup"
import { Clock, Effect, type Redacted } from "effect"
import { mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import * as Version from "../process/Version.ts"

/** Names of the backups that Waybill makes and removes. They sort by their time; all other files are left alone. */
const NAME = /^waybill-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d)-(\d{3}Z)\.backup$/u

export const nameAt = (millis: number): string =>
  `waybill-${Timestamp.fromMillis(millis).replaceAll(":", "-").replace(".", "-")}.backup`

const timeOf = (name: string): number =>
  Date.parse(
    name.replace(
      NAME,
      (_, day: string, hour: string, minute: string, second: string, millis: string) =>
        `${day}${hour}:${minute}:${second}.${millis}`,
    ),
  )

/** Returns the names of the backups in a folder, the newest one first. A folder that cannot be read has none. */
const namesIn = (folder: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.tryPromise(() => readdir(folder)).pipe(
    Effect.orElseSucceed((): Array<string> => []),
    Effect.map((names) =>
      names
        .filter((name) => NAME.test(name))
        .toSorted()
        .toReversed(),
    ),
  )

/** Returns the age of the newest backup; infinite if there is none. */
export const age = Effect.fnUntraced(function* (folder: string) {
  const [newest] = yield* namesIn(folder)
  const now = yield* Clock.currentTimeMillis
  return newest === undefined ? Infinity : Math.max(0, now - timeOf(newest))
})

/** Makes a backup in a folder, and removes the oldest ones beyond `keep`. */
export const add = Effect.fn("BackupFolder.add")(function* (url: Redacted.Redacted, folder: string, keep: number) {
  yield* Effect.promise(() => mkdir(folder, { recursive: true, mode: 0o700 }))
  const file = join(folder, nameAt(yield* Clock.currentTimeMillis))
  const made = yield* Backup.make(url, file, Version.VERSION)
  const expired = (yield* namesIn(folder)).slice(keep)
  yield* Effect.forEach(expired, (name) => Effect.promise(() => rm(join(folder, name), { force: true })), {
    discard: true,
  })
  return { file, ...made, expired: expired.length }
})

/** Removes what a process left that died while it wrote a backup. */
export const clean = (folder: string): Effect.Effect<void> =>
  Effect.ignore(
    Effect.tryPromise(async () => {
      for (const name of await readdir(folder))
        if (name.endsWith(Backup.UNFINISHED) && NAME.test(name.slice(0, -Backup.UNFINISHED.length)))
          await rm(join(folder, name), { force: true })
    }),
  )
