import { Effect, type Redacted } from "effect"
import type pg from "pg"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as Cells from "../routing/Cells.ts"
import { CurrentCell } from "../routing/CurrentCell.ts"
import * as CellDatabase from "./CellDatabase.ts"

/** The server of the fiber's database, for connections of one's own. */
export interface OwnServer {
  readonly url: Redacted.Redacted
  /** Statement that returns whether its session is in the database; undefined if the address says so. */
  readonly isOwn: string | undefined
  /** Refuses a session in another database, which may be at the address since the last look. */
  readonly refuseOther: (client: pg.ClientBase) => Promise<void>
  /** Whether it is a node of Citus. */
  readonly isNode: boolean
  /** Ends when the database has another address. */
  readonly changed: Effect.Effect<void>
}

/** Returns the server of the fiber's database, by the URL of home. */
export const here = Effect.fnUntraced(function* (
  home: Redacted.Redacted,
): Effect.fn.Return<OwnServer, StoreUnavailable> {
  const cell = yield* CurrentCell
  const url = yield* Cells.urlOf(home, cell)
  const server = yield* (yield* Cells.Cells).serverOf(cell)
  return {
    url,
    isOwn: server === undefined ? undefined : CellDatabase.isOwn(server),
    refuseOther: (client) => CellDatabase.requireOwn(server, client),
    isNode: server?.isNode === true,
    changed: Cells.addressChanged(url, home),
  }
})
