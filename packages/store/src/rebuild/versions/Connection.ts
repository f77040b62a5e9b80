import { Effect } from "effect"
import pg from "pg"
import { KEEPALIVE } from "../../postgres/Sockets.ts"
import { StoreUnavailable } from "../../postgres/StoreUnavailable.ts"

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

/** SQLSTATEs of a statement, or of its wait for a lock, that was canceled at its time limit. */
const TIMEOUTS = ["55P03", "57014"]

/**
 * Runs statements on a connection that is not one of the store's client. One that is canceled at its time limit fails with
 * `StoreUnavailable`; any other error is a bug.
 */
export const run = <A>(work: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.catch(Effect.tryPromise({ try: work, catch: (error) => error }), (error) =>
    error instanceof Error && "code" in error && TIMEOUTS.includes(String(error.code))
      ? Effect.fail(new StoreUnavailable({ why: "timed-out", cause: error }))
      : Effect.die(error),
  )
