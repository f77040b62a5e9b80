import { Effect } from "effect"
import { constants } from "node:fs"
import { access, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import { broken, ok, trouble, warning } from "./Finding.ts"

const MIB = 1024 * 1024

/** A gigabyte is a day or two of a busy instance; below a few segments of its write-ahead log Postgres stops. */
export const SPACE = { low: 1024 * MIB, least: 128 * MIB } as const
/** A Postgres makes files by the thousand. */
export const LEAST_FILES = 10_000

export interface Folder {
  readonly path: string
  /** Whether our own Postgres keeps its files there, or only the instance's key. */
  readonly database: boolean
}

/** The folder of the data: whether it can be written, and what room there is. */
export const disk = ({ database, path }: Folder, space: { readonly low: number; readonly least: number } = SPACE) =>
  Effect.gen(function* () {
    const there = yield* existing(path)
    const writable = yield* Effect.isSuccess(Effect.tryPromise(() => access(there, constants.W_OK | constants.X_OK)))
    if (!writable) {
      return broken(
        "disk",
        `${there} cannot be written`,
        "Give the folder to the user that runs Waybill, or set WAYBILL_DATA.",
      )
    }
    const { bavail, bsize, ffree, files } = yield* Effect.promise(() => statfs(there))
    const free = bavail * bsize
    const words = `${Math.floor(free / MIB)} MiB free where ${path} is`
    const mend = "Free space, or move WAYBILL_DATA to a larger disk while the service is stopped."
    if (free < space.least) return trouble("disk", database ? "broken" : "warning", words, mend)
    // Some file systems have no fixed number of files, and say 0 of 0.
    if (database && files > 0 && ffree < LEAST_FILES) {
      return broken("disk", `only ${ffree} more files fit where ${path} is`, "Free inodes: delete small files there.")
    }
    if (database && free < space.low) return warning("disk", words, mend)
    return ok("disk", words)
  })

/** Before the first start the folder is not there yet: it will be made where its parent is. */
export const existing = (path: string): Effect.Effect<string> =>
  Effect.flatMap(Effect.isSuccess(Effect.tryPromise(() => access(path))), (there) =>
    there || dirname(path) === path ? Effect.succeed(path) : existing(dirname(path)),
  )
