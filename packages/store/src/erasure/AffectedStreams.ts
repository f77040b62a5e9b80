import type * as Address from "@waybill/domain/values/Address"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as Mask from "./Mask.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Events that one statement of the search reads. */
export const PAGE_EVENTS = 20_000

export interface StreamOfAccount {
  readonly account_id: AccountId
  readonly stream: string
  readonly stream_id: string
}
export interface AffectedStream extends StreamOfAccount {
  /** Whether the stream is a message sent to the address. */
  readonly isRecipient: boolean
}

const recipientsOf = (data: Stored["data"]): ReadonlyArray<unknown> =>
  ["to", "cc", "bcc"].flatMap((kind) => (data[kind] as ReadonlyArray<Address.Mailbox>).map(({ address }) => address))

/** Finds every stream whose events hold the address anywhere. Reads the whole log, page by page. */
export const find = Effect.fnUntraced(function* (sql: Sql, address: Address.Address, mask: Mask.Mask) {
  const patterns = Mask.patterns(address)
  const streams = new Map<string, AffectedStream>()
  let after = 0n
  for (let upTo = yield* endOfPage(sql, after); upTo !== null; upTo = yield* endOfPage(sql, after)) {
    const events = yield* sql<PackedEvent.Row<StreamOfAccount & Pick<Stored, "type" | "data" | "meta">>>`
      SELECT account_id, stream, stream_id, type, ${PackedSql.columns(sql)}
      FROM events WHERE position > ${after}::bigint AND position <= ${upTo}::bigint
        AND lower(${PackedSql.searched(sql)} COLLATE "C") LIKE ANY(${patterns}::text[])`
    for (const event of events) {
      const { account_id, data, stream, stream_id, type } = PackedEvent.open(event)
      // The pattern also matches other addresses that contain this one.
      if (!mask.contains(data) && !mask.mayContain(data)) continue
      const key = `${account_id} ${stream_id}`
      const isRecipient =
        streams.get(key)?.isRecipient === true || (type === "EmailQueued" && mask.contains(recipientsOf(data)))
      streams.set(key, { account_id, stream, stream_id, isRecipient })
    }
    after = upTo
  }
  return [...streams.values()]
})

/**
 * Returns the position of the last event of the next page. Counts events, because between two epochs there may be too
 * many unused positions to step through.
 */
const endOfPage = (sql: Sql, after: bigint) =>
  Effect.map(
    sql<{ readonly position: bigint | null }>`
      SELECT max(position) AS position FROM (
        SELECT position FROM events WHERE position > ${after}::bigint ORDER BY position LIMIT ${PAGE_EVENTS}::int
      ) AS next`,
    ([row]) => row?.position ?? null,
  )
