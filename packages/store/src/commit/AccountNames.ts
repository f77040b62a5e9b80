import * as Livemode from "@waybill/domain/account/Livemode"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { elsewhere } from "../routing/StrayAccounts.ts"
import type { Client, Statement } from "../postgres/Sql.ts"
import { RowRejected } from "../postgres/StorageError.ts"
import { away } from "../postgres/StoreUnavailable.ts"
import type { Write } from "./LogStorage.ts"
import * as ApiKeys from "../readmodels/ApiKeys.ts"
import * as Members from "../readmodels/Members.ts"
import { type ReadModel, rowsOf } from "../readmodels/ReadModel.ts"
import { FIRST } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { CurrentCell } from "../routing/CurrentCell.ts"

/** The part of a batch that concerns the directory of cells. */
export interface AccountNames {
  /** Refuses a batch with an account that has moved to another cell since its commit was submitted. */
  readonly check: (accounts: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError | RowRejected>
  /** Statements that write the names of the batch, by which requests find the cell of an account. */
  readonly writes: (write: Write) => ReadonlyArray<Statement<object, SqlError.SqlError>>
}

export const none: AccountNames = { check: () => Effect.void, writes: () => [] }

/** Makes the part of the batches of the fiber's cell. */
export const make = Effect.fnUntraced(function* (sql: Client<SqlError.SqlError>): Effect.fn.Return<AccountNames> {
  const cell = yield* CurrentCell
  const { isCertainlyAlone } = yield* Cells
  return {
    check: (accounts) =>
      Effect.suspend(() => {
        if (isCertainlyAlone()) return Effect.void
        const live = [...new Set(accounts.map(Livemode.liveAccountOf))]
        return Effect.flatMap(elsewhere(sql, live, cell), ({ length }) =>
          length === 0 ? Effect.void : Effect.fail(new RowRejected({ cause: away() })),
        )
      }),
    writes: (write) => (cell === FIRST ? [] : inserts(sql, write)),
  }
})

interface Name {
  readonly kind: "api_key" | "user"
  readonly name: string
  readonly account_id: string
}

const inserts = (
  sql: Client<SqlError.SqlError>,
  { changedStreams }: Write,
): ReadonlyArray<Statement<object, SqlError.SqlError>> => {
  const rows = <A>(model: ReadModel) =>
    rowsOf(model, changedStreams) as ReadonlyArray<A & { readonly account_id: string }>
  const keys = rows<{ readonly hash: string }>(ApiKeys.readModel).map(({ account_id, hash }): Name => ({
    kind: "api_key",
    name: hash,
    account_id,
  }))
  const users = rows<{ readonly user_id: string }>(Members.readModel).map(({ account_id, user_id }): Name => ({
    kind: "user",
    name: user_id,
    account_id,
  }))
  const names = [...keys, ...users]
  return names.length === 0 ? [] : [insert(sql, names)]
}

/** Writes the names of all accounts of a cell, from its read models. */
export const restore = Effect.fnUntraced(function* <E>(sql: Client<E>) {
  const names = yield* sql<Name>`
    SELECT 'api_key' AS kind, hash AS name, account_id FROM api_keys
    UNION ALL SELECT 'user', user_id, account_id FROM members`
  if (names.length > 0) yield* insert(sql, names)
})

const insert = <E>(sql: Client<E>, names: ReadonlyArray<Name>) => sql`
  INSERT INTO account_names (kind, name, account_id)
  SELECT * FROM unnest(${names.map(({ kind }) => kind)}::text[], ${names.map(({ name }) => name)}::text[],
    ${names.map(({ account_id }) => account_id)}::text[])
  ON CONFLICT (kind, name) DO UPDATE SET account_id = excluded.account_id`
