import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import { Context, Data, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Sql } from "../postgres/Sql.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import { repeatWork, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Interval of a node's heartbeat, and of the attempts to open the kinds that wait. */
export const NODE_BEAT_EVERY = Duration.seconds(5)
/** Silence after which a node counts as dead, so that kinds which it does not know can be opened. */
export const NODE_DEAD_AFTER = Duration.seconds(30)

/** Advisory lock under which nodes announce themselves and open kinds, one after the other. */
const LOCK = [0x5742_0004, 0] as const
const ID_BYTES = 12
const DEAD_SECONDS = Duration.toSeconds(NODE_DEAD_AFTER)

/** The log may contain events that this release cannot read. */
export class NodeTooOld extends Data.TaggedError("NodeTooOld")<{ readonly kinds: ReadonlyArray<string> }> {
  override get message() {
    return `the log may contain events of a newer release of Waybill (${this.kinds.join(", ")}): upgrade this node first`
  }
}

export interface EventKindsShape {
  /** Whether every node of the installation can read events of this kind. A kind that is open stays open. */
  readonly isOpen: (kind: string) => boolean
}

/** The event kinds that may be written. */
export class EventKinds extends Context.Service<EventKinds, EventKindsShape>()("@waybill/store/feed/EventKinds") {}

export interface Options {
  /** Release that `waybill doctor` shows. Undefined for a command, which ends soon and is no node. */
  readonly release: string | undefined
  /** Kinds that this node can read; those of the release, except in tests. */
  readonly kinds?: ReadonlyArray<string>
}

/** Announces this node and its kinds for as long as it runs, and opens kinds once all live nodes know them. */
export const layer = ({ kinds = DomainEvent.EVENT_KINDS, release }: Options) =>
  Layer.effect(
    EventKinds,
    Effect.gen(function* () {
      const sql = yield* HomeSql
      const id = `node_${Buffer.from(SecureRandom.randomBytesUnsafe(ID_BYTES)).toString("hex")}`
      let open: ReadonlySet<string> = new Set()
      const beat = Effect.gen(function* () {
        open = new Set(yield* announce(sql, { id, kinds, release }))
        const unknown = [...open].filter((kind) => !kinds.includes(kind))
        if (unknown.length > 0) return yield* new NodeTooOld({ kinds: unknown })
        return kinds.filter((kind) => !open.has(kind)).join(", ")
      })
      if (release !== undefined)
        yield* Effect.addFinalizer(() => Effect.ignoreCause(sql`DELETE FROM nodes WHERE id = ${id}`))
      let waiting = yield* beat
      if (release === undefined) return { isOpen: (kind: string) => open.has(kind) }
      const report = (now: string) => {
        if (now === waiting) return Effect.void
        waiting = now
        return now === ""
          ? Effect.logInfo("all nodes can read the new event kinds; the upgrade is complete")
          : held(now)
      }
      if (waiting !== "") yield* held(waiting)
      const next = Effect.as(Effect.flatMap(Effect.delay(beat, NODE_BEAT_EVERY), report), Duration.zero)
      yield* repeatWork(next, { failed: "heartbeat of this node failed; it will retry", retryAfter: Duration.zero })
      return { isOpen: (kind: string) => open.has(kind) }
    }),
  )

const held = (kinds: string) =>
  Effect.logWarning("new event kinds are not written until every node of an older release is stopped", { kinds })

interface Node {
  readonly id: string
  readonly kinds: ReadonlyArray<string>
  readonly release: string | undefined
}

/**
 * Writes the heartbeat, opens the kinds that all live nodes know, and returns all open kinds. The lock orders this with
 * other nodes: a node that starts either is seen before a kind is opened, or sees that the kind is open.
 */
const announce = (sql: Sql, { id, kinds, release }: Node) =>
  Effect.gen(function* () {
    yield* sql`SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(${LOCK[0]}::int, ${LOCK[1]}::int)) AS done`
    yield* sql`DELETE FROM nodes WHERE beat_at < clock_timestamp() - make_interval(secs => ${DEAD_SECONDS}::float8)`
    if (release !== undefined)
      yield* sql`
        INSERT INTO nodes (id, release, kinds, beat_at)
        VALUES (${id}, ${release}, ${kinds}::text[], clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET beat_at = clock_timestamp()`
    yield* sql`
      INSERT INTO event_kinds (kind)
      SELECT kind FROM unnest(${kinds}::text[]) AS own(kind)
      WHERE NOT EXISTS (SELECT FROM nodes WHERE NOT kind = ANY(nodes.kinds))
      ON CONFLICT DO NOTHING`
    const rows = yield* sql<{ readonly kind: string }>`SELECT kind FROM event_kinds ORDER BY kind`
    return rows.map(({ kind }) => kind)
  }).pipe(sql.withTransaction) satisfies Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
