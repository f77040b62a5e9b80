import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { type Clock, Duration, Effect, Semaphore } from "effect"
import { away, type StoreUnavailable } from "../../postgres/StoreUnavailable.ts"
import type { ClientOf } from "../RoutedClient.ts"
import type { CellName } from "../CellName.ts"

/** Age at which what a server says of the accounts that have left its cell is read again, and time limit of the read. */
const TRUSTED_FOR = Duration.seconds(1)
/** Time after an account has left a cell by which every process knows, also one that cannot read the directory. */
export const NOTICED_AFTER = Duration.seconds(2)

/** The accounts that have left a cell with a server of its own, as that server says. */
export interface Departures {
  readonly of: (cell: CellName) => Effect.Effect<ReadonlySet<string>, StoreUnavailable>
}

interface Known {
  left: ReadonlySet<string>
  until: number
  readonly turn: Semaphore.Semaphore
}

export const make = (clock: Clock.Clock, clientOf: ClientOf): Departures => {
  const now = () => MonotonicClock.millisOf(clock)
  const cells = new Map<CellName, Known>()
  const read = Effect.fnUntraced(function* (cell: CellName, known: Known) {
    if (now() < known.until) return known.left
    const began = now()
    const sql = yield* clientOf(cell)
    const rows = yield* sql<{ readonly account_id: string }>`SELECT account_id FROM left_accounts`
    known.left = new Set(rows.map(({ account_id }) => account_id))
    known.until = began + Duration.toMillis(TRUSTED_FOR)
    return known.left
  })
  return {
    of: (cell) =>
      Effect.suspend(() => {
        const known = cells.get(cell) ?? { left: new Set(), until: -Infinity, turn: Semaphore.makeUnsafe(1) }
        cells.set(cell, known)
        if (now() < known.until) return Effect.succeed(known.left)
        // A server that does not answer is away, as for everything else.
        return Effect.catchCause(Effect.timeout(known.turn.withPermit(read(cell, known)), TRUSTED_FOR), () =>
          Effect.fail(away()),
        )
      }),
  }
}
