import type pg from "pg"
import type { Replay } from "../versions/Replay.ts"
import type * as Versions from "../versions/Versions.ts"
import type { Range } from "./SliceFold.ts"

/** A range of the log whose rows are written in one transaction. */
export interface Slice extends Range {
  readonly nth: number
}

const COLUMNS = `nth, ARRAY[after_account, after_stream] AS after,
  CASE WHEN upto_account IS NOT NULL THEN ARRAY[upto_account, upto_stream] END AS upto`

/** Returns the slices that an earlier run allocated and did not write. */
export const unfinished = (sql: Replay["Service"]["sql"], { name, version }: Versions.Version) =>
  sql<Slice>`
    SELECT ${sql.literal(COLUMNS)} FROM projection_slices
    WHERE name = ${name} AND version = ${version}::int AND NOT done ORDER BY nth`

/** Allocates the next slice. Returns undefined once the last slice, which has no end, is allocated. */
export const allocate = async (
  client: pg.Client,
  { name, version }: Versions.Version,
  events: number,
): Promise<Slice | undefined> => {
  const { rows } = await client.query<Slice>({
    name: "allocate slice",
    text: `
      WITH last AS (
        SELECT nth, upto_account, upto_stream FROM projection_slices
        WHERE name = $1 AND version = $2 ORDER BY nth DESC LIMIT 1
      ), begin AS (
        SELECT coalesce(max(nth), 0) + 1 AS nth, coalesce(max(upto_account), '') AS account,
          coalesce(max(upto_stream), '') AS stream, count(*) = 0 OR count(upto_account) = 1 AS more
        FROM last
      )
      INSERT INTO projection_slices (name, version, nth, after_account, after_stream, upto_account, upto_stream)
      SELECT $1, $2, b.nth, b.account, b.stream, e.account_id, e.stream_id
      FROM begin b LEFT JOIN LATERAL (
        SELECT account_id, stream_id FROM events
        WHERE (account_id, stream_id) > (b.account, b.stream)
        ORDER BY account_id, stream_id, version OFFSET $3 LIMIT 1
      ) AS e ON true
      WHERE b.more RETURNING ${COLUMNS}`,
    values: [name, version, events - 1],
  })
  return rows[0]
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
