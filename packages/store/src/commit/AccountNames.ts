import * as Livemode from "@waybill/domain/account/Livemode"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import { Effect } from "effect"
import { sendingDomains } from "../postgres/sendingDomains.ts"
import type { SqlError } from "effect/sql"
import { elsewhere } from "../routing/StrayAccounts.ts"
import { type Client, Sql } from "../postgres/Sql.ts"
import { RowRejected } from "../postgres/StorageError.ts"
import { away } from "../postgres/StoreUnavailable.ts"
import type { Write } from "./LogStorage.ts"
import * as ApiKeys from "../readmodels/ApiKeys.ts"
import * as Domains from "../readmodels/Domains.ts"
import * as Members from "../readmodels/Members.ts"
import { type ReadModel, rowsOf } from "../readmodels/ReadModel.ts"
import { FIRST } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { CurrentCell, inCell } from "../routing/CurrentCell.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** The part of a batch that concerns the directory of cells. */
export interface AccountNames {
  /** Refuses a batch with an account that has left the cell since its commit was submitted. */
  readonly check: (accounts: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError | RowRejected>
  /**
   * Writes the names of the batch, by which requests find the cell of an account, before the batch is committed: a name whose
   * commit fails leads to a cell where nobody has it.
   */
  readonly write: (write: Write) => Effect.Effect<void, RowRejected>
}

export const none: AccountNames = { check: () => Effect.void, write: () => Effect.void }

/** Time limit of writing names, so that a directory that hangs does not hold up the other commits of a batch for long. */
const WRITE_WITHIN = "2 seconds"
/** Tracking hosts of a cell that a process knows to be in the directory. */
const MAX_WRITTEN = 10_000

/** Makes the part of the batches of the fiber's cell. `home` is the client of the first cell, outside the batch's transaction. */
export const make = Effect.fnUntraced(function* (
  sql: Client<SqlError.SqlError>,
  home: Sql,
): Effect.fn.Return<AccountNames> {
  const cell = yield* CurrentCell
  const { isCertainlyAlone } = yield* Cells
  // A domain is checked again and again, also while the first cell is away.
  const written = new LruCache<string, true>({ maxEntries: MAX_WRITTEN })
  const isUnwritten = ({ kind, name }: Name) => kind !== "tracking_host" || written.get(name) === undefined
  return {
    check: (accounts) =>
      Effect.suspend(() => {
        if (isCertainlyAlone()) return Effect.void
        const live = [...new Set(accounts.map(Livemode.liveAccountOf))]
        return Effect.flatMap(elsewhere(sql, live, cell), ({ length }) =>
          length === 0 ? Effect.void : Effect.fail(new RowRejected({ cause: away() })),
        )
      }),
    write: (write) => {
      const names = cell === FIRST ? [] : namesOf(write).filter(isUnwritten)
      if (names.length === 0) return Effect.void
      return inCell(FIRST, insert(home, names)).pipe(
        Effect.timeout(WRITE_WITHIN),
        Effect.map(() => {
          for (const { kind, name } of names) if (kind === "tracking_host") written.set(name, true)
        }),
        Effect.catch(() => Effect.fail(new RowRejected({ cause: away() }))),
      )
    },
  }
})

export interface Name {
  readonly kind: "api_key" | "user" | "tracking_host" | "domain"
  readonly name: string
  readonly account_id: string
}

const namesOf = ({ changedStreams }: Write): ReadonlyArray<Name> => {
  const rows = <A>(model: ReadModel) =>
    rowsOf(model, changedStreams) as ReadonlyArray<A & { readonly account_id: string }>
  // The name of a key that is revoked has been written before, so that keys are revoked also while the first cell is away.
  const keys = rows<{ readonly hash: string; readonly revoked_at: unknown }>(ApiKeys.readModel)
    .filter(({ revoked_at }) => revoked_at === null)
    .map(({ account_id, hash }): Name => ({ kind: "api_key", name: hash, account_id }))
  const users = rows<{ readonly user_id: string }>(Members.readModel).map(({ account_id, user_id }): Name => ({
    kind: "user",
    name: user_id,
    account_id,
  }))
  // A host that is no longer tracked stays: links of mail that was sent lead there.
  const hosts = rows<{ readonly record: Domains.DomainRecord | null }>(Domains.readModel).flatMap(
    ({ account_id, record }): ReadonlyArray<Name> => {
      const name = Domains.trackingNameOf(record)
      return name === undefined ? [] : [{ kind: "tracking_host", name, account_id }]
    },
  )
  // Later changes of a domain do not need the first cell.
  const begun = changedStreams.filter(({ added }) => added.some(({ event }) => event._tag === "DomainVerified"))
  const domains = (
    rowsOf(Domains.readModel, begun) as ReadonlyArray<{ readonly account_id: string; readonly name: string }>
  ).map(({ account_id, name }): Name => ({ kind: "domain", name: `${name} ${account_id}`, account_id }))
  return [...keys, ...users, ...hosts, ...domains]
}

/** Names of all accounts of the client's cell, or of one, from its read models. */
export const read = <E>(sql: Client<E>, account_id: string | null = null) => sql<Name>`
  SELECT * FROM (
    SELECT 'api_key' AS kind, hash AS name, account_id FROM api_keys
    UNION ALL SELECT 'user', user_id, account_id FROM members
    UNION ALL SELECT 'tracking_host', name, account_id FROM (${Domains.tracking(sql)}) AS hosts
    UNION ALL SELECT 'domain', name || ' ' || account_id, account_id FROM domains
      WHERE ${sendingDomains(sql)}) AS names
  WHERE ${account_id}::text IS NULL OR account_id = ${account_id}`

export const insert = <E>(sql: Client<E>, names: ReadonlyArray<Name>) => sql`
  INSERT INTO account_names (kind, name, account_id)
  SELECT DISTINCT ON (kind, name) * FROM unnest(${names.map(({ kind }) => kind)}::text[],
    ${names.map(({ name }) => name)}::text[], ${names.map(({ account_id }) => account_id)}::text[])
    AS n(kind, name, account_id) ORDER BY kind, name
  ON CONFLICT (kind, name) DO UPDATE SET account_id = excluded.account_id`

/** Interval at which the domains of a cell are compared with the directory. */
const LISTED_EVERY = "1 hour"
/** Accounts whose domains are compared at once. */
const PAGE = 500

/**
 * Makes the directory have the domains that accounts of the fiber's cell have verified, if it was not compared for a while: those
 * that were removed go, and those come that it lacks, because its home was restored from a backup or is of a release without them.
 * What is named meanwhile stays.
 */
export const listDomains = Effect.fn("AccountNames.listDomains")(function* () {
  const cell = yield* CurrentCell
  if (cell === FIRST) return
  const [sql, home] = [yield* Sql, yield* HomeSql]
  const due = yield* home`
    SELECT FROM cells WHERE name = ${cell}
      AND (domains_listed_at IS NULL OR domains_listed_at < now() - ${LISTED_EVERY}::interval)`
  if (due.length === 0) return
  for (let after = ""; ;) {
    const page = yield* sql<{ readonly account_id: string }>`
      SELECT account_id FROM accounts WHERE account_id > ${after} ORDER BY account_id LIMIT ${PAGE}::int`
    const last = page.at(-1)
    if (last === undefined) break
    after = last.account_id
    const account_ids = page.map(({ account_id }) => account_id)
    const listed = yield* home<Pick<Name, "name">>`
      SELECT n.name FROM account_names n JOIN account_cells c ON c.account_id = n.account_id
      WHERE n.account_id = ANY(${account_ids}::text[]) AND n.kind = 'domain' AND c.cell = ${cell} AND c.moving_to IS NULL`
    const domains = yield* sql<Name & { readonly is_verified: boolean }>`
      SELECT 'domain' AS kind, name || ' ' || account_id AS name, account_id, ${sendingDomains(sql)} AS is_verified
      FROM domains WHERE account_id = ANY(${account_ids}::text[]) AND NOT removed`
    const [known, present] = [new Set(listed.map(({ name }) => name)), new Set(domains.map(({ name }) => name))]
    const removed = listed.flatMap(({ name }) => (present.has(name) ? [] : [name]))
    const missing = domains.filter(({ is_verified, name }) => is_verified && !known.has(name))
    if (removed.length > 0)
      yield* home`DELETE FROM account_names WHERE kind = 'domain' AND name = ANY(${removed}::text[])`
    if (missing.length > 0) yield* insert(home, missing)
  }
  yield* home`UPDATE cells SET domains_listed_at = now() WHERE name = ${cell}`
})
