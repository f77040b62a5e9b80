import { Effect } from "effect"
import type pg from "pg"
import type { Replay } from "../versions/Replay.ts"
import type * as Versions from "../versions/Versions.ts"
import type { Range } from "./SliceFold.ts"

/** A range of the log whose rows are written in one transaction. */
export interface Slice extends Range {
  readonly nth: number
}

interface Row {
  readonly nth: number
  readonly after_account: string
  readonly after_stream: string
  readonly upto_account: string | null
  readonly upto_stream: string | null
}

const sliceOf = (row: Row): Slice => ({
  nth: row.nth,
  after: [row.after_account, row.after_stream],
  upto: row.upto_account === null || row.upto_stream === null ? null : [row.upto_account, row.upto_stream],
})

/** Returns the slices that an earlier run allocated and did not write. */
export const unfinished = (sql: Replay["Service"]["sql"], { name, version }: Versions.Version) =>
  Effect.map(
    sql<Row>`
      SELECT nth, after_account, after_stream, upto_account, upto_stream FROM projection_slices
      WHERE name = ${name} AND version = ${version}::int AND NOT done ORDER BY nth`,
    (rows) => rows.map(sliceOf),
  )

/**
 * Allocates the next slice. Returns undefined once the last slice, which has no end, is allocated. It is read and written
 * apart: a node refuses to insert what such a query finds.
 */
export const allocate = async (
  client: pg.Client,
  { name, version }: Versions.Version,
  events: number,
): Promise<Slice | undefined> => {
  const { rows } = await client.query<Row>({
    name: "next slice",
    text: `
      WITH last AS (
        SELECT nth, upto_account, upto_stream FROM projection_slices
        WHERE name = $1 AND version = $2 ORDER BY nth DESC LIMIT 1
      ), begin AS (
        SELECT coalesce(max(nth), 0) + 1 AS nth, coalesce(max(upto_account), '') AS account,
          coalesce(max(upto_stream), '') AS stream, count(*) = 0 OR count(upto_account) = 1 AS more
        FROM last
      )
      SELECT b.nth, b.account AS after_account, b.stream AS after_stream, e.account_id AS upto_account,
        e.stream_id AS upto_stream
      FROM begin b LEFT JOIN LATERAL (
        SELECT account_id, stream_id FROM events
        WHERE (account_id, stream_id) > (b.account, b.stream)
        ORDER BY account_id, stream_id, version OFFSET $3 LIMIT 1
      ) AS e ON true
      WHERE b.more`,
    values: [name, version, events - 1],
  })
  const [row] = rows
  if (row === undefined) return undefined
  await client.query({
    name: "allocate slice",
    text: `
      INSERT INTO projection_slices (name, version, nth, after_account, after_stream, upto_account, upto_stream)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    values: [name, version, row.nth, row.after_account, row.after_stream, row.upto_account, row.upto_stream],
  })
  return sliceOf(row)
}

/** Marks a slice as written, and adds its events to those of the version. */
export const finish = (
  client: pg.Client,
  { name, version }: Versions.Version,
  { nth }: Slice,
  events: number,
): Promise<unknown> =>
  client.query({
    name: "slice is done",
    text: `
      WITH done AS (UPDATE projection_slices SET done = true WHERE name = $1 AND version = $2 AND nth = $3)
      UPDATE projection_versions SET events = events + $4 WHERE name = $1 AND version = $2`,
    values: [name, version, nth, events],
  })
