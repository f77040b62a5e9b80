import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Duration, Effect, Layer, Metric, Option, type Redacted } from "effect"
import * as Databases from "../routing/Databases.ts"
import * as Cursors from "./Cursors.ts"
import { KEEPALIVE_AFTER } from "../postgres/Sockets.ts"
import * as Session from "../database/Session.ts"
import * as Epoch from "../postgres/Epoch.ts"
import { InstanceKey } from "../secrets/InstanceKey.ts"
import * as Lsn from "./Lsn.ts"
import * as Metrics from "../log/Metrics.ts"
import { Sql } from "../postgres/Sql.ts"
import { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** How often the positions of the primary and the replica are queried. */
export const POLL_EVERY = Duration.millis(500)
export const QUERY_TIMEOUT = Duration.seconds(2)
/** Maximum age of what a read on the replica shows when it needs no certain position. */
export const MAX_STALENESS = Duration.seconds(2)
/** Maximum number of accounts whose last write is remembered; those evicted raise a minimum position for all accounts. */
export const MAX_ACCOUNTS = 10_000
/** More bytes of write-ahead log than a server writes while its position cannot be queried. */
export const MAX_UNSEEN_BYTES = 1n << 34n
/** Purpose of the key that encrypts write-ahead log positions, which differs from that of event positions. */
export const PURPOSE = "positions of the write-ahead log"
/** Maximum number of positions that a reader names; a reader that names more reads the primary. */
export const MAX_NAMED_POSITIONS = 16
/** A position that no replica reaches: a read that needs it goes to the primary. */
const NEVER = Lsn.HIGHEST
const STALENESS_NANOS = Option.getOrThrow(Duration.toNanos(MAX_STALENESS))

const countRead = Metrics.seriesBy(
  Metric.counter("waybill_log_reads_total", {
    description: "Log reads of this process while it has a replica, by the server that answered",
    incremental: true,
  }),
  "at",
  ["primary", "replica"],
)

export interface ReplicaShape {
  /** Notes a commit of this node for these accounts, which their readers must see from now on. */
  readonly noteCommit: (accounts: ReadonlyArray<string>) => Effect.Effect<void>
  /**
   * Returns the position at which a replica shows the account's last write on this node and the positions that the caller
   * names; undefined without a replica.
   */
  readonly positionOf: (account_id: string, clientPosition?: string) => string | undefined
  /** Runs a read where it sees the account's writes on this node and the positions that the caller names. */
  readonly read: <A, E, R>(
    account_id: string,
    clientPosition: string | undefined,
    effect: Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>
}

const none: ReplicaShape = {
  noteCommit: () => Effect.void,
  positionOf: () => undefined,
  read: (_, __, effect) => effect,
}

/**
 * Decides whether logs are read from a replica. Positions here are those of the write-ahead log: a replica that has replayed
 * one shows every commit up to it. Event positions would not tell, because they are allocated before commits are ordered.
 */
export const Replica = Context.Reference<ReplicaShape>("@waybill/store/feed/Replica", { defaultValue: () => none })

export interface Options {
  readonly url: Redacted.Redacted
  readonly connections: number
}

export const layer = (options: Options): Layer.Layer<never, never, PgClient.PgClient | InstanceKey> =>
  Layer.effect(Replica, make(options))

/**
 * Returns the latest of the positions that a reader names: several, separated by commas, after concurrent writes. Undefined
 * if one of them cannot be decrypted.
 */
const latestNamed = (
  cursors: Cursors.CursorsShape,
  account_id: string,
  clientPosition: string | undefined,
): Lsn.Lsn | undefined => {
  if (clientPosition === undefined) return Lsn.LOWEST
  const named = clientPosition.split(",", MAX_NAMED_POSITIONS + 1)
  const positions = named.flatMap((text) => cursors.read(account_id, text.trim()) ?? [])
  return named.length > MAX_NAMED_POSITIONS || positions.length < named.length ? undefined : positions.reduce(Lsn.max)
}

const make = Effect.fnUntraced(function* (options: Options) {
  const cursors = Cursors.make((yield* InstanceKey).derive(PURPOSE))
  const primary = yield* Sql
  const replica = Context.get(yield* Layer.build(pool(options)), PgClient.PgClient)
  /** Position of each account's last write on this node, in the order of the writes. */
  const written = new Map<string, Lsn.Lsn>()
  /** Positions of the primary in the last `MAX_STALENESS`. */
  const samples: Array<{ readonly at: bigint; readonly lsn: Lsn.Lsn }> = []
  let lastWrite = Lsn.LOWEST
  /** Position that every account's readers must see. */
  let floor = Lsn.LOWEST
  /** Number of commits whose position could not be queried. */
  let unknownCommits = 0
  let replayed = Lsn.LOWEST
  /** Epoch of the primary. */
  let epoch: string | null = null
  /** The latest time up to which the replica shows every commit; undefined while that time is unknown. */
  let complete: bigint | undefined

  const note = (account_id: string, lsn: Lsn.Lsn) => {
    // Concurrent queries may return in another order.
    const latest = Lsn.max(written.get(account_id) ?? Lsn.LOWEST, lsn)
    written.delete(account_id)
    written.set(account_id, latest)
    for (const [oldest, position] of written) {
      if (written.size <= MAX_ACCOUNTS) break
      written.delete(oldest)
      floor = Lsn.max(floor, position)
    }
  }

  const advance = (to: Lsn.Lsn) => {
    replayed = to
    complete = samples.findLast(({ lsn }) => lsn <= to)?.at ?? complete
  }

  /** Queries a position of the write-ahead log past every earlier commit. */
  const inserted = primary<{ readonly lsn: string }>`SELECT pg_current_wal_insert_lsn()::text AS lsn`.pipe(
    Effect.flatMap(([row]) => Effect.fromNullishOr(Lsn.parse(row?.lsn))),
  )
  const flushed = primary<{ readonly lsn: string; readonly epoch: string | null }>`
    SELECT pg_current_wal_flush_lsn()::text AS lsn, ${Epoch.latest(primary)} AS epoch`.pipe(
    Effect.tap(([row]) => Effect.sync(() => (epoch = row?.epoch ?? null))),
    Effect.flatMap(([row]) => Effect.fromNullishOr(Lsn.parse(row?.lsn))),
  )
  /**
   * Queries the position that the replica has replayed. Fails for a database that does not follow the primary: one that was
   * promoted, or one that follows a former primary and may have replayed what the primary never had.
   */
  const queryReplayed = replica<{ readonly lsn: string | null; readonly epoch: string | null }>`
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text END AS lsn,
      ${Epoch.latest(replica)} AS epoch`.pipe(
    Effect.flatMap(([row]) => Effect.fromNullishOr(row?.epoch === epoch ? Lsn.parse(row.lsn) : undefined)),
  )

  const poll = Effect.gen(function* () {
    const before = unknownCommits
    const at = yield* Clock.monotonicTimeNanos
    const lsn = yield* flushed
    // Those commits precede this query.
    if (before > 0) {
      floor = Lsn.max(floor, yield* inserted)
      unknownCommits -= before
    }
    samples.push({ at, lsn })
    while ((samples[0]?.at ?? at) < at - STALENESS_NANOS) samples.shift()
    advance(yield* queryReplayed)
  }).pipe(
    Effect.timeout(QUERY_TIMEOUT),
    Effect.catchCause(() => Effect.sync(() => (complete = undefined))),
  )
  yield* poll
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(POLL_EVERY), poll)))

  const isReplayed = (needed: Lsn.Lsn) =>
    Effect.gen(function* () {
      const now = yield* Clock.monotonicTimeNanos
      if (needed === NEVER || complete === undefined || complete < now - STALENESS_NANOS) return false
      if (replayed >= needed) return true
      advance(yield* queryReplayed)
      return replayed >= needed
    }).pipe(
      Effect.timeout(QUERY_TIMEOUT),
      Effect.catchCause(() => Effect.succeed(false)),
    )

  return {
    noteCommit: (accounts) =>
      inserted.pipe(
        Effect.timeout(QUERY_TIMEOUT),
        Effect.tap((lsn) =>
          Effect.sync(() => {
            lastWrite = Lsn.max(lastWrite, lsn)
            for (const account_id of accounts) note(account_id, lsn)
          }),
        ),
        // The commit stands even if its position is unknown; until the next poll all reads go to the primary.
        Effect.catchCause(() => Effect.sync(() => void unknownCommits++)),
        Effect.asVoid,
      ),
    positionOf: (account_id, clientPosition) =>
      // For a commit of unknown position, an upper bound. Not the highest position of all: a client keeps the greatest
      // position it has got, and would never be served by a replica again.
      cursors.ofProgress(
        account_id,
        Lsn.max(
          unknownCommits > 0
            ? [lastWrite, floor, samples.at(-1)?.lsn ?? Lsn.LOWEST].reduce(Lsn.max) + MAX_UNSEEN_BYTES
            : Lsn.max(written.get(account_id) ?? lastWrite, floor),
          latestNamed(cursors, account_id, clientPosition) ?? Lsn.LOWEST,
        ),
      ),
    read: (account_id, clientPosition, effect) =>
      Effect.gen(function* () {
        // The replica is that of home.
        if (!(yield* Databases.isHome)) return yield* effect
        // A position that cannot be decrypted was not issued here: the primary is the safe choice.
        const named = latestNamed(cursors, account_id, clientPosition) ?? NEVER
        const needed =
          unknownCommits > 0 ? NEVER : [written.get(account_id) ?? Lsn.LOWEST, floor, named].reduce(Lsn.max)
        const isRead = yield* isReplayed(needed)
        countRead(isRead ? "replica" : "primary", 1)
        if (!isRead) return yield* effect
        // A replica cancels queries that conflict with its replay, and it may be gone by now.
        return yield* Effect.catchIf(
          Effect.provideService(effect, PgClient.PgClient, replica),
          (error) => error instanceof StoreUnavailable,
          () => effect,
        )
      }),
  } satisfies ReplicaShape
})

/** Connects on demand, so that a node starts and runs without its replica. */
const pool = ({ connections, url }: Options) =>
  PgClient.layer({
    url,
    applicationName: "waybill replica",
    maxConnections: connections,
    minConnections: 0,
    connectTimeout: QUERY_TIMEOUT,
    keepAlive: KEEPALIVE_AFTER,
    startupParameters: Session.SESSION,
    // Only an invalid URL can fail here, because nothing connects yet.
  }).pipe(Layer.orDie)
