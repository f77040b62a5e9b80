import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { AccountId } from "@waybill/domain/values/Id"
import type { ReadModel } from "../readmodels/ReadModel.ts"
import * as RecordedEvents from "../commit/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"

/** Columns that a fill reads of each event, in this order. */
export const COLUMNS = "account_id, stream_id, version, type, packed, (meta ->> 'schema_version')::int, data"

/** Length of the header of Postgres' binary COPY format: signature, flags and the length of an empty extension. */
const HEADER_BYTES = 19
/** Length of the version number before the text of a binary jsonb value. */
const JSONB_VERSION_BYTES = 1

/** Returns the aggregate of a kind of stream. */
export const aggregateOf = (stream: string): RecordedEvents.AnyAggregate => {
  const aggregate = Object.values<RecordedEvents.AnyAggregate>(DomainEvent.aggregates).find(
    (each) => each.stream === stream,
  )
  if (aggregate === undefined) throw new Error(`no stream is called ${stream}`)
  return aggregate
}

/**
 * Restores an event from its row. Data of the current schema version is used as it is, because it was encoded by this
 * schema; only older versions are decoded, which would otherwise be most of a rebuild's cost.
 */
export const eventOf = (
  aggregate: RecordedEvents.AnyAggregate,
  type: string,
  schemaVersion: number,
  data: Record<string, unknown>,
): RecordedEvents.AnyEvent => {
  if (schemaVersion === DomainEvent.schemaVersion(type)) return Object.assign(data, { _tag: type })
  return RecordedEvents.coderOf(aggregate).decode({ _tag: type, ...DomainEvent.upcast(type, schemaVersion, data) })
}

export type TakeHistory = (history: ReadonlyArray<RecordedEvents.NewEvent>) => void

/** Groups rows of `COLUMNS`, which arrive in key order, into complete streams. */
export class HistoryReader {
  events = 0
  readonly #aggregate: RecordedEvents.AnyAggregate
  readonly #take: TakeHistory
  #history: Array<RecordedEvents.NewEvent> = []
  // Raw bytes of account and stream id, to detect the start of the next stream cheaply.
  #streamBytes = ""
  #accountId = "" as AccountId
  #streamId = ""
  #isFirst = true

  constructor(aggregate: RecordedEvents.AnyAggregate, take: TakeHistory) {
    this.#aggregate = aggregate
    this.#take = take
  }

  /**
   * Reads one row. Fields are read at computed offsets, because creating a view per field would cost more than reading
   * it.
   */
  row(message: Buffer): void {
    const at = this.#isFirst ? HEADER_BYTES : 0
    this.#isFirst = false
    // The trailer has no columns.
    if (message.length < at + 2 || message.readInt16BE(at) < 0) return
    const account = at + 6
    const accountEnd = account + message.readInt32BE(account - 4)
    const stream = accountEnd + 4
    const streamEnd = stream + message.readInt32BE(accountEnd)
    const version = streamEnd + 4
    const type = version + 8
    const typeEnd = type + message.readInt32BE(type - 4)
    const packed = typeEnd + 4
    const head = message.toString("latin1", account, typeEnd)
    const streamBytes = head.slice(0, streamEnd - account)
    if (streamBytes !== this.#streamBytes) {
      this.end()
      this.#streamBytes = streamBytes
      this.#accountId = message.toString("utf8", account, accountEnd) as AccountId
      this.#streamId = message.toString("utf8", stream, streamEnd)
    }
    this.events++
    this.#history.push({
      account_id: this.#accountId,
      stream_id: this.#streamId,
      version: message.readInt32BE(version),
      event: this.#event(message, head.slice(type - account), packed),
    })
  }

  /** Reads the event from its last three columns, of which the first begins here. */
  #event(message: Buffer, type: string, packed: number): RecordedEvents.AnyEvent {
    const length = message.readInt32BE(packed - 4)
    if (length >= 0) {
      const text = message.toString("utf8", packed, packed + length)
      const { data, schema_version } = PackedEvent.unpackData(type, this.#streamId, text)
      return eventOf(this.#aggregate, type, schema_version, data)
    }
    const schemaVersion = packed + 4
    const data = schemaVersion + 8
    const json = message.toString("utf8", data + JSONB_VERSION_BYTES, data + message.readInt32BE(data - 4))
    return eventOf(
      this.#aggregate,
      type,
      message.readInt32BE(schemaVersion),
      JSON.parse(json) as Record<string, unknown>,
    )
  }

  end(): void {
    if (this.#history.length > 0) this.#take(this.#history)
    this.#history = []
  }
}

/** Returns the rows of one stream as the commits of its events wrote them. */
export const rowsOf = (
  model: ReadModel,
  aggregate: RecordedEvents.AnyAggregate,
  history: ReadonlyArray<RecordedEvents.NewEvent>,
): ReadonlyArray<object> => {
  const [first] = history
  if (first === undefined) return []
  const { account_id, stream_id } = first
  const { rememberedEvents = history.length } = model
  const pages: Array<ReadonlyArray<object>> = []
  let state = aggregate.initial
  for (const [nth, { event }] of history.entries()) {
    state = aggregate.evolve(state, event)
    const version = nth + 1
    if (version % rememberedEvents === 0 || version === history.length)
      pages.push(model.rows({ account_id, stream_id, version }, state))
  }
  return pages.length === 1 ? (pages[0] ?? []) : distinctBy(model, pages.flat())
}

/** Returns the last row of each key. */
export const distinctBy = ({ key }: Pick<ReadModel, "key">, rows: ReadonlyArray<object>): ReadonlyArray<object> => [
  ...new Map(
    rows.map((row) => {
      const fields = row as Readonly<Record<string, unknown>>
      return [key.map((column) => String(fields[column])).join(" "), row] as const
    }),
  ).values(),
]
