import { Context, Effect, Metric } from "effect"
import { statfs } from "node:fs/promises"
import { existing } from "../operate/doctor/DiskCheck.ts"

const NOWHERE = Context.empty()

const free = Metric.gauge("waybill_data_free_bytes", {
  description: "Room on the disk of WAYBILL_DATA, where an embedded Postgres keeps its files",
})

/** Looks at the disk of a folder, each time it is run; one that cannot be looked at leaves the last number. */
export const make = (folder: string): Effect.Effect<void> =>
  existing(folder).pipe(
    Effect.flatMap((there) => Effect.tryPromise(() => statfs(there))),
    Effect.tap(({ bavail, bsize }) => Effect.sync(() => free.updateUnsafe(bavail * bsize, NOWHERE))),
    Effect.ignore,
  )
