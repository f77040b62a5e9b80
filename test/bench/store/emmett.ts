import { getPostgreSQLEventStore } from "@event-driven-io/emmett-postgresql"
import { system } from "@waybill/store/log/Provenance"
import pg from "pg"
import { message } from "./message.ts"

export interface Emmett {
  readonly append: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Appends the same event to a new stream of its own, and nothing else. */
export const emmett = async (url: string, connections: number): Promise<Emmett> => {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  // The server stops while connections are idle.
  pool.on("error", () => {})
  const store = getPostgreSQLEventStore(url, { connectionOptions: { pool } })
  await store.schema.migrate()
  return {
    append: async () => {
      const { data, id } = message()
      await store.appendToStream(
        `email-${id}`,
        [{ type: "EmailQueued", data, metadata: { ...system, schema_version: 1 } }],
        { expectedStreamVersion: "STREAM_DOES_NOT_EXIST" },
      )
    },
    close: async () => {
      await store.close()
      await pool.end()
    },
  }
}
