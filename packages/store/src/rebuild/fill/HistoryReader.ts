import type { AccountId } from "@waybill/domain/values/Id"
import type * as RecordedEvents from "../../log/RecordedEvents.ts"
import * as EventView from "../../packed/EventView.ts"
import * as PackedEvent from "../../packed/PackedEvent.ts"
import type { CopyReader } from "../../copy/CopyReader.ts"
import { eventInPlace } from "../../log/eventInPlace.ts"
import type { StreamFold } from "./StreamFold.ts"

/** Columns that a fill reads of each event, in this order. */
export const COLUMNS = "account_id, stream_id, type, packed, (meta ->> 'schema_version')::int, data"

/** Length of the header of Postgres' binary COPY format: signature, flags and the length of an empty extension. */
const HEADER_BYTES = 19
/** Length of the version number before the text of a binary jsonb value. */
const JSONB_VERSION_BYTES = 1

/** Folds rows of `COLUMNS`, which arrive in key order, stream by stream. */
export class HistoryReader {
  events = 0
  readonly #aggregate: RecordedEvents.AnyAggregate
  readonly #fold: StreamFold
  readonly #take: (rows: ReadonlyArray<object>) => void
  // Bytes of account and stream id, to detect the start of the next stream cheaply.
  #key = ""
  #streamId = ""
  #isFirst = true

  constructor(aggregate: RecordedEvents.AnyAggregate, fold: StreamFold, take: (rows: ReadonlyArray<object>) => void) {
    this.#aggregate = aggregate
    this.#fold = fold
    this.#take = take
  }

  row(reader: CopyReader, from: number, to: number): void {
    const at = this.#isFirst ? from + HEADER_BYTES : from
    this.#isFirst = false
    // The trailer has no columns.
    if (to < at + 6 || reader.int32(at) < 0) return
    const account = at + 6
    const accountEnd = account + reader.int32(account - 4)
    const stream = accountEnd + 4
    const streamEnd = stream + reader.int32(accountEnd)
    const type = streamEnd + 4
    const typeEnd = type + reader.int32(streamEnd)
    const key = reader.latin1(account, streamEnd)
    if (key !== this.#key) {
      this.end()
      this.#key = key
      this.#streamId = reader.latin1(stream, streamEnd)
      this.#fold.begin(reader.latin1(account, accountEnd) as AccountId, this.#streamId)
    }
    this.events++
    this.#fold.add(this.#event(reader, reader.latin1(type, typeEnd), typeEnd + 4))
  }

  /** Reads the event from its last three columns, of which the first begins here. */
  #event(reader: CopyReader, type: string, packed: number): RecordedEvents.AnyEvent {
    const length = reader.int32(packed - 4)
    if (length >= 0) return this.#packedEvent(reader, type, packed, packed + length)
    const schemaVersion = packed + 4
    const data = schemaVersion + 8
    const json = reader.utf8(data + JSONB_VERSION_BYTES, data + reader.int32(data - 4))
    return eventInPlace(this.#aggregate, type, reader.int32(schemaVersion), JSON.parse(json) as Record<string, unknown>)
  }

  #packedEvent(reader: CopyReader, type: string, from: number, to: number): RecordedEvents.AnyEvent {
    const view = EventView.read(type, this.#streamId, reader, from, to)
    if (view !== undefined) return view
    const { data, schema_version } = PackedEvent.unpackData(type, this.#streamId, reader.utf8(from, to))
    return eventInPlace(this.#aggregate, type, schema_version, data)
  }

  end(): void {
    if (this.#key !== "") this.#take(this.#fold.rows())
    this.#key = ""
  }
}
