import type { AccountId } from "@waybill/domain/values/Id"
import type { Fragment } from "effect/sql/Statement"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { type BatchTable, ifAny } from "../log/BatchTable.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type { Client } from "../postgres/Sql.ts"

export interface ContentRow {
  readonly account_id: AccountId
  readonly sha256: string
  readonly bytes: Uint8Array
  readonly expires_on: string
}

/** Columns of a row of `content` that `decode` needs. */
export interface StoredBytes {
  readonly bytes: Uint8Array
  readonly compressed: boolean
}

/** Returns the bytes as they were given. */
export const decode = ({ bytes, compressed }: StoredBytes): Uint8Array =>
  compressed ? zstdDecompressSync(bytes) : bytes

/** Smaller content gains nothing, and larger content would hold up the process. */
const COMPRESSED_BYTES = { least: 200, most: 64 * 1024 }
/** Compressed bytes, as a share of the content's, above which it is stored as it is. */
const WORTHWHILE_SHARE = 0.8

const compress = (bytes: Uint8Array): StoredBytes => {
  if (bytes.length < COMPRESSED_BYTES.least || bytes.length > COMPRESSED_BYTES.most) return { bytes, compressed: false }
  const compressed = zstdCompressSync(bytes)
  const isWorthwhile = compressed.length <= bytes.length * WORTHWHILE_SHARE
  return { bytes: isWorthwhile ? compressed : bytes, compressed: isWorthwhile }
}

/** The count of a content's uses ends here. It is only compared with 0. */
const MOST_USES = 2_147_483_647

/** Hashes as the table holds them; everybody else has them in hexadecimal digits. */
export const hashes = (sha256s: ReadonlyArray<string>) =>
  Arrays.byteas(sha256s.map((sha256) => Buffer.from(sha256, "hex")))

/**
 * Returns the statement that inserts content, or counts one more use of content that is there. With a statement per
 * table the rows are its values: others would be written into a file first.
 */
const insert = (sql: Client<unknown>, rows: ReadonlyArray<ContentRow>, isPerTable: boolean): Fragment => {
  const stored = new Map<string, ContentRow & StoredBytes & { readonly uses: number }>()
  for (const row of rows) {
    const key = `${row.account_id} ${row.sha256}`
    const same = stored.get(key)
    const expires_on = same === undefined || same.expires_on < row.expires_on ? row.expires_on : same.expires_on
    stored.set(key, { ...row, ...(same ?? compress(row.bytes)), expires_on, uses: (same?.uses ?? 0) + 1 })
  }
  // Locked in one order by all batches.
  const added = [...stored].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const values = isPerTable
    ? sql`VALUES ${sql.csv(
        added.map(
          ({ account_id, bytes, compressed, expires_on, sha256, uses }) =>
            sql`(${account_id}::text, ${Buffer.from(sha256, "hex")}::bytea, ${bytes}::bytea, ${compressed}::boolean,
              ${expires_on}::date, ${uses}::int)`,
        ),
      )}`
    : sql`SELECT * FROM unnest(${Arrays.texts(added.map((row) => row.account_id))},
      ${hashes(added.map((row) => row.sha256))}, ${Arrays.byteas(added.map((row) => row.bytes))},
      ${Arrays.booleans(added.map((row) => row.compressed))},
      ${Arrays.texts(added.map((row) => row.expires_on))}::date[], ${Arrays.ints(added.map((row) => row.uses))})`
  return sql`
    INSERT INTO content AS c (account_id, sha256, bytes, compressed, expires_on, uses)
    ${values}
    ON CONFLICT (account_id, sha256) DO UPDATE
      SET expires_on = greatest(c.expires_on, excluded.expires_on), uses = least(c.uses::bigint + excluded.uses, ${sql.literal(String(MOST_USES))})`
}

export const table: BatchTable<ContentRow> = {
  write: (sql, { isPerTable, rows }) => ({
    simple: ifAny(rows.of(table), (content) => insert(sql, content, isPerTable)),
  }),
}
