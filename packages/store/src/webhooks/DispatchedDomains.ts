import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as LogReads from "../feed/LogReads.ts"
import { streamKey, type StreamRange } from "../log/StreamRef.ts"
import type { Sql } from "../postgres/Sql.ts"
import * as StreamState from "../streams/StreamState.ts"

/** A call, as far as it decides about its domain. */
interface Call {
  readonly account_id: AccountId
  readonly event: {
    readonly stream: string
    readonly stream_id: string
    readonly type: string
    readonly version: number
  } | null
}

/** The part of a stream that a call about a domain is made from; none for other calls. A removal has the domain before it. */
const rangeOf = ({ account_id, event }: Call): ReadonlyArray<StreamRange> => {
  if (event === null || event.stream !== "domain") return []
  const to = event.type === "DomainRemoved" ? event.version - 1 : event.version
  return [{ account_id, stream_id: event.stream_id, to }]
}

/** Adds the domain to calls about domains, which are rare. Each is read by itself, up to its own event. */
export const add = Effect.fnUntraced(function* <A extends Call & { readonly domain: DomainState.Domain | null }>(
  sql: Sql,
  dispatches: ReadonlyArray<A>,
) {
  return yield* Effect.forEach(dispatches, (dispatch) => {
    const ranges = rangeOf(dispatch)
    if (ranges.length === 0) return Effect.succeed(dispatch)
    return Effect.map(LogReads.readStreams(sql, ranges), (streams): A => {
      const history = ranges.flatMap((range) => streams.get(streamKey(range)) ?? [])
      const state = StreamState.advance(StreamState.initial(Domain), history).state as Domain.State
      return { ...dispatch, domain: state._tag === "Domain" ? state : null }
    })
  })
})
