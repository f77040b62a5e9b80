import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Redacted } from "effect"
import { onDatabase } from "../../support/postgres/databaseUrl.ts"
import * as TemporaryServer from "./TemporaryServer.ts"

export const HEADINGS = ["changed", "record", "records a message", "bytes a message", "of them whole pages"]

/** Fewer bytes of a message are not shown. */
const LEAST_SHOWN = 20

interface Row {
  readonly relation: string
  readonly record: string
  readonly records: string
  readonly bytes: string
  readonly pages: string
}

/** Returns the write-ahead log since the last checkpoint, by what it changed and how. */
export const byRelation = async (server: EmbeddedPostgres.Running, url: Redacted.Redacted, messages: number) => {
  const admin = onDatabase(Redacted.value(server.adminUrl), new URL(Redacted.value(url)).pathname.slice(1))
  const rows = (await TemporaryServer.execute(
    admin,
    "CREATE EXTENSION IF NOT EXISTS pg_walinspect",
    // A record belongs to the first page that it changes.
    `SELECT coalesce(c.relname, 'none') AS relation, resource_manager || ' ' || record_type AS record, count(*) AS records,
      sum(record_length) AS bytes, sum(block_fpi_length) AS pages
    FROM pg_get_wal_block_info((SELECT redo_lsn FROM pg_control_checkpoint()), pg_current_wal_flush_lsn(), false) b
    LEFT JOIN pg_class c ON c.relfilenode = b.relfilenode
    WHERE b.block_id = 0 GROUP BY 1, 2 ORDER BY 4 DESC`,
  )) as ReadonlyArray<Row>
  return rows
    .filter(({ bytes }) => Number(bytes) / messages >= LEAST_SHOWN)
    .map(({ bytes, pages, record, records, relation }) => [
      relation,
      record,
      (Number(records) / messages).toFixed(2),
      String(Math.round(Number(bytes) / messages)),
      String(Math.round(Number(pages) / messages)),
    ])
}
