import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Duration, Effect, Layer, Option, type Redacted } from "effect"
import * as Cursors from "../feed/Cursors.ts"
import { SESSION } from "./Database.ts"
import * as Epoch from "./Epoch.ts"
import { InstanceKey } from "../secrets/InstanceKey.ts"
import * as Lsn from "./Lsn.ts"
import * as Measures from "../statistics/Measures.ts"

/** How often the primary and the replica are asked how far they are. */
export const LOOK_EVERY = Duration.millis(500)
export const LOOK_TIMEOUT = Duration.seconds(2)
/** A read that waits for no position of its own sees nothing older than this. */
export const MAX_STALENESS = Duration.seconds(2)
/** Accounts whose last write is remembered one by one; who falls out is counted into a floor that holds for all. */
export const MAX_ACCOUNTS = 10_000
/** More than a server writes ahead in the while in which it cannot be asked where it is. */
export const MOST_UNSEEN = 1n << 34n
/** Of the key that encrypts places of the write-ahead log, which are no positions of events. */
export const PURPOSE = "positions of the write-ahead log"
/** Writes that a reader names at most; beyond that they read the primary. */
export const MAX_KNOWN = 16
/** Nobody has come that far: whoever waits for it reads the primary. */
const NEVER = Lsn.HIGHEST
const STALENESS = Option.getOrThrow(Duration.toNanos(MAX_STALENESS))

export interface ReplicaShape {
  /** What this node has committed for these accounts, a reader of theirs must see. */
  readonly wrote: (accounts: ReadonlyArray<string>) => Effect.Effect<void>
  /**
   * How far a replica must be to show the account's last write here, and those that its caller knows of; none where
   * there is no replica.
   */
  readonly positionOf: (account_id: string, known?: string) => string | undefined
  /** Runs a read where it sees the account's own writes: those of this node, and that up to which its caller knows. */
  readonly read: <A, E, R>(
    account_id: string,
    known: string | undefined,
    effect: Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>
}

const none: ReplicaShape = { wrote: () => Effect.void, positionOf: () => undefined, read: (_, __, effect) => effect }

/**
 * Where logs are read. Positions are those of the write-ahead log: a replica that has replayed one shows every commit up
 * to it, which positions of events would not say, since they are given out before commits are ordered.
 */
export const Replica = Context.Reference<ReplicaShape>("@waybill/store/postgres/Replica", { defaultValue: () => none })

export interface Options {
  readonly url: Redacted.Redacted
  readonly connections: number
}

export const layer = (options: Options): Layer.Layer<never, never, PgClient.PgClient | InstanceKey> =>
  Layer.effect(Replica, make(options))

/**
 * A reader who knows of several writes that ran side by side names them all, with commas between. Undefined where one of
 * them cannot be read.
 */
const latest = (cursors: Cursors.CursorsShape, account_id: string, known: string | undefined): Lsn.Lsn | undefined => {
  if (known === undefined) return Lsn.LOWEST
  const named = known.split(",", MAX_KNOWN + 1)
  const places = named.flatMap((text) => cursors.read(account_id, text.trim()) ?? [])
  return named.length > MAX_KNOWN || places.length < named.length ? undefined : places.reduce(Lsn.max)
}

const make = Effect.fnUntraced(function* (options: Options) {
  const cursors = Cursors.make((yield* InstanceKey).derive(PURPOSE))
  const primary = yield* PgClient.PgClient
  const replica = Context.get(yield* Layer.build(pool(options)), PgClient.PgClient)
  const written = new Map<string, Lsn.Lsn>()
  /** Where the primary was at which moment; none older than what a reader is shown at most. */
  const samples: Array<{ readonly at: bigint; readonly lsn: Lsn.Lsn }> = []
  let last = Lsn.LOWEST
  let floor = Lsn.LOWEST
  let doubts = 0
  let replayed = Lsn.LOWEST
  /** Which server the primary is. */
  let epoch: string | null = null
  /** The latest moment of which the replica shows all; nothing while it cannot be told. */
  let complete: bigint | undefined

  const note = (account_id: string, lsn: Lsn.Lsn) => {
    // Who asks side by side where he lies may hear it in another order.
    const last = Lsn.max(written.get(account_id) ?? Lsn.LOWEST, lsn)
    written.delete(account_id)
    written.set(account_id, last)
    if (written.size <= MAX_ACCOUNTS) return
    const [oldest, its = Lsn.LOWEST] = written.entries().next().value ?? []
    if (oldest === undefined) return
    written.delete(oldest)
    floor = Lsn.max(floor, its)
  }

  const advance = (to: Lsn.Lsn) => {
    replayed = to
    complete = samples.findLast(({ lsn }) => lsn <= to)?.at ?? complete
  }

  /** The place in the write-ahead log that every commit of before lies below. */
  const inserted = primary<{ readonly lsn: string }>`SELECT pg_current_wal_insert_lsn()::text AS lsn`.pipe(
    Effect.flatMap(([row]) => Effect.fromNullishOr(Lsn.parse(row?.lsn))),
  )
  const flushed = primary<{ readonly lsn: string; readonly epoch: string | null }>`
    SELECT pg_current_wal_flush_lsn()::text AS lsn, ${Epoch.latest(primary)} AS epoch`.pipe(
    Effect.tap(([row]) => Effect.sync(() => (epoch = row?.epoch ?? null))),
    Effect.flatMap(([row]) => Effect.fromNullishOr(Lsn.parse(row?.lsn))),
  )
  /**
   * Nothing where the database is none: one that was promoted goes its own way, and one that follows a primary of before
   * the last failover may have replayed more than there ever was.
   */
  const followed = replica<{ readonly lsn: string | null; readonly epoch: string | null }>`
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text END AS lsn,
      ${Epoch.latest(replica)} AS epoch`.pipe(
    Effect.flatMap(([row]) => Effect.fromNullishOr(row?.epoch === epoch ? Lsn.parse(row.lsn) : undefined)),
  )

  const look = Effect.gen(function* () {
    const before = doubts
    const at = yield* Clock.monotonicTimeNanos
    const lsn = yield* flushed
    // All that was in doubt was committed before this look.
    if (before > 0) {
      floor = Lsn.max(floor, yield* inserted)
      doubts -= before
    }
    samples.push({ at, lsn })
    while ((samples[0]?.at ?? at) < at - STALENESS) samples.shift()
    advance(yield* followed)
  }).pipe(
    Effect.timeout(LOOK_TIMEOUT),
    Effect.catchCause(() => Effect.sync(() => (complete = undefined))),
  )
  yield* look
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(LOOK_EVERY), look)))

  const isThere = (needed: Lsn.Lsn) =>
    Effect.gen(function* () {
      const now = yield* Clock.monotonicTimeNanos
      if (needed === NEVER || complete === undefined || complete < now - STALENESS) return false
      if (replayed >= needed) return true
      advance(yield* followed)
      return replayed >= needed
    }).pipe(
      Effect.timeout(LOOK_TIMEOUT),
      Effect.catchCause(() => Effect.succeed(false)),
    )

  return {
    wrote: (accounts) =>
      inserted.pipe(
        Effect.timeout(LOOK_TIMEOUT),
        Effect.tap((lsn) =>
          Effect.sync(() => {
            last = Lsn.max(last, lsn)
            for (const account_id of accounts) note(account_id, lsn)
          }),
        ),
        // It is committed, whatever becomes of the question; until the next look nobody reads a replica here.
        Effect.catchCause(() => Effect.sync(() => void doubts++)),
        Effect.asVoid,
      ),
    positionOf: (account_id, known) =>
      // Where a commit lies that nobody could ask for is not known, but what it does not lie beyond. Not the end of all
      // positions: a reader keeps the greatest that he was told, and would never be shown a replica again.
      cursors.ofProgress(
        account_id,
        Lsn.max(
          doubts > 0
            ? [last, floor, samples.at(-1)?.lsn ?? Lsn.LOWEST].reduce(Lsn.max) + MOST_UNSEEN
            : Lsn.max(written.get(account_id) ?? last, floor),
          latest(cursors, account_id, known) ?? Lsn.LOWEST,
        ),
      ),
    read: (account_id, known, effect) =>
      Effect.gen(function* () {
        // What cannot be read was given out by nobody, and then the primary knows best.
        const told = latest(cursors, account_id, known) ?? NEVER
        const needed = doubts > 0 ? NEVER : [written.get(account_id) ?? Lsn.LOWEST, floor, told].reduce(Lsn.max)
        const isRead = yield* isThere(needed)
        Measures.logRead(isRead ? "replica" : "primary")
        if (!isRead) return yield* effect
        // A replica ends queries that stand in the way of its replay, and may be gone by now.
        return yield* Effect.catchDefect(Effect.provideService(effect, PgClient.PgClient, replica), () => effect)
      }),
  } satisfies ReplicaShape
})

/** A node starts without its replica, and goes on without it. */
const pool = ({ connections, url }: Options) =>
  PgClient.layer({
    url,
    applicationName: "waybill replica",
    maxConnections: connections,
    minConnections: 0,
    connectTimeout: LOOK_TIMEOUT,
    startupParameters: SESSION,
    // Nothing connects before it is asked; what else could fail is an address that is none.
  }).pipe(Layer.orDie)
