import type { AccountId } from "@waybill/domain/values/Id"
import * as Turn from "@waybill/runtime/flow/Turn"
import { Data, Effect } from "effect"
import * as LogReads from "../feed/LogReads.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import { streamKey } from "../log/StreamRef.ts"
import { type Client, Sql } from "../postgres/Sql.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as Commitments from "./Commitments.ts"
import * as Cosignatures from "./Cosignatures.ts"
import * as Leaves from "./Leaves.ts"
import * as LogTree from "./LogTree.ts"
import * as MerkleTree from "./MerkleTree.ts"

/** An event with what proves that the log holds it. */
export interface ProvedEvent {
  readonly event: Stored
  readonly entry: Commitments.Entry
  readonly index: number
  readonly proof: ReadonlyArray<Uint8Array>
  readonly open: (isHidden: (name: string) => boolean) => {
    readonly fields: Readonly<Record<string, Commitments.Opening>>
    readonly hidden: Readonly<Record<string, string>>
  }
}

export interface Proved {
  /** The newest head, or the one with the events that most witnesses have signed. */
  readonly tree: Checkpoints.Tree & Pick<Cosignatures.Cosigned, "witnesses" | "cosignatures">
  readonly events: ReadonlyArray<ProvedEvent>
}

/**
 * A history that cannot be proved: it has events that are not signed yet, its salt was erased, or it is not what the log holds.
 * `missing` if there is no such history.
 */
export class Unproved extends Data.TaggedError("Unproved")<{
  readonly why: "pending" | "erased" | "changed" | "missing"
}> {}

/** Events whose tiles are in memory together, and whose hashes take some milliseconds. */
const EVENTS_PER_TURN = 20

/** Proves leaves. A mail may have thousands, each in another tile, so that other work has its turn in between. */
const proofsOf = Effect.fnUntraced(function* <E>(
  sql: Client<E>,
  account_id: AccountId,
  indexes: ReadonlyArray<number>,
  size: number,
) {
  // Hashes of ranges, many of which are in the proofs of several leaves.
  const known = new Map<string, Uint8Array>()
  const nameOf = ({ end, start }: MerkleTree.Range) => `${start}-${end}`
  const proofs: Array<ReadonlyArray<Uint8Array>> = []
  for (let nth = 0; nth < indexes.length; nth += EVENTS_PER_TURN) {
    const page = indexes.slice(nth, nth + EVENTS_PER_TURN).map((index) => MerkleTree.inclusion(index, size))
    const missing = page.flat().filter((range) => !known.has(nameOf(range)))
    const hashOf = MerkleTree.hashOf(yield* LogTree.readTiles(sql, MerkleTree.tilesOf(missing)))
    yield* Turn.shared(account_id)
    for (const range of missing) if (!known.has(nameOf(range))) known.set(nameOf(range), Uint8Array.from(hashOf(range)))
    proofs.push(...page.map((ranges) => ranges.map((range) => known.get(nameOf(range)) ?? MerkleTree.EMPTY_ROOT)))
  }
  return proofs
})

/** Proves the history of a stream of the fiber's database. */
export const prove = Effect.fn("Receipts.prove")(function* (account_id: AccountId, stream_id: string) {
  const sql = yield* Sql
  const key = Leaves.keyOf({ account_id, stream_id })
  const whyWithout = yield* placeOf(account_id)
  const [newest] = yield* Checkpoints.trees(sql, 1)
  const row = (yield* Leaves.read(sql, [key])).get(key)
  const events = (yield* LogReads.readStreams(sql, [{ account_id, stream_id }])).get(
    streamKey({ account_id, stream_id }),
  )
  if (events === undefined) return yield* new Unproved({ why: row === undefined ? "missing" : "changed" })
  if (row === undefined || newest === undefined) return yield* new Unproved({ why: whyWithout(events) })
  if (row.salt === null) return yield* new Unproved({ why: "erased" })
  const indexes = events.map(({ version }) => Leaves.indexOf(row.leaves, version))
  if (Leaves.countOf(row.leaves) > events.length) return yield* new Unproved({ why: "changed" })
  const missing = events.filter((_, nth) => indexes[nth] === undefined)
  if (missing.length > 0) return yield* new Unproved({ why: whyWithout(missing) })
  const known = indexes.flatMap((index) => index ?? [])
  if (known.some((index) => index >= newest.size)) return yield* new Unproved({ why: "pending" })
  const cosigned = yield* Cosignatures.covering(sql, newest.tree, Math.max(...known))
  const tree = { ...newest, witnesses: [], cosignatures: [], ...cosigned }
  const of = Commitments.ofStream(row.salt)
  const { root } = Checkpoints.checkpointOf(tree.note)
  const proofs = yield* proofsOf(sql, account_id, known, tree.size)
  const proved: Array<ProvedEvent> = []
  for (const [nth, event] of events.entries()) {
    if (nth % EVENTS_PER_TURN === 0) yield* Turn.shared(account_id)
    const committed = LogTree.committed(event)
    const [entry, index, proof] = [of.entry(committed), known[nth] ?? 0, proofs[nth] ?? []]
    const leaf = MerkleTree.leafHash(Commitments.textOf(entry))
    if (!areEqual(MerkleTree.rootFrom(leaf, index, MerkleTree.inclusion(index, tree.size), proof), root))
      return yield* new Unproved({ why: "changed" })
    proved.push({ event, entry, index, proof, open: (isHidden) => of.open(committed, isHidden) })
  }
  return { tree, events: proved } satisfies Proved
})

export const areEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/**
 * Returns why events have no leaves: they have come lately, or were put behind the place of the tree in the log by hand. Read
 * before the leaves, because the tree may go past events while their leaves are read.
 */
const placeOf = Effect.fnUntraced(function* (account_id: AccountId) {
  const sql = yield* Sql
  const [place] = yield* sql<{ readonly position: bigint; readonly arriving: boolean }>`
    SELECT position, EXISTS (
        SELECT FROM log_arrivals WHERE account = ${account_id} AND position < last_position) AS arriving
    FROM followers WHERE name = ${LogTree.FOLLOWER}`
  return (events: ReadonlyArray<Stored>): "pending" | "changed" =>
    place === undefined || place.arriving || events.every(({ position }) => position > place.position)
      ? "pending"
      : "changed"
})
