import { Effect } from "effect"
import { hash } from "node:crypto"
import * as IdKey from "../postgres/IdKey.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type { Client } from "../postgres/Sql.ts"

/** Where the events of a stream are in the tree, and the salt from which their commitments follow. */
export interface StreamLeaves {
  readonly stream_key: IdKey.IdKey
  /** Null once the data was erased. */
  readonly salt: Uint8Array | null
  readonly leaves: Uint8Array
}

/** Bytes of an index: enough for centuries of a busy database. */
const INDEX_BYTES = 6
/** Index of an event that has no leaf yet, although a later one of its stream has. */
const NONE = 2 ** (8 * INDEX_BYTES) - 1

/** Streams with a row for each message, whose keys have the order of time. */
const BY_ID = /^(?:msg|inb)_/u
const KEY_CHARS = 32

/** Returns the key of a stream: the UUID in the id of a mail, of any other stream a hash of its name. */
export const keyOf = ({ account_id, stream_id }: { readonly account_id: string; readonly stream_id: string }) =>
  BY_ID.test(stream_id) ? IdKey.of(stream_id) : hash("sha256", `${account_id} ${stream_id}`, "hex").slice(0, KEY_CHARS)

/** Number of events that have a place, also those that have no leaf yet. */
export const countOf = (leaves: Uint8Array): number => leaves.length / INDEX_BYTES

/** Returns the index of a version's leaf; undefined if it has none. */
export const indexOf = (leaves: Uint8Array, version: number): number | undefined => {
  if (version > countOf(leaves)) return undefined
  const index = Buffer.from(leaves.buffer, leaves.byteOffset, leaves.length).readUIntBE(
    (version - 1) * INDEX_BYTES,
    INDEX_BYTES,
  )
  return index === NONE ? undefined : index
}

/** Returns the leaves with the index of one more version. */
export const withIndex = (leaves: Uint8Array, version: number, index: number): Uint8Array => {
  const longer = Buffer.alloc(Math.max(leaves.length, version * INDEX_BYTES), 0xff)
  longer.set(leaves)
  longer.writeUIntBE(index, (version - 1) * INDEX_BYTES, INDEX_BYTES)
  return longer
}

export const read = <E>(sql: Client<E>, keys: ReadonlyArray<IdKey.IdKey>) =>
  Effect.map(
    sql<StreamLeaves>`
      SELECT stream_key::text AS stream_key, salt, leaves FROM log_leaves WHERE stream_key = ANY(${Arrays.texts(keys)}::text[]::uuid[])`,
    (rows) => new Map(rows.map((row) => [IdKey.fromUuid(row.stream_key), row])),
  )

/** Writes the leaves of streams. The salt of a stream that has one, or has had one, stays. */
export const write = <E>(sql: Client<E>, rows: ReadonlyArray<StreamLeaves>) => sql`
  INSERT INTO log_leaves AS l (stream_key, salt, leaves)
  SELECT key::uuid, salt, leaves FROM unnest(${Arrays.texts(rows.map((row) => row.stream_key))},
    ${Arrays.byteas(rows.map(({ salt }) => salt))}, ${Arrays.byteas(rows.map(({ leaves }) => leaves))})
    AS new(key, salt, leaves)
  ON CONFLICT (stream_key) DO UPDATE SET leaves = excluded.leaves`

/** Forgets the salt of a stream whose data is erased, which may have another name from then on. */
export const erase = <E>(sql: Client<E>, key: IdKey.IdKey, newKey: IdKey.IdKey) => sql`
  UPDATE log_leaves SET salt = NULL, stream_key = ${newKey}::uuid WHERE stream_key = ${key}::uuid`

/** Forgets streams that are removed, or that have left the database. */
export const remove = <E>(sql: Client<E>, keys: ReadonlyArray<IdKey.IdKey>) => sql`
  DELETE FROM log_leaves WHERE stream_key = ANY(${Arrays.texts(keys)}::text[]::uuid[])`

/** Reads streams in the order of their keys. */
export const page = <E>(sql: Client<E>, after: IdKey.IdKey, limit: number) =>
  Effect.map(
    sql<StreamLeaves>`
      SELECT stream_key::text AS stream_key, salt, leaves FROM log_leaves
      WHERE stream_key > ${after}::uuid ORDER BY stream_key LIMIT ${limit}::int`,
    (rows) => rows.map((row) => ({ ...row, stream_key: IdKey.fromUuid(row.stream_key) })),
  )
