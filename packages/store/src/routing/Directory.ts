import type { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"
import { LruCache } from "@waybill/domain/collections/LruCache"
import * as MonotonicClock from "@waybill/domain/flow/MonotonicClock"
import { Clock, Duration, Effect, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import { away, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import { type CellName, FIRST } from "./CellName.ts"
import type { CellsShape } from "./Cells.ts"
import { CellKeys, type CellServer, type SealedUrl } from "./CellKeys.ts"

/** Age at which what a process knows of the cells is read again before it is used. */
export const TRUSTED_FOR = Duration.seconds(2)
/** Time limit of a read, and pause after one that failed. */
export const READ_TIMEOUT = Duration.millis(500)
const TRIED_AGAIN_AFTER = Duration.millis(500)
/** Time limit of a read without which requests are refused. */
const AWAITED_READ = Duration.seconds(5)
/** Maximum number of further tries at a lookup whose connection was lost, each at once and on another connection. */
const MAX_RETRIES = 3
/** Time after a change of the cells by which every process has noticed it. */
export const NOTICED_AFTER = Duration.seconds(3)
/** How long a request waits for the end of the last step of its account's move. */
export const LONGEST_FENCE = Duration.seconds(30)
const LOOK_AGAIN = Duration.millis(100)
/** Maximum number of accounts, keys and users whose cell a process remembers. */
export const MAX_REMEMBERED = 100_000

interface Known {
  readonly names: ReadonlyArray<CellName>
  /** Number of changes until then. */
  readonly change: bigint
  readonly fenced: ReadonlySet<string>
  readonly leaving: ReadonlySet<string>
  /** Accounts that have rows in a cell that is not theirs, by that cell: copies before the switch, and what is left after it. */
  readonly strays: ReadonlyMap<CellName, ReadonlySet<string>>
  /** Cells with a server of their own. */
  readonly servers: ReadonlyMap<CellName, StoredServer>
}

interface StoredServer {
  readonly name: CellName
  readonly identity: string
  readonly address: SealedUrl
}

type Kind = "api_key" | "user"

/** Reads the directory of cells in the first cell, and remembers it for as long as no other process can rely on a change. */
export const make = Effect.fnUntraced(function* (sql: PgClient.PgClient): Effect.fn.Return<CellsShape> {
  const clock = yield* Clock.Clock
  const keys = yield* CellKeys
  const oneAtATime = Semaphore.makeUnsafe(1)
  const trustedMillis = Duration.toMillis(TRUSTED_FOR)
  const triedAgainMillis = Duration.toMillis(TRIED_AGAIN_AFTER)
  const noCells = () => new LruCache<string, CellName>({ maxEntries: MAX_REMEMBERED })
  let cells = noCells()
  let known: Known = {
    names: [FIRST],
    change: 0n,
    fenced: new Set(),
    leaving: new Set(),
    strays: new Map(),
    servers: new Map(),
  }
  /** Time of the last read that succeeded, and until when what it found is used. */
  let readAt = -Infinity
  let usedUntil = -Infinity
  /** Until when requests are refused because of a read that failed. */
  let refusedUntil = -Infinity

  const now = () => MonotonicClock.millisOf(clock)
  const isFresh = () => now() < usedUntil
  const read = Effect.gen(function* () {
    const began = now()
    const next = yield* load(sql)
    // A cell that was remembered before the change may be that of an account that has moved.
    if (next.change !== known.change) cells = noCells()
    known = next
    readAt = began
    usedUntil = began + trustedMillis
  })
  const refresh = oneAtATime.withPermit(SqlErrors.orUnavailable(read))
  /** No request can have changed anything before it, so one that meets a database that is away is told so. */
  const readFirst = read.pipe(
    onOtherConnections,
    Effect.catchIf(SqlErrors.isConnectionLost, () => Effect.fail(away())),
    SqlErrors.orUnavailable,
  )
  /**
   * A database that does not answer must not hold up requests here, where nothing watches it. What is known is used a
   * little longer, and the next statement meets the fault. A commit looks its accounts up itself then (`isCertainlyAlone`).
   */
  const useLonger = Effect.sync(() => void (usedUntil = Math.min(now() + triedAgainMillis, reliableUntil())))
  /** The knowledge of several cells is used for no longer than moves rely on: keys may have been revoked in another cell since. */
  const reliableUntil = () => (known.names.length === 1 ? Infinity : readAt + Duration.toMillis(NOTICED_AFTER))
  const readOrRefuse = Effect.suspend(() => {
    if (now() < refusedUntil) return Effect.fail(away())
    return Effect.catchCause(Effect.timeout(read, AWAITED_READ), () => {
      refusedUntil = now() + triedAgainMillis
      return Effect.fail(away())
    })
  })
  const readUnlessFresh = Effect.suspend(() => {
    if (isFresh()) return Effect.void
    if (readAt === -Infinity) return readFirst
    if (now() + Duration.toMillis(READ_TIMEOUT) > reliableUntil()) return readOrRefuse
    return Effect.catchCause(Effect.timeout(read, READ_TIMEOUT), () => useLonger)
  })
  const current = Effect.suspend(() =>
    isFresh() ? Effect.succeed(known) : Effect.map(oneAtATime.withPermit(readUnlessFresh), () => known),
  )
  const remembered = (
    key: string,
    find: Effect.Effect<CellName, StoreUnavailable>,
  ): Effect.Effect<CellName, StoreUnavailable> =>
    Effect.suspend(() => {
      const cell = cells.get(key)
      if (cell !== undefined) return Effect.succeed(cell)
      const { change } = known
      return Effect.tap(find, (found) =>
        Effect.sync(() => {
          if (known.change === change) cells.set(key, found)
        }),
      )
    })

  /** Waits while the account is in the last step of its move, in which nothing may be written to either cell. */
  const afterFence = (account_id: string): Effect.Effect<void, StoreUnavailable> =>
    Effect.suspend(() => (known.fenced.has(account_id) ? awaitMove(account_id) : Effect.void))
  const awaitMove = (account_id: string) =>
    Effect.andThen(Effect.sleep(LOOK_AGAIN), refresh).pipe(
      Effect.repeat({ until: () => !known.fenced.has(account_id) }),
      Effect.timeoutOrElse({ duration: LONGEST_FENCE, orElse: () => Effect.fail(away()) }),
      Effect.asVoid,
    )

  /** The account, and the fence, decide at the end, because the name of an account never changes. */
  const found = (account_id: string | undefined): Effect.Effect<CellName, StoreUnavailable> =>
    account_id === undefined ? Effect.succeed(FIRST) : ofLive(account_id)
  const ofLive = (account_id: string): Effect.Effect<CellName, StoreUnavailable> =>
    Effect.andThen(afterFence(account_id), remembered(account_id, cellOf(sql, account_id)))
  const unlessAlone = <A>(find: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A | CellName, StoreUnavailable> =>
    Effect.suspend(() =>
      isFresh() && known.names.length === 1
        ? FIRST_CELL
        : Effect.flatMap(current, ({ names }): Effect.Effect<A | CellName, StoreUnavailable> =>
            names.length === 1 ? FIRST_CELL : find,
          ),
    )
  const byName = (kind: Kind, name: string) =>
    unlessAlone(remembered(`${kind} ${name}`, Effect.flatMap(accountNamed(sql, kind, name), found)))

  /** Addresses that were opened, by their sealed text. */
  const opened = new Map<string, CellServer>()
  const open = ({ address, identity }: StoredServer): CellServer => {
    const server = opened.get(address.ciphertext) ?? { identity, url: keys.open(identity, address) }
    opened.set(address.ciphertext, server)
    return server
  }

  return {
    serverOf: (cell) =>
      cell === FIRST
        ? Effect.undefined
        : Effect.map(current, ({ servers }) => {
            const stored = servers.get(cell)
            return stored === undefined ? undefined : open(stored)
          }),
    names: Effect.map(current, ({ names }) => names),
    of: (account_id) => unlessAlone(Effect.suspend(() => ofLive(Livemode.liveAccountOf(account_id)))),
    ofUnlessFenced: (account_id) => {
      const live = Livemode.liveAccountOf(account_id)
      const ofLiveNow = Effect.suspend(() =>
        known.fenced.has(live) ? Effect.undefined : remembered(live, cellOf(sql, live)),
      )
      return unlessAlone(ofLiveNow)
    },
    ofKey: (hash) => byName("api_key", hash),
    ofUser: (user_id) => byName("user", user_id),
    isCertainlyAlone: () => known.names.length === 1 && now() - readAt < trustedMillis,
    notToStart: (cell) =>
      Effect.map(current, ({ leaving, strays }) => {
        const here = strays.get(cell)
        return here === undefined ? leaving : new Set([...leaving, ...here])
      }),
    strays: Effect.map(current, ({ strays }) => strays),
    refresh,
  }
})

const FIRST_CELL = Effect.succeed(FIRST)

/** Runs a lookup again when its connection is lost. */
const onOtherConnections = <A>(lookup: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
  Effect.retry(lookup, { while: SqlErrors.isConnectionLost, times: MAX_RETRIES })

/** First key of our advisory locks with two keys: "WB", moves. */
export const MOVES = 0x5742_0004
/** The same for the transactions of switches, which may outlive their mover by a moment. */
export const SWITCHES = 0x5742_0006

/** The same for erasures of addresses, during which no account moves. */
export const ERASURES = 0x5742_0007

/** Accounts on the move. Those whose mover has died are not: their requests and their mail go on in the old cell. */
const moving = (sql: PgClient.PgClient) => sql`
  SELECT account_id, step FROM account_cells c WHERE moving_to IS NOT NULL AND EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint IN (${MOVES}::bigint, ${SWITCHES}::bigint) AND objid::bigint = hashtext(c.account_id)::bigint & 4294967295)`

const load = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{
      readonly change: bigint
      readonly names: ReadonlyArray<string>
      readonly fenced: ReadonlyArray<string>
      readonly leaving: ReadonlyArray<string>
      readonly stray_cells: ReadonlyArray<string>
      readonly strays: ReadonlyArray<string>
      readonly servers: ReadonlyArray<StoredServer>
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
          FROM cells WHERE address IS NOT NULL) AS servers
      FROM cell_change`,
    ([row]): Known => ({
      names: row?.names ?? [FIRST],
      change: row?.change ?? 0n,
      fenced: new Set(row?.fenced),
      leaving: new Set(row?.leaving),
      strays: byCell(row?.stray_cells ?? [], row?.strays ?? []),
      servers: new Map(row?.servers.map((server) => [server.name, server])),
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

const cellOf = (sql: PgClient.PgClient, account_id: string) =>
  sql<{ readonly cell: string }>`SELECT cell FROM account_cells WHERE account_id = ${account_id}`.pipe(
    onOtherConnections,
    Effect.map(([row]) => row?.cell ?? FIRST),
    SqlErrors.orUnavailable,
  )

const accountNamed = (sql: PgClient.PgClient, kind: Kind, name: string) =>
  sql<{ readonly account_id: string }>`
    SELECT account_id FROM account_names WHERE kind = ${kind} AND name = ${name}`.pipe(
    onOtherConnections,
    Effect.map(([row]) => row?.account_id),
    SqlErrors.orUnavailable,
  )
