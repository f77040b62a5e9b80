import { Context, Effect, Metric } from "effect"
import { statfs } from "node:fs/promises"
import * as DiskCheck from "../operate/doctor/DiskCheck.ts"

const EMPTY = Context.empty()

const free = Metric.gauge("waybill_data_free_bytes", {
  description: "Free space on the disk of WAYBILL_DATA, where an embedded Postgres stores its files",
})

/** Reads the free space of a folder's disk into its gauge. A read that fails leaves the last value. */
export const make = (folder: string): Effect.Effect<void> =>
  DiskCheck.nearestExisting(folder).pipe(
    Effect.flatMap((existing) => Effect.tryPromise(() => statfs(existing))),
    Effect.tap(({ bavail, bsize }) => Effect.sync(() => free.updateUnsafe(bavail * bsize, EMPTY))),
    Effect.ignore,
  )
