import * as Livemode from "@waybill/domain/account/Livemode"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { elsewhere } from "../routing/StrayAccounts.ts"
import type { Client, Sql } from "../postgres/Sql.ts"
import { AccountElsewhere, DirectoryAway } from "../postgres/StorageError.ts"
import type { Write } from "./LogStorage.ts"
import * as DirectoryNames from "../readmodels/DirectoryNames.ts"
import * as Databases from "../routing/Databases.ts"
import * as AccountNames from "../routing/directory/AccountNames.ts"

/** The part of a batch that concerns the directory, which says in which database an account is. */
export interface DirectoryPart {
  /** Refuses a batch with an account that has left the database since its commit was submitted. */
  readonly check: (accounts: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError | AccountElsewhere>
  /**
   * Writes the names of the batch, by which requests find the database of an account, before the batch is committed: a
   * name whose commit fails leads to a database where nobody has it.
   */
  readonly write: (write: Write) => Effect.Effect<void, DirectoryAway>
}

export const none: DirectoryPart = { check: () => Effect.void, write: () => Effect.void }

/** Time limit of writing names, so that a directory that hangs does not hold up the other commits of a batch for long. */
const WRITE_WITHIN = "2 seconds"
/** Tracking hosts of a database that a process knows to be in the directory. */
const MAX_WRITTEN = 10_000

/** Makes the part of the batches of the fiber's database. `home` is the client of home, outside the batch's transaction. */
export const make = Effect.fnUntraced(function* (
  sql: Client<SqlError.SqlError>,
  home: Sql,
): Effect.fn.Return<DirectoryPart> {
  const name = yield* Databases.name
  const isHome = yield* Databases.isHome
  const isCertainlyAlone = yield* Databases.isCertainlyAlone
  // A domain is checked again and again, also while home is away.
  const written = new LruCache<string, true>({ maxEntries: MAX_WRITTEN })
  const isUnwritten = ({ kind, name }: AccountNames.Name) => kind !== "tracking_host" || written.get(name) === undefined
  return {
    check: (accounts) =>
      Effect.suspend(() => {
        if (isCertainlyAlone()) return Effect.void
        const live = [...new Set(accounts.map(Livemode.liveAccountOf))]
        return Effect.flatMap(elsewhere(sql, live, name), ({ length }) =>
          length === 0 ? Effect.void : Effect.fail(new AccountElsewhere()),
        )
      }),
    write: ({ changedStreams }) => {
      const names = isHome ? [] : DirectoryNames.ofStreams(changedStreams).filter(isUnwritten)
      if (names.length === 0) return Effect.void
      return Databases.home.run(AccountNames.insert(home, names)).pipe(
        Effect.timeout(WRITE_WITHIN),
        Effect.map(() => {
          for (const { kind, name } of names) if (kind === "tracking_host") written.set(name, true)
        }),
        Effect.catch(() => Effect.fail(new DirectoryAway())),
      )
    },
  }
})
