import type { Meta, NewEvent } from "@waybill/store/log/RecordedEvents"
import * as PackedEvent from "@waybill/store/packed/PackedEvent"
import * as Email from "@waybill/domain/email/Email"
import { keyOf } from "@waybill/store/readmodels/ReadModel"
import * as EmailLog from "@waybill/store/readmodels/emails/EmailLog"
import { aggregateOf } from "@waybill/store/log/aggregateOf"
import { eventInPlace } from "@waybill/store/log/eventInPlace"
import pg from "pg"

const PAGE = 1_000
const TABLE = "email_log_row_by_row"

type Row = Readonly<Record<string, unknown>>
interface Read extends Pick<NewEvent, "account_id" | "stream_id" | "version"> {
  readonly meta: Meta
  readonly type: string
  readonly data: Row
}

/**
 * Rebuilds as a straightforward program does: in log order, one event at a time, folded with the stream's state in
 * memory and upserted by a prepared statement, one transaction per page. Covers the first events of the log; the fold
 * is the service's own.
 */
export const rowByRow = async (url: string, events: number): Promise<number> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`DROP TABLE IF EXISTS ${TABLE}`)
    await client.query(`CREATE TABLE ${TABLE} (LIKE email_log INCLUDING ALL)`)
    await client.query("SET synchronous_commit = off")
    const aggregate = aggregateOf(Email.stream)
    const streams = new Map<string, { state: unknown }>()
    let done = 0
    for (let position = "0"; done < events;) {
      const { rows } = await client.query<PackedEvent.Row<Read & { readonly position: string }>>({
        name: "page",
        text: `SELECT position, account_id, stream_id, version, type, data, meta, packed FROM events
          WHERE position > $1 ORDER BY position LIMIT $2`,
        values: [position, Math.min(PAGE, events - done)],
      })
      if (rows.length === 0) break
      await client.query("BEGIN")
      for (const row of rows) {
        const { data, position: at, type, ...fact } = PackedEvent.open(row)
        const stream = streams.get(fact.stream_id) ?? { state: aggregate.initial }
        streams.set(fact.stream_id, stream)
        const event = eventInPlace(aggregate, type, 1, data)
        stream.state = aggregate.evolve(stream.state, event)
        for (const written of EmailLog.readModel.rows(fact, stream.state as Email.State))
          await upsert(client, { ...written, ...keyOf(EmailLog.readModel, written) })
        position = at
        done++
      }
      await client.query("COMMIT")
    }
    return done
  } finally {
    await client.end()
  }
}

const upsert = (client: pg.Client, row: Row) =>
  client.query({
    name: "upsert",
    text: `INSERT INTO ${TABLE} AS t (${Object.keys(row).join(", ")})
      VALUES (${Object.keys(row)
        .map((_, nth) => `$${nth + 1}`)
        .join(", ")}) ON CONFLICT (account_id, id) DO UPDATE
      SET version = excluded.version, status = excluded.status, listed = excluded.listed, facets = excluded.facets,
        code = excluded.code
      WHERE t.version < excluded.version`,
    values: Object.values(row),
  })
