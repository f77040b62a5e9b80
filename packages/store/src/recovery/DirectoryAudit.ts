import type { AccountId } from "@waybill/domain/values/Id"
import { Effect, Exit } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as DirectoryNames from "../readmodels/DirectoryNames.ts"
import * as AccountNames from "../routing/directory/AccountNames.ts"
import { Sql } from "../postgres/Sql.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import * as Databases from "../routing/Databases.ts"
import { CurrentCell, inCell } from "../routing/CurrentCell.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import * as Reachable from "../routing/Reachable.ts"

/** Accounts that are compared at once. */
const PAGE = 1_000
/** Most accounts of a kind that are named. */
const MAX_NAMED = 3

interface Accounts {
  count: number
  readonly named: Array<string>
}

/** Differences of what home and a cell on another server say of the cell's accounts, because one of the databases is an older copy. */
export interface Differences {
  readonly cell: CellName
  /** Number of changes of the directory that the cell has noted (`PositionNumbers.note`); 0 on a node of Citus. */
  readonly noted: bigint
  /** Whether home has not had as many. */
  readonly isHomeOlder: boolean
  /** Accounts that live in the cell, although home places them in another one. */
  readonly misplaced: Accounts
  /** Those of them that live in that one too. */
  readonly doubled: Accounts
  /** Accounts that home places in the cell, and that it does not have. */
  readonly missing: Accounts
  /** Number of keys, users and tracking hosts of the cell's accounts that home does not have. */
  unnamed: number
}

/** A page of the accounts of a cell that home does not know so. */
export interface UnknownPage {
  readonly misplaced: ReadonlyArray<Misplaced>
  readonly names: ReadonlyArray<AccountNames.Name>
  /** The account to continue after; undefined at the end. */
  readonly last: string | undefined
}

interface Named {
  readonly account_id: string
}

interface MissingPage extends Pick<UnknownPage, "last"> {
  readonly missing: ReadonlyArray<Named>
}

export interface Misplaced {
  readonly account_id: AccountId
  /** The cell in which home places the account. */
  readonly placed: CellName
  /** Content of that cell: the account itself, rows that it has left behind, or nothing; undefined if the cell does not answer. */
  readonly there: "account" | "rows" | "nothing" | undefined
}

const isHere = (sql: Sql) => sql`NOT EXISTS (SELECT FROM left_accounts l WHERE l.account_id = a.account_id)`
const add = (accounts: Accounts, more: ReadonlyArray<Named>) => {
  accounts.count += more.length
  accounts.named.push(...more.slice(0, MAX_NAMED - accounts.named.length).map(({ account_id }) => account_id))
}
const none = (): Accounts => ({ count: 0, named: [] })

/** Number of changes that the directory has had, or that a cell has noted. */
const changesOf = (sql: Sql) =>
  Effect.map(
    sql<{ readonly changes: bigint }>`SELECT last_value AS changes FROM cell_change`,
    ([row]) => row?.changes ?? 0n,
  )

/** Compares the directory with every cell on another server that answers. Cells of the first server are restored together with it. */
export const audit = () => auditEach(() => Effect.void)

/** Compares by pages of accounts: what home does not know of a page is given to `onUnknown`. */
export const auditEach = Effect.fnUntraced(function* <E, R>(
  onUnknown: (page: UnknownPage, isHomeOlder: boolean) => Effect.Effect<unknown, E, R>,
) {
  const { results } = yield* Reachable.each(compare(onUnknown))
  return results.flatMap(([, found]) => (found === undefined || isNone(found) ? [] : [found]))
})

const isNone = ({ isHomeOlder, misplaced, missing, unnamed }: Differences) =>
  !isHomeOlder && misplaced.count + missing.count + unnamed === 0

const compare = Effect.fnUntraced(function* <E, R>(
  onUnknown: (page: UnknownPage, isHomeOlder: boolean) => Effect.Effect<unknown, E, R>,
) {
  const cell = yield* CurrentCell
  const server = yield* (yield* Cells).serverOf(cell)
  if (server === undefined) return undefined
  const sql = yield* Sql
  const noted = server.isNode ? 0n : yield* changesOf(sql)
  const isHomeOlder = noted > (yield* changesOf(yield* HomeSql))
  const found: Differences = {
    cell,
    noted,
    isHomeOlder,
    misplaced: none(),
    doubled: none(),
    missing: none(),
    unnamed: 0,
  }
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: UnknownPage = yield* unknownAfter(sql, cell, after)
    add(found.misplaced, page.misplaced)
    add(
      found.doubled,
      page.misplaced.filter(({ there }) => there === "account"),
    )
    found.unnamed += page.names.length
    yield* onUnknown(page, isHomeOlder)
    after = page.last
  }
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: MissingPage = yield* missingAfter(sql, cell, after)
    add(found.missing, page.missing)
    after = page.last
  }
  return found
})

/** The cell is read before home, which is told first of a new account or name; and again, in case that an account moves meanwhile. */
const unknownAfter = Effect.fnUntraced(function* (sql: Sql, cell: CellName, after: string) {
  const home = yield* HomeSql
  const ids = (yield* sql<{ readonly account_id: string }>`
    SELECT account_id FROM accounts a WHERE account_id > ${after} AND ${isHere(sql)} ORDER BY account_id LIMIT ${PAGE}::int`).map(
    ({ account_id }) => account_id,
  )
  // A worker lists the domains of a cell anew every hour.
  const names = (yield* DirectoryNames.read(sql, ids)).filter(({ kind }) => kind !== "domain")
  const unnamed = yield* AccountNames.unknown(home, names)
  const elsewhere = yield* home<Pick<Misplaced, "account_id" | "placed">>`
    SELECT a.account_id, coalesce(c.cell, ${FIRST}) AS placed FROM unnest(${ids}::text[]) AS a(account_id)
    LEFT JOIN account_cells c USING (account_id) WHERE coalesce(c.cell, ${FIRST}) <> ${cell}`
  const live = yield* presence(
    sql,
    elsewhere.map(({ account_id }) => account_id),
  )
  const misplaced: Array<Misplaced> = []
  for (const [placed, rows] of Map.groupBy(elsewhere, (row) => row.placed)) {
    const asking = inCell(
      placed,
      presence(
        sql,
        rows.map(({ account_id }) => account_id),
      ),
    )
    const there = yield* Effect.exit(Effect.timeout(asking, Databases.ANSWER_WITHIN))
    for (const row of rows)
      if (live.get(row.account_id) === "account")
        misplaced.push({
          ...row,
          there: Exit.isSuccess(there) ? (there.value.get(row.account_id) ?? "nothing") : undefined,
        })
  }
  return { misplaced, names: unnamed, last: ids.length < PAGE ? undefined : ids.at(-1) }
})

/** Returns for accounts whether they are in the fiber's cell, or only rows of them. */
const presence = Effect.fnUntraced(function* (sql: Sql, ids: ReadonlyArray<string>) {
  if (ids.length === 0) return new Map<string, "account" | "rows">()
  const rows = yield* sql<{ readonly account_id: string; readonly is_here: boolean }>`
    SELECT account_id, ${isHere(sql)} AS is_here FROM accounts a WHERE account_id = ANY(${ids}::text[])`
  return new Map(
    rows.map(({ account_id, is_here }) => [account_id, is_here ? ("account" as const) : ("rows" as const)]),
  )
})

const placedIn = (home: Sql, cell: CellName, condition: Fragment) => home<{
  readonly account_id: string
  readonly has_key: boolean
}>`
  SELECT account_id, EXISTS (SELECT FROM account_names n WHERE n.account_id = c.account_id AND kind = 'api_key') AS has_key
  FROM account_cells c WHERE cell = ${cell} AND moving_to IS NULL AND ${condition} ORDER BY account_id LIMIT ${PAGE}::int`

/** An account that was never made has a cell too. It has no key, and no cell has refused it. */
const missingAfter = Effect.fnUntraced(function* (sql: Sql, cell: CellName, after: string) {
  const home = yield* HomeSql
  const placed = yield* placedIn(home, cell, home`account_id > ${after}`)
  const absent = yield* sql<{ readonly account_id: string }>`
    SELECT p.account_id FROM unnest(${placed.map(({ account_id }) => account_id)}::text[],
      ${placed.map(({ has_key }) => has_key)}::bool[]) AS p(account_id, has_key)
    WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.account_id = p.account_id)
      AND (p.has_key OR EXISTS (SELECT FROM left_accounts l WHERE l.account_id = p.account_id))`
  const ids = absent.map(({ account_id }) => account_id)
  // An account that has moved meanwhile is not missing.
  const still = ids.length === 0 ? [] : yield* placedIn(home, cell, home`account_id = ANY(${ids}::text[])`)
  return {
    missing: still,
    last: placed.length < PAGE ? undefined : placed.at(-1)?.account_id,
  }
})

/** Says in words how home and a cell differ. */
export const describe = ({ doubled, isHomeOlder, misplaced, missing, unnamed }: Differences): string =>
  [
    ...(isHomeOlder ? ["home was restored from before a change of cells, or a move, that this cell has noted"] : []),
    ...(misplaced.count > 0 ? [`${counted(misplaced, "lives", "live")} here, but not by home's directory`] : []),
    ...(doubled.count > 0 ? [`${counted(doubled, "lives", "live")} also where that says`] : []),
    ...(missing.count > 0 ? [`${counted(missing, "is", "are")} here by home's directory, but not found here`] : []),
    ...(unnamed > 0 ? [`home lacks ${unnamed} of the keys, users and tracking hosts of accounts here`] : []),
  ].join("; ")

const counted = ({ count, named }: Accounts, one: string, several: string) => {
  const ids = `${named.join(", ")}${count > named.length ? ", …" : ""}`
  return `${count} ${count === 1 ? "account" : "accounts"} (${ids}) ${count === 1 ? one : several}`
}
