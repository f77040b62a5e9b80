import { Context, Duration, type Effect, Redacted } from "effect"
import { connect, type NetConnectOpts, Socket } from "node:net"
import type pg from "pg"
import type { StoreUnavailable } from "./StoreUnavailable.ts"

/** Idle time after which TCP keepalive probes a connection to the database. Ten unanswered probes, a second apart, end it. */
export const KEEPALIVE_AFTER = Duration.seconds(30)
const DEFAULT_PORT = 5432

/** `KEEPALIVE_AFTER` as clients of node-postgres take it. */
export const KEEPALIVE = { keepAlive: true, keepAliveInitialDelayMillis: Duration.toMillis(KEEPALIVE_AFTER) } as const

/** Closes the socket of a client without a farewell, which a frozen server does not answer. The types of clients omit it. */
export const destroy = (client: pg.Client): void => {
  const { connection } = client as unknown as { readonly connection?: { readonly stream?: Socket } }
  connection?.stream?.destroy()
}

export interface OpenSockets {
  readonly connect: () => Socket
  /** Closes all connections, so that every statement under way fails at once instead of waiting for its answer. */
  readonly closeAll: () => void
  /** Number of connections that have ended, except those that were closed here. */
  readonly ended: () => number
}

/** The sockets of the connection pool of the fiber's database, and of the connections that are made with its configuration. */
export class Sockets extends Context.Service<
  Sockets,
  { readonly here: Effect.Effect<OpenSockets, StoreUnavailable> }
>()("@waybill/store/postgres/Sockets") {}

/**
 * `url` is asked for each connection, because a server may get another address, and so is `refusal`, because another server may be
 * there than before.
 */
export const make = (
  url: () => Redacted.Redacted,
  refusal: () => string | undefined = () => undefined,
): OpenSockets => {
  const open = new Set<Socket>()
  let ended = 0
  return {
    connect: () => {
      const refused = refusal()
      if (refused !== undefined) return new Socket().destroy(new Error(refused))
      const socket = connect(addressOf(Redacted.value(url())))
      open.add(socket)
      return socket.once("close", () => {
        if (open.delete(socket)) ended++
      })
    },
    ended: () => ended,
    closeAll: () => {
      const closing = [...open]
      open.clear()
      for (const socket of closing)
        socket.destroy(new Error("the connection was closed, because the database is not answering"))
    },
  }
}

/** Returns the address in a connection URL, by the rules of sql-pg and libpq: a host that is a path is a folder of sockets. */
const addressOf = (text: string): NetConnectOpts => {
  const url = new URL(text)
  const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/u, "$1"))
  const port = Number(url.searchParams.get("port") ?? (url.port === "" ? DEFAULT_PORT : url.port))
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${port}` }
    : {
        host: host === "" ? "localhost" : host,
        port,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: Duration.toMillis(KEEPALIVE_AFTER),
      }
}
