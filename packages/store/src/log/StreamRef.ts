import type { AccountId } from "@waybill/domain/values/Id"
import type { AnyAggregate, Recorded } from "./RecordedEvents.ts"

export interface StreamRef {
  readonly account_id: AccountId
  readonly stream_id: string
}
export const streamKey = (ref: StreamRef): string => `${ref.account_id}/${ref.stream_id}`

/** Events of a stream by version, both ends included; from its first event to its last by default. */
export interface StreamRange extends StreamRef {
  readonly from?: number
  readonly to?: number
}

/** A stream to which a batch appends, as it is after the batch. */
export interface ChangedStream extends StreamRef {
  readonly aggregate: AnyAggregate
  readonly version: number
  readonly state: unknown
  /** Events that the batch appends. */
  readonly added: ReadonlyArray<Recorded>
}

/** Whether a batch appends the first event of a stream. */
export const begins = ({ added, version }: ChangedStream): boolean => version === added.length
