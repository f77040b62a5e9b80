import * as LogKeys from "@waybill/store/transparency/LogKeys"
import { Effect, type Redacted } from "effect"
import { followLogTree } from "../../../apps/server/src/worker/periodic/followLogTree.ts"
import { BASE_URL, quantiles, query } from "./build.ts"

export const PACED_PER_SECOND = 500
const PACED_SECONDS = 20
/** Messages that are written at a time, about as groups of commits come. */
const AT_ONCE = 50
const EVENTS_OF_MESSAGE = 2
const LOOK_EVERY = "20 millis"

/** Copies of messages that were delivered at once, under ids of their own. */
const copies = (sent: number) => `
  INSERT INTO events (account_id, stream_id, version, stream, type, event_id, packed, recorded_at)
  SELECT account_id, 'msg_' || lpad(to_hex(${sent} + nth), 26, '0'), version, stream, type,
    'evt_' || ${sent} + nth || '_' || version, packed, now()
  FROM (
    SELECT e.*, dense_rank() OVER (ORDER BY stream_id) AS nth FROM events e
    WHERE (account_id, stream_id) IN (
        SELECT account_id, stream_id FROM events WHERE type = 'EmailDelivered' AND version = 2
        ORDER BY position LIMIT ${AT_ONCE}) AND version <= 2) AS copied`

/** Writes events at a pace while a worker builds the tree, and returns the time until they are in a signed head. */
export const pace = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  yield* followLogTree(BASE_URL, yield* LogKeys.makeSigners)
  const lags: Array<number> = []
  const written: Array<readonly [size: number, at: number]> = []
  const [head] = yield* query<{ readonly size: string }>(url, "SELECT size FROM log_heads")
  let total = Number(head?.size)
  const look = Effect.gen(function* () {
    const [tree] = yield* query<{ readonly size: string }>(url, "SELECT size FROM log_trees ORDER BY tree DESC LIMIT 1")
    const now = performance.now()
    while (written[0] !== undefined && written[0][0] <= Number(tree?.size)) lags.push(now - (written.shift()?.[1] ?? 0))
    yield* Effect.sleep(LOOK_EVERY)
  })
  const began = performance.now()
  for (let sent = 0; sent < PACED_PER_SECOND * PACED_SECONDS; sent += AT_ONCE) {
    while (performance.now() < began + (sent / PACED_PER_SECOND) * 1000) yield* look
    yield* query(url, copies(sent))
    total += AT_ONCE * EVENTS_OF_MESSAGE
    written.push([total, performance.now()])
  }
  while (written.length > 0) yield* look
  return quantiles(lags)
})
