import * as Copy from "@waybill/store/copy/Copy"
import { COLUMNS } from "@waybill/store/rebuild/fill/HistoryReader"
import { INDEX_SETTINGS } from "@waybill/store/rebuild/Rebuild"
import pg from "pg"

const TABLE = "email_log_floor"

/**
 * Does with nothing but Postgres what no rebuild can leave out: reads the same events in the order of the key, throws them
 * away, meanwhile copies the rows of a finished version into a new table, and builds its indexes. Returns the milliseconds.
 */
export const floor = async (url: string, version: string, lanes: number): Promise<number> => {
  const clients = Array.from({ length: lanes + 1 }, () => new pg.Client({ connectionString: url }))
  const [writer, ...readers] = clients
  if (writer === undefined) throw new Error("no connection")
  await Promise.all(clients.map((client) => client.connect()))
  try {
    const rows = await rowsOf(writer, version)
    const accounts = await answer(writer, "SELECT DISTINCT account_id AS text FROM events ORDER BY 1")
    const indexes = await answer(
      writer,
      `SELECT regexp_replace(indexdef, 'INDEX .* USING', 'INDEX ON ${TABLE} USING') AS text FROM pg_indexes
        WHERE tablename = '${version}' ORDER BY indexname`,
    )
    await writer.query(`DROP TABLE IF EXISTS ${TABLE}`)
    const began = performance.now()
    await writer.query(`CREATE TABLE ${TABLE} (LIKE ${version} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`)
    const waiting = [...accounts]
    await Promise.all([
      Copy.into(writer, `COPY ${TABLE} FROM STDIN (FORMAT binary)`, [rows]),
      ...readers.map((reader) => inTurn(waiting, (account) => Copy.out(reader, readStatement(account), () => {}))),
    ])
    await writer.query(`VACUUM (ANALYZE) ${TABLE}`)
    const unbuilt = [...indexes]
    await Promise.all(
      readers.slice(0, 2).map(async (client) => {
        await client.query(INDEX_SETTINGS)
        await inTurn(unbuilt, (index) => client.query(index))
      }),
    )
    return performance.now() - began
  } finally {
    await writer.query(`DROP TABLE IF EXISTS ${TABLE}`)
    await Promise.all(clients.map((client) => client.end()))
  }
}

const readStatement = (account: string) =>
  `COPY (SELECT ${COLUMNS} FROM events WHERE account_id = ${pg.escapeLiteral(account)} AND stream = 'email'
    ORDER BY account_id, stream_id, version) TO STDOUT (FORMAT binary)`

/** Takes one after another until none waits. */
const inTurn = async (waiting: Array<string>, run: (text: string) => Promise<unknown>): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next)
}

const answer = async (client: pg.Client, text: string): Promise<ReadonlyArray<string>> =>
  (await client.query<{ readonly text: string }>(text)).rows.map((row) => row.text)

/** Returns the rows of a table as COPY takes them. */
const rowsOf = async (client: pg.Client, table: string): Promise<Buffer> => {
  const rows: Array<Buffer> = []
  await Copy.out(client, `COPY ${table} TO STDOUT (FORMAT binary)`, ({ bytes }, from, to) => {
    rows.push(Buffer.from(bytes.subarray(from, to)))
  })
  return Buffer.concat(rows)
}
