import type { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Clock, Duration, Effect, Fiber, Redacted, type Scope, Semaphore } from "effect"
import { away, type StoreUnavailable } from "../../postgres/StoreUnavailable.ts"
import * as SqlErrors from "../../postgres/SqlErrors.ts"
import type { ClientOf } from "../RoutedClient.ts"
import { type CellName, FIRST, nodeUrlOf } from "../CellName.ts"
import type { CellsShape } from "../Cells.ts"
import { CurrentCell } from "../CurrentCell.ts"
import { CellKeys, type CellKeysShape, type CellServer } from "../CellKeys.ts"
import * as Departures from "./Departures.ts"
import * as Rows from "./DirectoryRows.ts"

/** Age at which what a process knows of the cells is read again before it is used. */
export const TRUSTED_FOR = Duration.seconds(2)
/** Time limit of a read, and pause after one that failed. */
export const READ_TIMEOUT = Duration.millis(500)
const TRIED_AGAIN_AFTER = Duration.millis(500)
/** Time limit of a read without which requests are refused. */
const AWAITED_READ = Duration.seconds(5)
/** Time after a change of the cells by which every process has noticed it. */
export const NOTICED_AFTER = Duration.seconds(3)
/** How long a request waits for the end of the last step of its account's move. */
export const LONGEST_FENCE = Duration.seconds(30)
const LOOK_AGAIN = Duration.millis(100)
/** Maximum number of accounts, keys and users whose cell a process remembers. */
const MAX_REMEMBERED = 100_000
/** Maximum number of remembered names that nobody has, which strangers make up: they push out nothing that somebody has. */
const MAX_NOBODIES = 1_000

/** A lookup, and the number of changes of the cells until then. */
interface Remembered {
  readonly value: string
  readonly change: bigint
}

/** Value of a name that nobody has. */
const NOBODY = ""

/**
 * Reads the directory of cells in the first cell, and remembers it for as long as no other process can rely on a change. While
 * the first cell is away, what is remembered is used for cells with a server of their own, which says who has left it meanwhile.
 */
export const make = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  clientOf: ClientOf,
  maxRemembered = MAX_REMEMBERED,
): Effect.fn.Return<CellsShape, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const keys = yield* CellKeys
  const oneAtATime = Semaphore.makeUnsafe(1)
  const trustedMillis = Duration.toMillis(TRUSTED_FOR)
  const triedAgainMillis = Duration.toMillis(TRIED_AGAIN_AFTER)
  const memory = new LruCache<string, Remembered>({ maxEntries: maxRemembered })
  const nobodies = new LruCache<string, Remembered>({ maxEntries: MAX_NOBODIES })
  const departures = Departures.make(clock, clientOf)
  let known: Rows.Known = {
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
  /** Whether the first cell did not answer in time when it was read last. */
  let isHomeAway = false

  const now = () => MonotonicClock.millisOf(clock)
  const isFresh = () => now() < usedUntil
  const read = Effect.gen(function* () {
    const began = now()
    known = yield* Rows.load(sql)
    readAt = began
    usedUntil = began + trustedMillis
    isHomeAway = false
  })
  const refresh = oneAtATime.withPermit(SqlErrors.orUnavailable(read))
  const readFirst = Rows.orAway(Rows.onOtherConnections(read))
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
  /** The read that is under way, for all who wait for one. It goes on if they wait no longer. */
  let underWay: Fiber.Fiber<void, StoreUnavailable> | undefined
  const reading = Effect.suspend(() => {
    if (underWay !== undefined) return Effect.succeed(underWay)
    const begun = Effect.forkIn(Effect.interruptible(oneAtATime.withPermit(readUnlessFresh)), scope)
    return Effect.tap(begun, (fiber) =>
      Effect.sync(() => {
        underWay = fiber
        // At once if it has ended before this.
        fiber.addObserver(() => {
          if (underWay === fiber) underWay = undefined
        })
      }),
    )
  })
  const current = Effect.suspend(() =>
    isFresh() ? Effect.succeed(known) : Effect.map(Effect.flatMap(reading, Fiber.join), () => known),
  )
  /** `current` without waiting for a first cell that is away. What is found then is not fresh, and to be confirmed. */
  const latest = Effect.suspend(() => {
    if (isFresh()) return Effect.succeed(known)
    if (readAt === -Infinity) return current
    if (isHomeAway) return now() < refusedUntil ? Effect.succeed(known) : Effect.map(reading, () => known)
    return Effect.match(Effect.timeout(current, READ_TIMEOUT), {
      onFailure: () => {
        isHomeAway = true
        return known
      },
      onSuccess: () => known,
    })
  })
  const remember = (key: string, found: Remembered) => {
    const [into, other] = found.value === NOBODY ? [nobodies, memory] : [memory, nobodies]
    other.delete(key)
    into.set(key, found)
  }
  const remembered = (
    key: string,
    find: Effect.Effect<string, StoreUnavailable>,
  ): Effect.Effect<string, StoreUnavailable> =>
    Effect.suspend(() => {
      const entry = memory.get(key) ?? nobodies.get(key)
      // An older entry may be that of an account that has moved.
      if (entry !== undefined && (entry.change === known.change || !isFresh())) return Effect.succeed(entry.value)
      if (!isFresh()) return Effect.andThen(current, remembered(key, find))
      const { change } = known
      return Effect.tap(find, (value) => Effect.sync(() => remember(key, { value, change })))
    })
  /**
   * Finds an account that a process works on and never looked up, such as that of a mail which another process accepted: without
   * the directory, the server of the cell that the work is in has it.
   */
  const inOwnCell = Effect.fnUntraced(function* (account_id: string) {
    const cell = yield* CurrentCell
    if (!known.servers.has(cell)) return yield* Effect.fail(away())
    const { change } = known
    const isIn = yield* Rows.isIn(yield* Rows.orAway(clientOf(cell)), account_id)
    if (!isIn) return yield* Effect.fail(away())
    remember(account_id, { value: cell, change })
    return cell
  })
  const cellOf = (live: string): Effect.Effect<string, StoreUnavailable> =>
    Effect.suspend(() => {
      const found = remembered(live, Rows.cellOf(sql, live))
      const isLookedUp = isFresh() || !isHomeAway || memory.get(live) !== undefined
      return isLookedUp ? found : Effect.catch(inOwnCell(live), () => found)
    })
  /** Without the directory a server says whether the account has left its cell; other cells are on that of the first one. */
  const confirmed = (
    account_id: string,
    cell: CellName,
    again: Effect.Effect<CellName | undefined, StoreUnavailable>,
  ): Effect.Effect<CellName | undefined, StoreUnavailable> =>
    Effect.suspend(() => {
      if (isFresh()) return Effect.succeed(cell)
      if (!known.servers.has(cell)) return Effect.andThen(current, again)
      return Effect.flatMap(departures.of(cell), (left) =>
        left.has(account_id) ? Effect.fail(away()) : Effect.succeed(cell),
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

  const ofLiveNow = (live: string): Effect.Effect<CellName | undefined, StoreUnavailable> =>
    Effect.suspend(() =>
      known.fenced.has(live)
        ? Effect.undefined
        : Effect.flatMap(cellOf(live), (cell) => confirmed(live, cell, ofLiveNow(live))),
    )
  const ofLive = (live: string): Effect.Effect<CellName, StoreUnavailable> =>
    Effect.flatMap(Effect.andThen(afterFence(live), ofLiveNow(live)), (cell) =>
      cell === undefined ? ofLive(live) : Effect.succeed(cell),
    )
  const unlessAlone = <A>(find: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A | CellName, StoreUnavailable> =>
    Effect.suspend(() =>
      isFresh() && known.names.length === 1
        ? FIRST_CELL
        : Effect.flatMap(latest, ({ names }): Effect.Effect<A | CellName, StoreUnavailable> =>
            names.length === 1 ? FIRST_CELL : find,
          ),
    )
  /** Without the directory nobody knows whether a name is still that of nobody. */
  const byName = (kind: Rows.Kind, name: string): Effect.Effect<CellName, StoreUnavailable> =>
    unlessAlone(
      Effect.flatMap(remembered(`${kind} ${name}`, Rows.accountNamed(sql, kind, name)), (account_id) => {
        if (account_id !== NOBODY) return ofLive(account_id)
        return isFresh() ? FIRST_CELL : Effect.andThen(current, byName(kind, name))
      }),
    )

  /** Addresses that were opened, by their sealed text, or by the cell and where its node is. */
  const opened = new Map<string, CellServer>()
  const open = (stored: Rows.StoredServer): CellServer => {
    const at = "address" in stored ? stored.address.ciphertext : `${stored.name} ${stored.host} ${stored.port}`
    const server = opened.get(at) ?? serverAt(sql.config.url, keys, stored)
    opened.set(at, server)
    return server
  }

  const notToStart = (cell: CellName): Effect.Effect<ReadonlySet<string>, StoreUnavailable> =>
    Effect.flatMap(latest, ({ leaving, servers, strays }) => {
      const here = strays.get(cell)
      const moving = here === undefined ? leaving : new Set([...leaving, ...here])
      if (isFresh() || known.names.length === 1) return Effect.succeed(moving)
      if (!servers.has(cell)) return Effect.andThen(current, notToStart(cell))
      return Effect.map(departures.of(cell), (left) => new Set([...moving, ...left]))
    })

  return {
    serverOf: (cell) =>
      cell === FIRST
        ? Effect.undefined
        : Effect.map(latest, ({ servers }) => {
            const stored = servers.get(cell)
            return stored === undefined ? undefined : open(stored)
          }),
    markOf: (cell) => {
      if (!known.names.includes(cell)) return undefined
      const stored = known.servers.get(cell)
      // A cell may go to another node.
      return stored === undefined ? "schema" : "address" in stored ? stored.identity : "node"
    },
    names: Effect.map(latest, ({ names }) => names),
    of: (account_id) => unlessAlone(Effect.suspend(() => ofLive(Livemode.liveAccountOf(account_id)))),
    ofUnlessFenced: (account_id) => unlessAlone(ofLiveNow(Livemode.liveAccountOf(account_id))),
    ofKey: (hash) => byName("api_key", hash),
    ofUser: (user_id) => byName("user", user_id),
    beginningWith: (start) =>
      Effect.flatMap(latest, () =>
        Effect.map(remembered(`start ${start}`, Rows.accountsFrom(sql, start)), (found) =>
          found === NOBODY ? [] : found.split(" ").map((account_id) => account_id as AccountId),
        ),
      ),
    ofDomains: (names) =>
      Effect.flatMap(latest, (known) =>
        known.names.length === 1 ? Effect.undefined : Rows.accountsOfDomains(sql, names),
      ),
    isCertainlyAlone: () => known.names.length === 1 && now() - readAt < trustedMillis,
    notToStart,
    strays: Effect.map(current, ({ strays }) => strays),
    refresh,
  }
})

const FIRST_CELL = Effect.succeed(FIRST)

const serverAt = (home: Redacted.Redacted | undefined, keys: CellKeysShape, stored: Rows.StoredServer): CellServer => {
  if ("address" in stored) {
    const { address, identity } = stored
    return { identity, url: keys.open(identity, address), schema: FIRST, isNode: false }
  }
  const { group, host, name, port } = stored
  const url = nodeUrlOf(home ?? Redacted.make("postgres://"), name, host, port)
  return { identity: String(group), url, schema: name, isNode: true }
}
