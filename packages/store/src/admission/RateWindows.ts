import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Network from "@waybill/domain/values/Network"
import { Effect } from "effect"
import { Sql } from "../postgres/Sql.ts"

/** Maximum number of exhausted windows that a process remembers; others are counted again, which is only slower. */
export const MAX_EXHAUSTED_REMEMBERED = 10_000
/** How long a window is kept after its end, to look into a complaint. */
export const KEPT_AFTER_END = "5 minutes"
const V6_NETWORK_BYTES = 8

export interface ClientAddress {
  /** The address as Postgres reads it; `null` for text that is not an address. */
  readonly text: string | null
  /** Window of requests without a valid key: one for each IPv4 address and each IPv6 /64, the network of one customer. */
  readonly bucket: string
}

/** Reads the address of a client. An IPv4-mapped address becomes IPv4, and a zone such as `%eth0` is dropped. */
export const clientAddress = (address: string): ClientAddress => {
  const ip = Network.parseIp(address.split("%")[0] ?? "")
  if (ip === undefined) return { text: null, bucket: "ip/unknown" }
  if (ip.length === 4) return { text: ip.join("."), bucket: `ip/${ip.join(".")}` }
  const groups = Array.from({ length: 8 }, (_, i) => (((ip[2 * i] ?? 0) << 8) | (ip[2 * i + 1] ?? 0)).toString(16))
  return { text: groups.join(":"), bucket: `ip/${groups.slice(0, V6_NETWORK_BYTES / 2).join(":")}::/64` }
}

/** A window that has reached its limit. */
export interface ExhaustedWindow {
  readonly window_ms: number
  readonly limit: number
  /** End of the window on this process's steady clock. */
  readonly ends_nanos: bigint
}

/**
 * Windows that this process has seen exhausted. For a request with a key they only save the counting: the statement
 * compares them with its own clock and with the key's current limit.
 */
export interface ExhaustedWindows {
  readonly get: (name: string) => ExhaustedWindow | undefined
  readonly remember: (name: string, window: ExhaustedWindow) => void
}

export const exhaustedWindows = (): ExhaustedWindows => {
  const empty = () => new LruCache<string, ExhaustedWindow>({ maxEntries: MAX_EXHAUSTED_REMEMBERED })
  let windows = empty()
  let newest = 0
  return {
    get: (name) => windows.get(name),
    remember: (name, window) => {
      if (window.window_ms > newest) {
        newest = window.window_ms
        windows = empty()
      }
      if (window.window_ms === newest) windows.set(name, window)
    },
  }
}

/** Adds requests to windows of this minute, in the order of their names, and returns the counts. */
export const count = (sql: Sql, requests: ReadonlyMap<string, number>) => sql<{
  readonly bucket: string
  readonly count: number
}>`
  INSERT INTO rate_windows AS w (bucket, window_start, count)
  SELECT bucket, date_trunc('minute', statement_timestamp()), requests
  FROM unnest(${[...requests.keys()]}::text[], ${[...requests.values()]}::int[]) AS r(bucket, requests) ORDER BY bucket
  ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + excluded.count
  RETURNING w.bucket, w.count`

/** Begins the names of windows of a day; those of the others last a minute. */
const OF_A_DAY = "day/"

/** Expression for the name of a window, of a minute or of a day. */
export const nameOf = (sql: Sql) => sql`regexp_replace(bucket, ${`^${OF_A_DAY}`}, '')`

/**
 * Takes an amount from a window of this UTC day. Returns the seconds until the window ends if so much is not left, and takes
 * nothing then. What is loose may be given back by a crash of the database: it need not wait for the disk, one after the other.
 */
export const takeOfDay = Effect.fn("RateWindows.takeOfDay")(function* (
  name: string,
  amount: number,
  limit: number,
  { isLoose = false }: { readonly isLoose?: boolean } = {},
) {
  const sql = yield* Sql
  const loosely = isLoose ? sql`, set_config('synchronous_commit', 'off', true)` : sql.literal("")
  const rows = yield* sql<{ readonly taken: boolean; readonly left_s: number }>`
    WITH today AS (SELECT date_trunc('day', statement_timestamp(), 'UTC') AS start), taken AS (
      INSERT INTO rate_windows AS w (bucket, window_start, count)
      SELECT ${OF_A_DAY + name}, start, ${amount} FROM today WHERE ${amount}::int <= ${limit}::int
      ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + excluded.count
      WHERE w.count + excluded.count <= ${limit} RETURNING 1
    ) SELECT EXISTS (SELECT 1 FROM taken) AS taken,
      greatest(1, ceil(extract(epoch FROM start + interval '1 day' - statement_timestamp())))::int AS left_s${loosely} FROM today`
  const [{ left_s, taken } = { taken: true, left_s: 1 }] = rows
  return taken ? undefined : left_s
})

/** Returns the amount that was taken from a window of this UTC day. */
export const takenOfDay = Effect.fn("RateWindows.takenOfDay")(function* (name: string) {
  const sql = yield* Sql
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count::int AS count FROM rate_windows
    WHERE bucket = ${OF_A_DAY + name} AND window_start = date_trunc('day', statement_timestamp(), 'UTC')`
  return row?.count ?? 0
})

/** Takes an amount from a window of this minute. Returns false if so much is not left; it is counted nevertheless. */
export const takeOfMinute = Effect.fn("RateWindows.takeOfMinute")(function* (
  name: string,
  amount: number,
  limit: number,
) {
  const [counted] = yield* count(yield* Sql, new Map([[name, amount]]))
  return counted === undefined || counted.count <= limit
})

/** Removes ended windows and returns their number; without it the table gains a row for each client and minute. */
export const sweep = Effect.fn("RateWindows.sweep")(function* () {
  const sql = yield* Sql
  const removed = yield* sql<{ readonly n: number }>`
    WITH removed AS (
      DELETE FROM rate_windows
      WHERE window_start < statement_timestamp() - interval '1 minute' - ${KEPT_AFTER_END}::interval
        AND (NOT starts_with(bucket, ${OF_A_DAY}) OR window_start < statement_timestamp() - interval '1 day') RETURNING 1
    ) SELECT count(*)::int AS n FROM removed`
  return removed[0]?.n ?? 0
})
