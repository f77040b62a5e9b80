import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Clock, Duration, Effect, Redacted, Semaphore } from "effect"
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

/** A look at the database of a server holds for this long, if no connection has ended since. */
const LOOK_HOLDS = Duration.seconds(1)

/**
 * Looks at the database before connections to it are opened, and keeps why none may be: after a loss, another server may be at the
 * address, which knows nothing of the cell's accounts and keys.
 */
const watch = Effect.fnUntraced(function* (cell: CellName, server: () => CellServer, ended: () => number) {
  const clock = yield* Clock.Clock
  const turn = Semaphore.makeUnsafe(1)
  const now = () => MonotonicClock.millisOf(clock)
  let last = { at: now(), ended: 0, refusal: undefined as string | undefined }
  const look = Effect.gen(function* () {
    const began = { at: now(), ended: ended() }
    if (began.at - last.at < Duration.toMillis(LOOK_HOLDS) && began.ended === last.ended) return
    const refusal = yield* CellDatabase.recognize(server()).pipe(
      Effect.match({ onFailure: ({ message }) => message, onSuccess: () => undefined }),
    )
    if (refusal !== undefined && refusal !== last.refusal)
      yield* Effect.logWarning(`a cell is not served: ${refusal}`, { cell })
    last = { ...began, refusal }
  })
  return { look: turn.withPermit(look), refusal: () => last.refusal }
})

/**
 * Makes the sockets of a cell's own server, once it is the right one and has the tables of this release. When the cell gets
 * another address, such as that of a promoted standby, all connections are closed and the next ones go there.
 */
export const make = Effect.fnUntraced(function* (cell: CellName, server: CellServer) {
  const { serverOf } = yield* Cells
  yield* prepared(cell, server)
  let current = server
  const watched = yield* watch(
    cell,
    () => current,
    () => sockets.ended(),
  )
  const sockets: Sockets.OpenSockets = Sockets.make(() => current.url, watched.refusal)
  const follow = Effect.gen(function* () {
    const next = yield* serverOf(cell)
    if (next === undefined || Redacted.value(next.url) === Redacted.value(current.url)) return
    yield* prepared(cell, next)
    current = next
    sockets.closeAll()
    yield* Effect.logInfo("a cell has another address; its connections go there", { cell })
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignoreCause(follow), Effect.sleep(LOOK_EVERY))))
  // The driver asks for the password before it opens a connection. A move of Citus is noticed by the node itself.
  const password = Effect.map(server.isNode ? Effect.void : watched.look, () =>
    Redacted.make(decodeURIComponent(new URL(Redacted.value(current.url)).password)),
  )
  return { sockets, url: () => current.url, password }
})
