import {
  getPostgreSQLEventStore,
  pongoSingleStreamProjection,
  rebuildPostgreSQLProjections,
} from "@event-driven-io/emmett-postgresql"
import { aggregateOf } from "@waybill/store/log/aggregateOf"
import { eventInPlace } from "@waybill/store/log/eventInPlace"
import pg from "pg"
import { life } from "../logs/events.ts"

interface Event {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}
type Document = Readonly<Record<string, unknown>>

/** Table name that none of the service's tables in this database has. */
const COLLECTION = "emmett_email_log"
const TYPES = ["EmailQueued", "EmailDeferred", "EmailDelivered", "EmailBounced", "EmailOpened"]

/**
 * Writes the same messages to emmett's own store and rebuilds a projection with one document per stream. The documents
 * are what the service's fold makes of the events.
 */
export const emmett = async (url: string, atLeast: number): Promise<{ events: number; run: () => Promise<void> }> => {
  const store = getPostgreSQLEventStore(url)
  await store.schema.migrate()
  await store.close()
  const { events, messages } = await insert(url, atLeast)
  const aggregate = aggregateOf("email")
  const projection = pongoSingleStreamProjection<Document, Event>({
    collectionName: COLLECTION,
    canHandle: TYPES,
    initialState: () => aggregate.initial as Document,
    evolve: (document: Document, { data, type }: Event) =>
      aggregate.evolve(document, eventInPlace(aggregate, type, 1, data)) as Document,
  })
  let runs = 0
  const run = async () => {
    // A new name each time, because a known one would continue at the end of the log.
    const projections = [{ projection, processorId: `rebuild-${++runs}` }]
    const consumer = rebuildPostgreSQLProjections({ connectionString: url, projections })
    await consumer.start()
    await consumer.close()
    const made = await documents(url)
    if (made !== messages) throw new Error(`emmett has made ${made} documents of ${messages}`)
  }
  return { events, run }
}

/** Inserts the events in bulk, because only the rebuild is measured. */
const insert = async (url: string, atLeast: number): Promise<{ events: number; messages: number }> => {
  const events: Array<ReturnType<typeof life>[number]> = []
  let messages = 0
  while (events.length < atLeast) events.push(...life(messages++))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `INSERT INTO emt_messages (stream_id, stream_position, message_schema_version, message_id, message_type,
         message_data, message_metadata, transaction_id)
       SELECT e ->> 'stream_id', (e ->> 'version')::bigint, '1', gen_random_uuid()::text, e ->> 'type', e -> 'data', '{}',
         pg_current_xact_id()
       FROM jsonb_array_elements($1::jsonb) AS e`,
      [JSON.stringify(events)],
    )
    await client.query("ANALYZE emt_messages")
    return { events: events.length, messages }
  } finally {
    await client.end()
  }
}

const documents = async (url: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ readonly n: number }>(`SELECT count(*)::int AS n FROM ${COLLECTION}`)
    return rows[0]?.n ?? 0
  } finally {
    await client.end()
  }
}
