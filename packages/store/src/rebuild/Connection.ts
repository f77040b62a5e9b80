import pg from "pg"
import { KEEPALIVE } from "../postgres/Sockets.ts"

/** Longest wait for a lock. */
export const LOCK_TIMEOUT_MS = 30_000

/** Opens a connection of a rebuild that supports COPY. */
export const open = async (
  url: string,
  { application_name = "waybill replay", lock_timeout = LOCK_TIMEOUT_MS } = {},
): Promise<pg.Client> => {
  const client = new pg.Client({ ...KEEPALIVE, connectionString: url, application_name, lock_timeout })
  // The query in progress reports the loss of the connection.
  client.on("error", () => {})
  await client.connect()
  return client
}
