import pg from "pg"
import { KEEPALIVE } from "../availability/Sockets.ts"

/** Opens a connection of a rebuild that supports COPY. */
export const open = async (url: string, application_name = "waybill replay"): Promise<pg.Client> => {
  const client = new pg.Client({ ...KEEPALIVE, connectionString: url, application_name })
  // The query in progress reports the loss of the connection.
  client.on("error", () => {})
  await client.connect()
  return client
}
