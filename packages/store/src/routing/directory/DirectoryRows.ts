import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import { sendingDomains } from "../../postgres/sendingDomains.ts"
import type { SqlError } from "effect/sql"
import * as SqlErrors from "../../postgres/SqlErrors.ts"
import { away, type StoreUnavailable } from "../../postgres/StoreUnavailable.ts"
import { type CellName, FIRST } from "../CellName.ts"
import type { SealedUrl } from "../CellKeys.ts"
import type { DomainAccounts } from "../Cells.ts"

/** Maximum number of further tries at a lookup whose connection was lost, each at once and on another connection. */
const MAX_RETRIES = 3
/** Time limit of a lookup. */
const FOUND_WITHIN = Duration.seconds(5)

// First keys of our advisory locks with two keys, "WB" and a number each.

/** Locks of moves. */
export const MOVES = 0x5742_0004
/** Locks of the transactions of switches, which may outlive their mover by a moment. */
export const SWITCHES = 0x5742_0006
/** Locks of erasures of addresses, during which no account moves. */
export const ERASURES = 0x5742_0007
/** Locks of cells that an account moves from or to, during the last step of its move. */
export const TURNS = 0x5742_0008

/** Knowledge of a process about the cells. */
export interface Known {
  readonly names: ReadonlyArray<CellName>
  /** Number of changes until then. */
  readonly change: bigint
  readonly fenced: ReadonlySet<string>
  readonly leaving: ReadonlySet<string>
  /** Accounts that have rows in a cell that is not theirs, by that cell: copies before the switch, and what is left after it. */
  readonly strays: ReadonlyMap<CellName, ReadonlySet<string>>
  /** Cells with a server of their own, or on a node of Citus. */
  readonly servers: ReadonlyMap<CellName, StoredServer>
}

export type StoredServer = OwnServer | NodeServer

interface OwnServer {
  readonly name: CellName
  readonly identity: string
  readonly address: SealedUrl
}

export interface NodeServer {
  readonly name: CellName
  readonly group: number
  readonly host: string
  readonly port: number
}

export type Kind = "api_key" | "user"

/** Runs a lookup again when its connection is lost. */
export const onOtherConnections = <A>(
  lookup: Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<A, SqlError.SqlError> =>
  Effect.retry(lookup, { while: SqlErrors.isConnectionLost, times: MAX_RETRIES })

/** Accounts on the move. Those whose mover has died are not: their requests and their mail go on in the old cell. */
const moving = (sql: PgClient.PgClient) => sql`
  SELECT account_id, step FROM account_cells c WHERE moving_to IS NOT NULL AND EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint IN (${MOVES}::bigint, ${SWITCHES}::bigint) AND objid::bigint = hashtext(c.account_id)::bigint & 4294967295)`

/** Reads what there is to know of the cells. */
export const load = (sql: PgClient.PgClient) =>
  Effect.flatMap(
    sql<{
      readonly change: bigint
      readonly names: ReadonlyArray<string>
      readonly fenced: ReadonlyArray<string>
      readonly leaving: ReadonlyArray<string>
      readonly stray_cells: ReadonlyArray<string>
      readonly strays: ReadonlyArray<string>
      readonly servers: ReadonlyArray<OwnServer>
      readonly nodes: ReadonlyArray<CellOnNode>
    }>`
      WITH moving AS (${moving(sql)}),
      -- Also after the death of the mover: the rows of the other cell are not to be worked on until the move is finished.
      strays AS (
        SELECT account_id, CASE step WHEN 'cleaning' THEN left_cell ELSE moving_to END AS cell
        FROM account_cells WHERE moving_to IS NOT NULL)
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS change,
        ARRAY(SELECT name FROM cells ORDER BY name <> ${FIRST}, name) AS names,
        ARRAY(SELECT account_id FROM moving WHERE step = 'fenced') AS fenced,
        ARRAY(SELECT account_id FROM moving WHERE step <> 'cleaning') AS leaving,
        ARRAY(SELECT cell FROM strays ORDER BY account_id) AS stray_cells,
        ARRAY(SELECT account_id FROM strays ORDER BY account_id) AS strays,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('name', name, 'identity', identity, 'address', address)), '[]')
          FROM cells WHERE address IS NOT NULL) AS servers,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('name', name, 'group', node_group)), '[]')
          FROM cells WHERE node_group IS NOT NULL) AS nodes
      FROM cell_change`,
    ([row]) =>
      Effect.map(nodesOf(sql, row?.nodes ?? []), (nodes): Known => ({
        names: row?.names ?? [FIRST],
        change: row?.change ?? 0n,
        fenced: new Set(row?.fenced),
        leaving: new Set(row?.leaving),
        strays: byCell(row?.stray_cells ?? [], row?.strays ?? []),
        servers: new Map([...(row?.servers ?? []), ...nodes].map((server) => [server.name, server])),
      })),
  )

interface CellOnNode {
  readonly name: CellName
  readonly group: number
}

/** Address of a node that Citus does not know any more: nothing answers there. */
const NOWHERE = { host: "localhost", port: 1 } as const

/** Reads from Citus where the nodes of cells are now. */
const nodesOf = (sql: PgClient.PgClient, cells: ReadonlyArray<CellOnNode>) =>
  cells.length === 0
    ? Effect.succeed([])
    : Effect.map(
        sql<{ readonly group: number; readonly host: string; readonly port: number }>`
          SELECT groupid AS "group", nodename AS host, nodeport AS port FROM pg_dist_node WHERE noderole = 'primary'`,
        (nodes) =>
          cells.map(({ group, name }): NodeServer => {
            const node = nodes.find((each) => each.group === group)
            return { name, ...(node ?? { group, ...NOWHERE }) }
          }),
      )

const byCell = (cells: ReadonlyArray<CellName>, accounts: ReadonlyArray<string>) => {
  const accountsOf = new Map<CellName, Set<string>>()
  for (const [nth, cell] of cells.entries()) {
    const ofCell = accountsOf.get(cell) ?? new Set()
    accountsOf.set(cell, ofCell.add(accounts[nth] ?? ""))
  }
  return accountsOf
}

/** Finds the cell of an account. */
export const cellOf = (sql: PgClient.PgClient, account_id: string) =>
  sql<{ readonly cell: string }>`SELECT cell FROM account_cells WHERE account_id = ${account_id}`.pipe(
    onOtherConnections,
    Effect.map(([row]) => row?.cell ?? FIRST),
    orAway,
  )

/** Whether an account is in a cell. */
export const isIn = (cell: PgClient.PgClient, account_id: string) =>
  cell`SELECT FROM accounts WHERE account_id = ${account_id}`.pipe(
    onOtherConnections,
    Effect.map(({ length }) => length > 0),
    orAway,
  )

/** Finds the account of a key or a user; empty if there is none. */
export const accountNamed = (sql: PgClient.PgClient, kind: Kind, name: string) =>
  sql<{ readonly account_id: string }>`
    SELECT account_id FROM account_names WHERE kind = ${kind} AND name = ${name}`.pipe(
    onOtherConnections,
    Effect.map(([row]) => row?.account_id ?? ""),
    orAway,
  )

/** Finds the accounts whose ids begin with a text, in the directory and in the first cell; empty if there are none. */
export const accountsFrom = (sql: PgClient.PgClient, start: string) => {
  const isOf = sql`account_id >= ${start} AND account_id < ${`${start}~`}`
  return sql<{ readonly account_id: string }>`
    SELECT account_id FROM account_cells WHERE ${isOf} UNION SELECT account_id FROM accounts WHERE ${isOf}
    ORDER BY account_id LIMIT ${MAX_ALIKE}::int`.pipe(
    onOtherConnections,
    Effect.map((rows) => rows.map(({ account_id }) => account_id).join(" ")),
    orAway,
  )
}

/**
 * Finds the accounts that may have verified one of these domains, in the directory and in the first cell, and the cells whose
 * domains the directory does not have yet. An account's row in its cell says whether it has.
 */
export const accountsOfDomains = (sql: PgClient.PgClient, names: ReadonlyArray<string>) =>
  sql<DomainAccounts>`
    SELECT ARRAY(
        SELECT n.account_id FROM unnest(${names}::text[]) AS wanted(name) CROSS JOIN LATERAL (
          SELECT account_id FROM account_names
          WHERE kind = 'domain' AND name > wanted.name || ' ' AND name < wanted.name || '!') AS n
        UNION
        SELECT account_id FROM domains
        WHERE md5(name) IN (SELECT md5(wanted) FROM unnest(${names}::text[]) AS wanted) AND name = ANY(${names}::text[])
          AND ${sendingDomains(sql)}
      ) AS account_ids,
      ARRAY(SELECT name FROM cells WHERE domains_listed_at IS NULL AND name <> ${FIRST}) AS unlisted`.pipe(
    onOtherConnections,
    Effect.map(([row]) => row ?? { account_ids: [], unlisted: [] }),
    orAway,
  )

/** Accounts whose ids begin alike that are looked at. */
const MAX_ALIKE = 20

/** No request can have changed anything before a lookup, so one that meets a database that is away is told so. */
export const orAway = <A>(lookup: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, StoreUnavailable> =>
  lookup.pipe(
    Effect.catchIf(SqlErrors.isConnectionLost, () => Effect.fail(away())),
    Effect.timeoutOrElse({ duration: FOUND_WITHIN, orElse: () => Effect.fail(away()) }),
    SqlErrors.orUnavailable,
  )
