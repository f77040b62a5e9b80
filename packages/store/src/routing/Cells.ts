import type { AccountId } from "@waybill/domain/values/Id"
import { Context, Duration, Effect, Redacted } from "effect"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as CellNames from "./CellName.ts"
import { type CellName, FIRST } from "./CellName.ts"
import type { CellServer } from "./CellKeys.ts"
import { CurrentCell } from "./CurrentCell.ts"
import * as StrayAccounts from "./StrayAccounts.ts"

/** Finds the cell of an account. Requests of an account that is being moved wait here for the end of its move. */
export interface CellsShape {
  /** Names of all cells, the first one first. */
  readonly names: Effect.Effect<ReadonlyArray<CellName>, StoreUnavailable>
  /** The server of a cell's own; undefined for a schema of the first cell's server. */
  readonly serverOf: (cell: CellName) => Effect.Effect<CellServer | undefined, StoreUnavailable>
  /** Mark of a cell, which a removed one of its name does not have, as far as this process knows; undefined for no cell. */
  readonly markOf: (cell: CellName) => string | undefined
  readonly of: (account_id: string) => Effect.Effect<CellName, StoreUnavailable>
  /** `of` without waiting: undefined while the account's requests wait for the end of its move. */
  readonly ofUnlessFenced: (account_id: string) => Effect.Effect<CellName | undefined, StoreUnavailable>
  /** The cell of the account of an API key, by the key's hash; the first cell for an unknown key. */
  readonly ofKey: (hash: string) => Effect.Effect<CellName, StoreUnavailable>
  /** The cell of the account of a user; the first cell for an unknown user. */
  readonly ofUser: (user_id: string) => Effect.Effect<CellName, StoreUnavailable>
  /** The live accounts whose ids begin with a text. */
  readonly beginningWith: (start: string) => Effect.Effect<ReadonlyArray<AccountId>, StoreUnavailable>
  /** The accounts that may have verified one of these domains; undefined while there is only the first cell. */
  readonly ofDomains: (names: ReadonlyArray<string>) => Effect.Effect<DomainAccounts | undefined, StoreUnavailable>
  /** Whether there was only the first cell a moment ago, so that no commit can be in the wrong one. */
  readonly isCertainlyAlone: () => boolean
  /**
   * Accounts whose pending work is not to be started in a cell: those that are about to move, and those whose rows in this cell
   * are copies of an unfinished move, or what it has left behind.
   */
  readonly notToStart: (cell: CellName) => Effect.Effect<ReadonlySet<string>, StoreUnavailable>
  /** Accounts with rows in a cell that is not theirs, by that cell: copies before the switch of a move, and what is left after it. */
  readonly strays: Effect.Effect<ReadonlyMap<CellName, ReadonlySet<string>>, StoreUnavailable>
  /** Reads the cells again, after a change by this process. */
  readonly refresh: Effect.Effect<void, StoreUnavailable>
}

export interface DomainAccounts {
  readonly account_ids: ReadonlyArray<string>
  /** Cells whose domains the directory does not have yet. */
  readonly unlisted: ReadonlyArray<CellName>
}

const one: CellsShape = {
  names: Effect.succeed([FIRST]),
  serverOf: () => Effect.undefined,
  markOf: () => undefined,
  of: () => Effect.succeed(FIRST),
  ofUnlessFenced: () => Effect.succeed(FIRST),
  ofKey: () => Effect.succeed(FIRST),
  ofUser: () => Effect.succeed(FIRST),
  beginningWith: () => Effect.succeed([]),
  ofDomains: () => Effect.undefined,
  isCertainlyAlone: () => true,
  notToStart: () => Effect.succeed(StrayAccounts.NONE),
  strays: Effect.succeed(new Map()),
  refresh: Effect.void,
}

/** The cells of the database; without a directory of them there is only the first one. */
export const Cells = Context.Reference<CellsShape>("@waybill/store/routing/Cells", { defaultValue: () => one })

/** The schema of a cell's tables. A Postgres of its own has them where every database has those of its first cell. */
export const schemaOf = (cell: CellName): Effect.Effect<string, StoreUnavailable> =>
  cell === FIRST
    ? Effect.succeed(FIRST)
    : Effect.flatMap(Cells, ({ serverOf }) => Effect.map(serverOf(cell), (server) => server?.schema ?? cell))

/** URL for connections of their own to a cell, by the URL of the first one. */
export const urlOf = (url: Redacted.Redacted, cell: CellName): Effect.Effect<Redacted.Redacted, StoreUnavailable> =>
  Effect.flatMap(Cells, ({ serverOf }) =>
    Effect.map(serverOf(cell), (server) => (server === undefined ? CellNames.urlOf(url, cell) : server.url)),
  )

/** `urlOf` for statements that make, change or lock tables: on Citus, only the coordinator takes them. */
export const definitionUrlOf = (
  url: Redacted.Redacted,
  cell: CellName,
): Effect.Effect<Redacted.Redacted, StoreUnavailable> =>
  Effect.flatMap(Cells, ({ serverOf }) =>
    Effect.map(serverOf(cell), (server) =>
      server === undefined || server.isNode ? CellNames.urlOf(url, cell) : server.url,
    ),
  )

/** Ends when the fiber's cell has another address than a connection was opened with. */
export const addressChanged = (url: Redacted.Redacted, first: Redacted.Redacted) =>
  Effect.delay(
    Effect.flatMap(CurrentCell, (cell) => urlOf(first, cell)),
    LOOK_EVERY,
  ).pipe(
    // Without the directory the address is as before.
    Effect.orElseSucceed(() => url),
    Effect.repeat({ until: (now) => Redacted.value(now) !== Redacted.value(url) }),
    Effect.asVoid,
  )

/** Interval at which is looked for another address. */
const LOOK_EVERY = Duration.seconds(1)
