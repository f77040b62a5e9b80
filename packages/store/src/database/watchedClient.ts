import type { Redacted } from "effect"
import type pg from "pg"
import * as OwnConnection from "./OwnConnection.ts"
import * as Session from "./Session.ts"
import * as Sockets from "../postgres/Sockets.ts"

const APPLICATION = "waybill migrate"

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
  const client = await OwnConnection.open(url, APPLICATION)
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

/** Ends when the server has not answered several times in a row; never if it does not freeze. */
const watch = async (url: Redacted.Redacted, { every_ms, within_ms }: Looks, over: AbortSignal): Promise<void> => {
  for (let unanswered = 0; unanswered < UNANSWERED_LOOKS;) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, every_ms)
      over.addEventListener("abort", () => clearTimeout(timer), { once: true })
    })
    const isAnswering = await OwnConnection.open(url, APPLICATION, within_ms, { query_timeout: within_ms }).then(
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
