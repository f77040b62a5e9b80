import { Effect } from "effect"
import * as Arrays from "../postgres/Arrays.ts"
import { type Client, Sql } from "../postgres/Sql.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as LogTree from "./LogTree.ts"
import * as MerkleTree from "./MerkleTree.ts"

/** A head that witnesses have signed. */
export interface Cosigned {
  readonly size: number
  readonly note: string
  /** Keys of the witnesses, and their signatures as lines of the note, in the same order. */
  readonly witnesses: ReadonlyArray<string>
  readonly cosignatures: ReadonlyArray<string>
}

/** Returns the head with a leaf that most witnesses have signed, the newest of these. */
export const covering = <E>(sql: Client<E>, tree: number, index: number) =>
  Effect.map(
    sql<Cosigned>`
      SELECT size::float8 AS size, note, witnesses, cosignatures FROM log_cosignatures
      WHERE tree = ${tree}::int AND size > ${index}::bigint ORDER BY cardinality(witnesses) DESC, size DESC LIMIT 1`,
    ([cosigned]) => cosigned,
  )

/** Returns the newest head of the fiber's database, with the witnesses that have signed it. */
export const newest = Effect.gen(function* () {
  const sql = yield* Sql
  const [tree] = yield* Checkpoints.trees(sql, 1)
  if (tree === undefined) return undefined
  const [cosigned] = yield* sql<{ readonly witnesses: ReadonlyArray<string> }>`
    SELECT witnesses FROM log_cosignatures WHERE tree = ${tree.tree}::int AND size = ${tree.size}::bigint`
  return { tree, witnesses: cosigned?.witnesses ?? [] }
})

/** Reserves the witnesses for this process, so that no other one asks them; false if another one does. */
export const claim = Effect.fnUntraced(function* (seconds: number) {
  const sql = yield* Sql
  const claimed = yield* sql`
    UPDATE log_heads SET asked_until = now() + ${seconds}::int * interval '1 second'
    WHERE asked_until IS NULL OR asked_until <= now() RETURNING true`
  return claimed.length > 0
})

export const release = Effect.gen(function* () {
  const sql = yield* Sql
  yield* sql`UPDATE log_heads SET asked_until = NULL`
})

/** Proves that a tree extends the one of an earlier size. */
export const consistency = Effect.fnUntraced(function* (earlier: number, { size }: Checkpoints.Tree) {
  const ranges = MerkleTree.consistency(earlier, size)
  const tiles = yield* LogTree.readTiles(yield* Sql, MerkleTree.tilesOf(ranges))
  return ranges.map(MerkleTree.hashOf(tiles))
})

/** Stores the signatures of a head, besides those that it has. Older heads that no more witnesses have signed are not kept. */
export const store = Effect.fn("Cosignatures.store")(function* (
  { note, size, tree }: Checkpoints.Tree,
  signatures: ReadonlyArray<{ readonly witness: string; readonly line: string }>,
) {
  const sql = yield* Sql
  const witnesses = Arrays.texts(signatures.map(({ witness }) => witness))
  const lines = Arrays.texts(signatures.map(({ line }) => line))
  // A note that was signed anew, as with another key, has the same text, so its cosignatures hold.
  yield* sql.withTransaction(
    Effect.andThen(
      sql`
        INSERT INTO log_cosignatures AS c (tree, size, note, witnesses, cosignatures)
        VALUES (${tree}::int, ${size}::bigint, ${note}, ${witnesses}, ${lines})
        ON CONFLICT (tree, size) DO UPDATE
        SET note = excluded.note, witnesses = c.witnesses || excluded.witnesses, cosignatures = c.cosignatures || excluded.cosignatures`,
      sql`
        DELETE FROM log_cosignatures o USING log_cosignatures n
        WHERE n.tree = ${tree}::int AND n.size = ${size}::bigint AND (o.tree < n.tree
          OR (o.tree = n.tree AND o.size < n.size AND cardinality(o.witnesses) <= cardinality(n.witnesses)))`,
    ),
  )
})
