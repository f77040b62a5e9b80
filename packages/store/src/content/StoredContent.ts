import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { zstdDecompressSync } from "node:zlib"
import * as Arrays from "../postgres/Arrays.ts"
import type { Compressed, ContentTemplates } from "./ContentTemplates.ts"
import * as Difference from "./Difference.ts"
import type { Template } from "./Template.ts"
import type { Sql, Client } from "../postgres/Sql.ts"

export interface ContentRow {
  readonly account_id: AccountId
  readonly sha256: string
  readonly bytes: Uint8Array
  readonly expires_on: string
  /** Recipients of the message, if this is its body: a template holds only what several have got. */
  readonly sentTo?: string
}

/** Columns of a row of `content`, as `columns` reads them. */
export interface StoredBytes {
  readonly bytes: Uint8Array
  readonly compressed: boolean
  /** Bytes of the template that the row was compressed with. */
  readonly template: Uint8Array | null
}

/** SQL of the columns that `decode` needs, of the table `content c`. */
export const columns = (sql: Client<unknown>): Fragment => sql`c.bytes, c.compressed, (
  SELECT m.bytes FROM content_templates m WHERE m.account_id = c.account_id AND m.id = c.template) AS template`

/** Returns the bytes as they were given. */
export const decode = ({ bytes, compressed, template }: StoredBytes): Uint8Array => {
  if (!compressed) return bytes
  if (template === null) return zstdDecompressSync(bytes)
  return Difference.isDifference(bytes)
    ? Difference.decode(bytes, template)
    : zstdDecompressSync(bytes, { dictionary: template })
}

/** The count of a content's uses ends here. It is only compared with 0. */
const MOST_USES = 2_147_483_647

/** Hashes as the table holds them; everybody else has them in hexadecimal digits. */
export const hashes = (sha256s: ReadonlyArray<string>) =>
  Arrays.byteas(sha256s.map((sha256) => Buffer.from(sha256, "hex")))

/**
 * Returns the parts of a statement that insert content, or count one more use of content that is there, and the templates that it was compressed with. Each batch brings
 * its templates along, because the expiry may have removed one that was not needed for a while.
 */
export const inserts = (
  sql: Client<unknown>,
  templates: ContentTemplates,
  rows: ReadonlyArray<ContentRow>,
): ReadonlyArray<Fragment> => {
  /** Templates that the rows need, with the account that each is of. */
  const used = new Map<Template, string>()
  const stored = new Map<string, Compressed & ContentRow & { readonly uses: number }>()
  for (const row of rows) {
    const compressed = templates.compress(row.account_id, row.bytes, row.sentTo)
    if (compressed.template !== undefined) used.set(compressed.template, row.account_id)
    const key = `${row.account_id} ${row.sha256}`
    const same = stored.get(key)
    const expires_on = same === undefined || same.expires_on < row.expires_on ? row.expires_on : same.expires_on
    stored.set(key, { ...row, ...compressed, expires_on, uses: (same?.uses ?? 0) + 1 })
  }
  const added = [...stored.values()]
  const content = sql`
    INSERT INTO content AS c (account_id, sha256, bytes, compressed, template, expires_on, uses)
    SELECT * FROM unnest(${Arrays.texts(added.map((row) => row.account_id))},
      ${hashes(added.map((row) => row.sha256))}, ${Arrays.byteas(added.map((row) => row.bytes))},
      ${Arrays.booleans(added.map((row) => row.compressed))}, ${Arrays.byteas(added.map((row) => row.template?.id ?? null))},
      ${Arrays.texts(added.map((row) => row.expires_on))}::date[], ${Arrays.ints(added.map((row) => row.uses))})
      AS new(account_id, sha256, bytes, compressed, template, expires_on, uses)
    ORDER BY 1, 2
    ON CONFLICT (account_id, sha256) DO UPDATE
      SET expires_on = greatest(c.expires_on, excluded.expires_on), uses = least(c.uses::bigint + excluded.uses, ${sql.literal(String(MOST_USES))})`
  return used.size === 0 ? [content] : [insertTemplates(sql, used), content]
}

const insertTemplates = (sql: Client<unknown>, used: ReadonlyMap<Template, string>): Fragment => sql`
  INSERT INTO content_templates (account_id, id, bytes)
  SELECT * FROM unnest(${Arrays.texts([...used.values()])}, ${Arrays.byteas([...used.keys()].map(({ id }) => id))},
    ${Arrays.byteas([...used.keys()].map(({ bytes }) => bytes))}) AS new(account_id, id, bytes)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING`

/** Removes the templates that no content needs any more. A new one may be needed by a commit that is under way. */
export const removeUnusedTemplates = (sql: Sql) => sql`
  DELETE FROM content_templates t WHERE created_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM content c WHERE c.account_id = t.account_id AND c.template = t.id)`

/** Rows that one statement decodes and writes anew. */
const PAGE_ROWS = 500

/** Removes a template, after the content that was compressed with it is stored without it. */
export const removeTemplate = Effect.fnUntraced(function* (sql: Sql, account_id: string, id: Uint8Array) {
  while (true) {
    const rows = yield* sql<StoredBytes & { readonly sha256: Uint8Array }>`
      SELECT c.sha256, ${columns(sql)} FROM content c WHERE c.account_id = ${account_id} AND c.template = ${id}
      LIMIT ${PAGE_ROWS}::int`
    if (rows.length === 0) break
    yield* sql`
      UPDATE content c SET bytes = plain.bytes, compressed = false, template = NULL
      FROM unnest(${Arrays.byteas(rows.map(({ sha256 }) => sha256))}, ${Arrays.byteas(rows.map(decode))}) AS plain(sha256, bytes)
      WHERE c.account_id = ${account_id} AND c.sha256 = plain.sha256`
  }
  yield* sql`DELETE FROM content_templates WHERE account_id = ${account_id} AND id = ${id}`
})
