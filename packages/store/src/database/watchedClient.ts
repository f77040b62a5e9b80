import { Redacted } from "effect"
import pg from "pg"
import * as Session from "./Session.ts"
import * as DatabaseUrl from "../postgres/DatabaseUrl.ts"
import * as Sockets from "../postgres/Sockets.ts"

export interface Looks {
  /** How often the server is asked on a second connection whether it still answers. */
  readonly every_ms: number
  /** Time for the connection, and for the answer. */
  readonly within_ms: number
}
const LOOKS: Looks = { every_ms: 5_000, within_ms: Session.CONNECT_TIMEOUT_MS }
/** Number of questions in a row without an answer after which the server counts as frozen. */
export const UNANSWERED_LOOKS = 3

/** The step of the migration that is under way, for the message about a server that stopped answering. */
export interface Steps {
  current: string
}

/** Error of a server that stopped answering. */
class Frozen extends Error {}

/**
 * Runs statements on a connection of its own, and gives up when the server has stopped answering: a statement of a
 * migration may take minutes, so only a second connection can tell whether it is still working.
 */
export const watchedClient = async <A>(
  url: Redacted.Redacted,
  use: (client: pg.Client, steps: Steps) => Promise<A>,
  looks: Looks = LOOKS,
): Promise<A> => {
  const steps: Steps = { current: "connecting" }
  const client = await connect(url, Session.CONNECT_TIMEOUT_MS)
  const over = new AbortController()
  const watched = watch(url, looks, over.signal).then(() => {
    throw new Frozen(
      `the server stopped answering while ${steps.current}. A migration that had not ended is not applied; start again when it answers.`,
    )
  })
  try {
    const result = await Promise.race([use(client, steps), watched])
    await client.end()
    return result
  } catch (error) {
    if (error instanceof Frozen) Sockets.destroy(client)
    else await client.end().catch(() => {})
    throw error
  } finally {
    over.abort()
    watched.catch(() => {})
  }
}

const connect = async (url: Redacted.Redacted, withinMs: number, queryTimeoutMs?: number): Promise<pg.Client> => {
  const client = new pg.Client({
    ...Sockets.KEEPALIVE,
    connectionString: Redacted.value(url),
    application_name: "waybill migrate",
    connectionTimeoutMillis: withinMs,
    ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }),
  })
  client.on("error", () => {})
  await client.connect().catch((cause: unknown) => {
    throw DatabaseUrl.connectFailed(url, cause, withinMs / 1_000) ?? cause
  })
  return client
}

/** Ends when the server has not answered several times in a row; never if it does not freeze. */
const watch = async (url: Redacted.Redacted, { every_ms, within_ms }: Looks, over: AbortSignal): Promise<void> => {
  for (let unanswered = 0; unanswered < UNANSWERED_LOOKS;) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, every_ms)
      over.addEventListener("abort", () => clearTimeout(timer), { once: true })
    })
    const isAnswering = await connect(url, within_ms, within_ms).then(
      (client) =>
        client
          .query("SELECT 1")
          .then(() => true)
          .catch(() => false)
          .finally(() => Sockets.destroy(client)),
      () => false,
    )
    unanswered = isAnswering ? 0 : unanswered + 1
  }
}
