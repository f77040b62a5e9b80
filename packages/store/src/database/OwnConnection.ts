import { Redacted } from "effect"
import pg from "pg"
import * as DatabaseUrl from "../postgres/DatabaseUrl.ts"
import * as Sockets from "../postgres/Sockets.ts"
import * as Session from "./Session.ts"

/** Opens a connection beside those of the pools. The statement under way reports its loss. */
export const open = async (
  url: Redacted.Redacted,
  application_name: string,
  withinMs = Session.CONNECT_TIMEOUT_MS,
  settings: pg.ClientConfig = {},
): Promise<pg.Client> => {
  const connection = { connectionString: Redacted.value(url), application_name, connectionTimeoutMillis: withinMs }
  const client = new pg.Client({ ...Sockets.KEEPALIVE, ...connection, ...settings })
  client.on("error", () => {})
  await client.connect().catch((cause: unknown) => {
    throw DatabaseUrl.connectFailed(url, cause, withinMs / 1_000) ?? cause
  })
  return client
}
