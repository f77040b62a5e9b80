import { PgClient } from "@effect/sql-pg"
import * as Network from "@waybill/domain/values/Network"
import { Effect } from "effect"

/** Windows known to be exhausted that a process remembers; beyond it they are counted again, which is only slower. */
export const MAX_SPENT_REMEMBERED = 10_000
/** Windows that have ended are kept this long for whoever looks into a complaint. */
export const KEPT_AFTER_END = "5 minutes"
const V6_NETWORK_BYTES = 8

export interface ClientAddress {
  /** As Postgres reads it, or `null` for what is no address. */
  readonly text: string | null
  /** Who is counted without a valid key: of IPv6 the /64, which is what one customer of a provider has to itself. */
  readonly bucket: string
}

/** IPv4 in its mapped form is IPv4; an interface's name behind a link-local address is dropped. */
export const clientAddress = (address: string): ClientAddress => {
  const ip = Network.parseIp(address.split("%")[0] ?? "")
  if (ip === undefined) return { text: null, bucket: "ip/unknown" }
  if (ip.length === 4) return { text: ip.join("."), bucket: `ip/${ip.join(".")}` }
  const groups = Array.from({ length: 8 }, (_, i) => (((ip[2 * i] ?? 0) << 8) | (ip[2 * i + 1] ?? 0)).toString(16))
  return { text: groups.join(":"), bucket: `ip/${groups.slice(0, V6_NETWORK_BYTES / 2).join(":")}::/64` }
}

/** An exhausted window: which, under what limit, and when it ends by this process's own steady clock. */
export interface Spent {
  readonly window_ms: number
  readonly limit: number
  readonly ends_nanos: bigint
}

/**
 * Windows that this process has seen exhausted. Whether they still are is never decided by it alone where a key is
 * involved: the statement compares with its own clock and with the limit of that moment, and only leaves the counting.
 */
export interface SpentWindows {
  readonly get: (name: string) => Spent | undefined
  readonly remember: (name: string, spent: Spent) => void
}

export const spentWindows = (): SpentWindows => {
  const known = new Map<string, Spent>()
  let newest = 0
  return {
    get: (name) => known.get(name),
    remember: (name, spent) => {
      if (spent.window_ms > newest) {
        newest = spent.window_ms
        known.clear()
      }
      if (spent.window_ms === newest && (known.size < MAX_SPENT_REMEMBERED || known.has(name))) known.set(name, spent)
    },
  }
}

/** For cron: the table holds about one row a client and minute otherwise. */
export const sweep = Effect.fn("RateWindows.sweep")(function* () {
  const sql = yield* PgClient.PgClient
  const gone = yield* Effect.orDie(sql<{ readonly n: number }>`
    WITH gone AS (
      DELETE FROM rate_windows
      WHERE window_start < statement_timestamp() - interval '1 minute' - ${KEPT_AFTER_END}::interval RETURNING 1
    ) SELECT count(*)::int AS n FROM gone`)
  return gone[0]?.n ?? 0
})
