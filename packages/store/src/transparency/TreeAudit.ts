import { Effect } from "effect"
import * as Feed from "../feed/Feed.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import type * as PackedEvent from "../packed/PackedEvent.ts"
import * as IdKey from "../postgres/IdKey.ts"
import { Sql } from "../postgres/Sql.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as Commitments from "./Commitments.ts"
import * as Leaves from "./Leaves.ts"
import * as LogTree from "./LogTree.ts"
import * as MerkleTree from "./MerkleTree.ts"

/** A difference between the tree of a database and its events. */
export interface Difference {
  readonly problem: "changed" | "removed" | "not in the log" | "out of order" | "the tree was changed"
  /** The event, or the stream whose event is missing; null if the tree itself is wrong. */
  readonly event_id: string | null
  readonly index: number | null
}

export interface TreeAudit {
  readonly leaves: number
  readonly events: number
  /** Leaves whose data was erased, has expired, or has left the database. Nothing says what they were. */
  readonly without_data: number
  readonly differences: ReadonlyArray<Difference>
}

/** Lower than every position that a row could have. */
const BEFORE_ALL = -(2n ** 63n)

/** Differences that are named. */
export const MAX_DIFFERENCES = 100
/** Tiles, and streams, that one statement reads. */
const PAGE_TILES = 100
const PAGE_STREAMS = 5_000

export type ReadTiles<E, R> = (
  keys: ReadonlyArray<MerkleTree.TileKey>,
) => Effect.Effect<ReadonlyMap<string, Uint8Array>, E, R>

/** Computes a tree of some leaves again from its lowest tiles, and compares those above. */
export const recompute = Effect.fnUntraced(function* <E, R>(size: number, readTiles: ReadTiles<E, R>) {
  let tree: { edge: MerkleTree.Edge; size: number } = { edge: [], size: 0 }
  const differing: Array<MerkleTree.TileKey> = []
  const isSame = (known: Uint8Array | undefined, { hashes }: MerkleTree.Tile) =>
    known !== undefined && Buffer.compare(known.subarray(0, hashes.length), hashes) === 0
  const tiles = Math.ceil(size / MerkleTree.TILE_WIDTH)
  for (let n = 0; n < tiles; n += PAGE_TILES) {
    const keys = Array.from({ length: Math.min(PAGE_TILES, tiles - n) }, (_, nth) => ({ level: 0, n: n + nth }))
    const read = yield* readTiles(keys)
    const above: Array<MerkleTree.Tile> = []
    for (const key of keys) {
      const first = key.n * MerkleTree.TILE_WIDTH
      const width = Math.min(MerkleTree.TILE_WIDTH, size - first)
      const hashes = read.get(MerkleTree.keyOf(key))?.subarray(0, width * MerkleTree.HASH_BYTES)
      if (hashes?.length !== width * MerkleTree.HASH_BYTES)
        return { root: MerkleTree.EMPTY_ROOT, differing: [...differing, key] }
      const leaves = Array.from({ length: width }, (_, nth) =>
        hashes.subarray(nth * MerkleTree.HASH_BYTES, (nth + 1) * MerkleTree.HASH_BYTES),
      )
      const grown = MerkleTree.append(tree.edge, tree.size, leaves)
      tree = grown
      above.push(...grown.tiles.filter(({ hashes, level }) => level > 0 && hashes.length === MerkleTree.TILE_BYTES))
    }
    if (n + PAGE_TILES >= tiles)
      above.push(
        ...MerkleTree.edgeTiles(size)
          .filter(({ level }) => level > 0)
          .map((key) => ({ ...key, hashes: tree.edge[key.level] ?? new Uint8Array() })),
      )
    const known = yield* readTiles(above)
    differing.push(...above.filter((tile) => !isSame(known.get(MerkleTree.keyOf(tile)), tile)))
  }
  return { root: MerkleTree.rootOf(tree.edge), differing }
})

const indexIn = (row: Leaves.StreamLeaves | undefined, { version }: Stored): number | undefined =>
  row === undefined ? undefined : Leaves.indexOf(row.leaves, version)

const leafIn = (tiles: ReadonlyMap<string, Uint8Array>, index: number): Uint8Array => {
  const [n, at] = [Math.floor(index / MerkleTree.TILE_WIDTH), (index % MerkleTree.TILE_WIDTH) * MerkleTree.HASH_BYTES]
  return tiles.get(MerkleTree.keyOf({ level: 0, n }))?.subarray(at, at + MerkleTree.HASH_BYTES) ?? new Uint8Array()
}

/** Compares the tree of the fiber's database with its events, from which all leaves are computed again. */
export const audit = Effect.fn("TreeAudit.audit")(function* () {
  const sql = yield* Sql
  const [place] = yield* sql<{ readonly position: bigint }>`
    SELECT position FROM followers WHERE name = ${LogTree.FOLLOWER}`
  // Arrivals are read before the head, which then has all leaves of those that are over.
  const arrivals = yield* sql<{ readonly account: string; readonly arriving: boolean }>`
    SELECT account, position < last_position AS arriving FROM log_arrivals`
  const arriving = new Map(arrivals.map(({ account, arriving }) => [account, arriving]))
  const head = yield* LogTree.read(sql)
  const { differing, root } = yield* recompute(head.size, (keys) => LogTree.readTiles(sql, keys))
  const differences: Array<Difference> = []
  const differs = (problem: Difference["problem"], event_id: string | null, index: number | null) => {
    if (differences.length < MAX_DIFFERENCES) differences.push({ problem, event_id, index })
  }
  const signed = (yield* Checkpoints.trees(sql, 1)).map(({ note }) => Checkpoints.checkpointOf(note))
  const isSigned = yield* Effect.forEach(signed, (checkpoint) =>
    Effect.map(
      recompute(checkpoint.size, (keys) => LogTree.readTiles(sql, keys)),
      (tree) => Buffer.compare(tree.root, checkpoint.root) === 0,
    ),
  )
  if (differing.length > 0 || Buffer.compare(root, head.root) !== 0 || isSigned.includes(false))
    differs("the tree was changed", null, null)
  const named = new Uint8Array(head.size)
  let last = -1
  let events = 0
  const check = (event: Stored, row: Leaves.StreamLeaves | undefined, tiles: ReadonlyMap<string, Uint8Array>) => {
    const index = indexIn(row, event)
    if (row === undefined || index === undefined || index >= head.size) {
      if (arriving.get(event.account_id) !== true) differs("not in the log", event.event_id, null)
      return
    }
    events++
    if (named[index] === 1 || (index < last && !arriving.has(event.account_id)))
      differs("out of order", event.event_id, index)
    if (!arriving.has(event.account_id)) last = index
    named[index] = 1
    if (row.salt === null) return
    const entry = Commitments.ofStream(row.salt).entry(LogTree.committed(event))
    if (Buffer.compare(MerkleTree.leafHash(Commitments.textOf(entry)), leafIn(tiles, index)) !== 0)
      differs("changed", event.event_id, index)
  }
  for (let after = BEFORE_ALL, more = true; more;) {
    const rows = yield* sql<PackedEvent.Row>`
      SELECT ${Feed.columns(sql)} FROM events
      WHERE position > ${after}::bigint AND position <= ${place?.position ?? 0n}::bigint
      ORDER BY position LIMIT ${Feed.MAX_FEED_PAGE}::int`
    const page = yield* Feed.opened(rows)
    const keys = page.map(Leaves.keyOf)
    const leaves = yield* Leaves.read(sql, [...new Set(keys)])
    const rowOf = (nth: number) => leaves.get(keys[nth] ?? "")
    const indexes = new Set(page.map((event, nth) => indexIn(rowOf(nth), event) ?? 0))
    const tiles = yield* LogTree.readTiles(
      sql,
      MerkleTree.tilesOf([...indexes].map((index) => ({ start: index, end: index + 1 }))),
    )
    for (const [nth, event] of page.entries()) check(event, rowOf(nth), tiles)
    after = page.at(-1)?.position ?? after
    more = page.length === Feed.MAX_FEED_PAGE
  }
  for (let after = IdKey.LOWEST, more = true; more;) {
    const rows = yield* Leaves.page(sql, after, PAGE_STREAMS)
    for (const { leaves, stream_key } of rows)
      for (let version = 1; version <= Leaves.countOf(leaves); version++) {
        const index = Leaves.indexOf(leaves, version)
        if (index !== undefined && index < head.size && named[index] === 0) {
          named[index] = 1
          differs("removed", stream_key, index)
        }
      }
    after = rows.at(-1)?.stream_key ?? after
    more = rows.length === PAGE_STREAMS
  }
  const without_data = named.reduce((sum, isNamed) => sum + (isNamed === 0 ? 1 : 0), 0)
  return { leaves: head.size, events, without_data, differences } satisfies TreeAudit
})
