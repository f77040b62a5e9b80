import { Duration, Effect, Redacted } from "effect"
import { SqlError } from "effect/sql"
import { away } from "../postgres/StoreUnavailable.ts"
import * as Sockets from "../postgres/Sockets.ts"
import type { CellName } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import type { CellServer } from "../routing/CellKeys.ts"
import * as CellDatabase from "./CellDatabase.ts"

/** Interval at which a process looks whether a cell has got another address. */
const LOOK_EVERY = Duration.seconds(1)

/** Nothing was sent to the cell, so that its requests are answered 503. */
const notServed = (message: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: away(), message, operation: "open" }),
  })

const prepared = (cell: CellName, server: CellServer) =>
  CellDatabase.prepare(server).pipe(
    Effect.tapError(({ message }) => Effect.logWarning(`a cell is not served: ${message}`, { cell })),
    Effect.mapError(({ message }) => notServed(message)),
  )

/**
 * Makes the sockets of a cell's own server, once it is the right one and has the tables of this release. When the cell gets
 * another address, such as that of a promoted standby, all connections are closed and the next ones go there.
 */
export const make = Effect.fnUntraced(function* (cell: CellName, server: CellServer) {
  const { serverOf } = yield* Cells
  yield* prepared(cell, server)
  let current = server
  const sockets = Sockets.make(() => current.url)
  const follow = Effect.gen(function* () {
    const next = yield* serverOf(cell)
    if (next === undefined || Redacted.value(next.url) === Redacted.value(current.url)) return
    yield* prepared(cell, next)
    current = next
    sockets.closeAll()
    yield* Effect.logInfo("a cell has another address; its connections go there", { cell })
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignoreCause(follow), Effect.sleep(LOOK_EVERY))))
  return sockets
})
