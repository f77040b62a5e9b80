import { Effect } from "effect"
import { constants } from "node:fs"
import { access, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import * as Finding from "./Finding.ts"

const found = Finding.of("disk")

const MIB = 1024 * 1024

/** Free space for a warning and for a failure. A busy instance writes about 1 GiB in a day or two. */
export const SPACE = { low: 1024 * MIB, least: 128 * MIB } as const
/** Minimum number of free inodes, since Postgres creates thousands of files. */
export const LEAST_FILES = 10_000

export interface Folder {
  readonly path: string
  /** Whether an embedded Postgres stores its files there, or only the instance key is. */
  readonly database: boolean
}

/** Checks that the data folder can be written and has free space. */
export const check = Effect.fnUntraced(function* (
  { database, path }: Folder,
  space: { readonly low: number; readonly least: number } = SPACE,
) {
  const folder = yield* nearestExisting(path)
  const writable = yield* Effect.isSuccess(Effect.tryPromise(() => access(folder, constants.W_OK | constants.X_OK)))
  if (!writable)
    return found.broken(
      `${folder} cannot be written`,
      "Make the user that runs Waybill the owner of the folder, or set WAYBILL_DATA.",
    )
  const { bavail, bsize, ffree, files } = yield* Effect.promise(() => statfs(folder))
  const free = bavail * bsize
  const result = `${Math.floor(free / MIB)} MiB free for ${path}`
  const fix = "Free space, or move WAYBILL_DATA to a larger disk while the service is stopped."
  if (free < space.least) return found.problem(database ? "broken" : "warning", result, fix)
  // Some file systems have no fixed number of inodes and report 0 of 0.
  if (database && files > 0 && ffree < LEAST_FILES)
    return found.broken(`only ${ffree} inodes free for ${path}`, "Free inodes: delete small files there.")
  if (database && free < space.low) return found.warning(result, fix)
  return found.ok(result)
})

/** Returns the folder, or before the first start its nearest parent that exists. */
export const nearestExisting = (path: string): Effect.Effect<string> =>
  Effect.flatMap(Effect.isSuccess(Effect.tryPromise(() => access(path))), (exists) =>
    exists || dirname(path) === path ? Effect.succeed(path) : nearestExisting(dirname(path)),
  )
