import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Turn from "@waybill/runtime/flow/Turn"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as Follower from "../feed/Follower.ts"
import * as Feed from "../feed/Feed.ts"
import type { IdKey } from "../postgres/IdKey.ts"
import type * as PackedEvent from "../packed/PackedEvent.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type { Client, Sql } from "../postgres/Sql.ts"
import * as Commitments from "./Commitments.ts"
import * as Leaves from "./Leaves.ts"
import * as MerkleTree from "./MerkleTree.ts"

export const FOLLOWER = "log_tree"

/** Events whose leaves are computed in one turn of the event loop, some milliseconds. */
const EVENTS_PER_TURN = 50

/** A tree of some leaves. */
export interface Head {
  readonly size: number
  readonly root: Uint8Array
}

/** Milliseconds of processor time for which this process has computed leaves and hashes. */
let busy_ms = 0
export const busyMs = (): number => busy_ms

const timed = <A>(compute: () => A): A => {
  const start = process.threadCpuUsage()
  const result = compute()
  const { system, user } = process.threadCpuUsage(start)
  busy_ms += (system + user) / 1000
  return result
}

/** Returns an event as it is committed to: its data as the log has it, but for its time, which stands beside it. */
export const committed = ({ data, event_id, recorded_at, stream_id, type, version }: Stored): Commitments.Committed => {
  const { at, ...fields } = data
  return {
    event: event_id,
    stream_id,
    version,
    type: DomainEvent.publicType(type as DomainEvent.Tag),
    at: (at ?? data["created_at"] ?? recorded_at) as Timestamp.Timestamp,
    fields,
  }
}

/** Appends events to the tree of the database, in their order. The follower's row is locked, so that nobody else does. */
const append = Effect.fnUntraced(function* (sql: Sql, events: ReadonlyArray<Stored>) {
  const head = yield* read(sql)
  const edge = yield* readEdge(sql, head.size)
  const keys = new Map(events.map((event) => [event, Leaves.keyOf(event)]))
  const known = yield* Leaves.read(sql, [...new Set(keys.values())])
  const salts = randomBytes(keys.size * Commitments.SALT_BYTES)
  const streams = new Map<IdKey, { row: Leaves.StreamLeaves; of: ReturnType<typeof Commitments.ofStream> }>()
  const hashes: Array<Uint8Array> = []
  const add = (event: Stored, nth: number) => {
    const key = keys.get(event) ?? ""
    // Later events of a stream that was erased say nothing either.
    const salt = salts.subarray(nth * Commitments.SALT_BYTES, (nth + 1) * Commitments.SALT_BYTES)
    const row = streams.get(key)?.row ?? known.get(key) ?? { stream_key: key, salt, leaves: new Uint8Array() }
    const of = streams.get(key)?.of ?? Commitments.ofStream(row.salt ?? salt)
    const leaves = Leaves.withIndex(row.leaves, event.version, head.size + hashes.length)
    streams.set(key, { row: { ...row, stream_key: key, leaves }, of })
    hashes.push(MerkleTree.leafHash(Commitments.textOf(of.entry(committed(event)))))
  }
  for (let nth = 0; nth < events.length; nth += EVENTS_PER_TURN) {
    if (nth > 0) yield* Turn.next
    timed(() => {
      for (const [at, event] of events.slice(nth, nth + EVENTS_PER_TURN).entries()) add(event, nth + at)
    })
  }
  const tree = timed(() => {
    const grown = MerkleTree.append(edge, head.size, hashes)
    return { ...grown, root: MerkleTree.rootOf(grown.edge) }
  })
  yield* Leaves.write(
    sql,
    [...streams.values()].map(({ row }) => row),
  )
  yield* sql`
    INSERT INTO log_tiles AS t (level, n, hashes)
    SELECT * FROM unnest(${Arrays.ints(tree.tiles.map(({ level }) => level))}::int[],
      ${Arrays.bigints(tree.tiles.map(({ n }) => BigInt(n)))}, ${Arrays.byteas(tree.tiles.map(({ hashes }) => hashes))})
    ON CONFLICT (level, n) DO UPDATE SET hashes = excluded.hashes`
  yield* sql`
    INSERT INTO log_heads (size, root) VALUES (${tree.size}::bigint, ${tree.root})
    ON CONFLICT (id) DO UPDATE SET size = excluded.size, root = excluded.root`
})

/** Lets the tree rest until the end of the transaction, so that no leaf is made of data that changes meanwhile. */
export const hold = (sql: Sql) => sql`SELECT FROM followers WHERE name = ${FOLLOWER} FOR UPDATE`

/** Notes that accounts have come with events up to a position. Their leaves are appended later, since requests of them wait. */
export const noteArrival = (sql: Sql, accounts: ReadonlyArray<string>, last: bigint) => sql`
  INSERT INTO log_arrivals (account, position, last_position)
  SELECT account, 0, ${last}::bigint FROM unnest(${Arrays.texts(accounts)}) AS a(account)
  ON CONFLICT (account) DO UPDATE SET position = 0, last_position = excluded.last_position`

/**
 * Appends a page of the log. Later events of an account whose events still arrive are left to `appendArrived`, so that those of a
 * mail have the order of time, and other accounts wait for none of them.
 */
const count = Effect.fnUntraced(function* (sql: Sql, events: ReadonlyArray<Stored>) {
  const later = new Map(events.map(({ account_id, position }) => [account_id, position]))
  const arriving = yield* sql<{ readonly account: string }>`
    UPDATE log_arrivals AS a SET last_position = new.position
    FROM unnest(${Arrays.texts([...later.keys()])}, ${Arrays.bigints([...later.values()])}) AS new(account, position)
    WHERE a.account = new.account AND a.position < a.last_position RETURNING a.account`
  const left = new Set(arriving.map(({ account }) => account))
  const own = events.filter(({ account_id }) => !left.has(account_id))
  if (own.length > 0) yield* append(sql, own)
})

/** Appends a page of events that came with an account. */
const appendArrived = Effect.fnUntraced(function* (sql: Sql, limit: number) {
  const [next] = yield* sql<{ readonly account: string; readonly position: bigint; readonly last_position: bigint }>`
    SELECT account, position, last_position FROM log_arrivals WHERE position < last_position ORDER BY account LIMIT 1`
  if (next === undefined) return { events: 0, isFull: false }
  const rows = yield* sql<PackedEvent.Row>`
    SELECT ${Feed.columns(sql)} FROM events
    WHERE account_id = ${next.account} AND position > ${next.position}::bigint AND position <= ${next.last_position}::bigint
    ORDER BY position LIMIT ${limit}::int`
  if (rows.length > 0) yield* append(sql, yield* Feed.opened(rows))
  const upTo = rows.length === limit ? (rows.at(-1)?.position ?? next.last_position) : next.last_position
  yield* sql`UPDATE log_arrivals SET position = ${upTo}::bigint WHERE account = ${next.account}`
  return { events: rows.length, isFull: true }
})

/** Builds the tree behind the ordered feed: each event of the database becomes a leaf. */
export const follower: Pick<Follower.Follower, "name" | "types" | "count" | "before"> = {
  name: FOLLOWER,
  types: DomainEvent.TAGS,
  count,
  before: {
    waits: (sql) => sql`EXISTS (SELECT FROM log_arrivals WHERE position < last_position)`,
    page: appendArrived,
  },
}

/** Appends the events of one page to the tree of the fiber's database. */
export const step = Follower.step(follower)

export const read = <E>(sql: Client<E>) =>
  Effect.map(
    sql<Head>`SELECT size::float8 AS size, root FROM log_heads`,
    ([head]): Head => head ?? { size: 0, root: MerkleTree.EMPTY_ROOT },
  )

const readEdge = Effect.fnUntraced(function* <E>(sql: Client<E>, size: number) {
  const keys = MerkleTree.edgeTiles(size)
  const tiles = yield* readTiles(sql, keys)
  const edge: Array<Uint8Array> = []
  for (const key of keys) edge[key.level] = tiles.get(MerkleTree.keyOf(key)) ?? new Uint8Array()
  return Array.from(edge, (hashes) => hashes ?? new Uint8Array()) as MerkleTree.Edge
})

/** Reads tiles as long as they have grown. */
export const readTiles = <E>(sql: Client<E>, keys: ReadonlyArray<MerkleTree.TileKey>) =>
  Effect.map(
    sql<MerkleTree.TileKey & { readonly hashes: Uint8Array }>`
      SELECT t.level, t.n::float8 AS n, t.hashes
      FROM unnest(${Arrays.ints(keys.map(({ level }) => level))}, ${Arrays.bigints(keys.map(({ n }) => BigInt(n)))})
        AS wanted(level, n) JOIN log_tiles t ON t.level = wanted.level AND t.n = wanted.n`,
    (tiles) => new Map(tiles.map((tile) => [MerkleTree.keyOf(tile), tile.hashes])),
  )
